"""What is put into the program. Each module imports only its siblings and what the loader has kept."""
