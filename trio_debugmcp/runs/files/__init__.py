"""Records as files: rows, texts and facts of a process, read and searched."""
