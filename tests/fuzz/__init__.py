"""Can any input crash the server, hang it, or open a file that it must not open? Generated inputs on every side.

inputs.py generates, targets.py and files.py hold the properties, which scripts/fuzz runs under atheris as well.
"""
