"""Looking by the probe in a Python program: its questions, and what its answers mean."""
