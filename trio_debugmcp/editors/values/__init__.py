"""Values for editors: evaluated and set, in pages and formats, with numbers that stay true after calls."""
