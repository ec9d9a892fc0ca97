"""The engine: a debugger of our own for programs on Python 3.12 and newer, on `sys.monitoring`.

`inside` runs in the program, on builtins and modules that the program cannot change. `arrival.py` brings it there,
before the program's first line; `carrier.py` is the server's side: what a program finds of it on its disk and in its
environment.
"""

from typing import Literal

Engine = Literal["own", "pydevd"]
"""What debugs a Python program: this engine, or debugpy's pydevd."""

WantedEngine = Literal["auto", "own", "pydevd"]
"""`auto`: this engine for the versions of CPython on which it was tried, else pydevd."""

OLDEST = (3, 12)
"""The first CPython with `sys.monitoring`."""

TRIED = ((3, 12), (3, 13))
"""The versions of CPython on which the engine was tried."""

FETCHES = b"trio_debugmcp engine "
"""How a connection begins that fetches the engine; the token follows, then a line break."""
