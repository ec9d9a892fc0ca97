"""What runs inside the program. Its modules import only their siblings and `sys`, and run no code of the program."""
