"""What a session was, or shall be, as a file: scenarios."""
