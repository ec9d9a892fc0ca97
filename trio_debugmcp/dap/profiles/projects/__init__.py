"""What the projects of each language run, by the files that describe them."""
