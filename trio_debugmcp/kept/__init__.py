"""A server that is kept for a project, for shells: `trio-debugmcp call` starts it, and each call reaches the same one.

`place.py` says where it is to be found, `server_start.py` starts it, `calling.py` speaks with it. A call imports
nothing else of the package: most of its time is Python's start.
"""
