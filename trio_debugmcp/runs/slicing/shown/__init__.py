"""What an answer shows of a slice: its lines, the notes beside them, values cut to what is asked."""
