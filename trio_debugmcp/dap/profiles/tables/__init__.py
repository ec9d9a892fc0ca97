"""Debug adapters that a table of a TOML file describes: its format, its files, and the profile made of it."""
