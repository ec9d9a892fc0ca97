"""Why something is not there, or has not happened: what was not written, not called, not raised, or left out."""
