"""Types, symbols, and the references between objects."""
