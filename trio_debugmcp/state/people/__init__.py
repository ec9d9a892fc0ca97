"""The people at the server: what is known of them, how it changes, and how it is shown."""
