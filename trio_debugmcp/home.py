"""The user's home directory, which a service or a container may not have, or not let us search.

    expanded("~/.config/trio-debugmcp")     # a path; never an exception
    os.path.isfile(expanded("~/.x"))        # False also where the directory may not be searched; `Path.is_file` raises

What is read there is optional, so nothing of it decides whether a command starts.
"""

import os
from pathlib import Path

NOWHERE = "/nonexistent"
"""The home of a user that has none, as in the list of users of many systems."""


def home_directory() -> Path:
    """Return the user's home directory, or one that is not there: never one that a project could have."""
    home = os.path.expanduser("~")
    return Path(home if os.path.isabs(home) else NOWHERE)


def expanded(path: str) -> Path:
    """Return a path in which `~` stands for the home directory."""
    full = os.path.expanduser(path)
    return home_directory() / full[1:].lstrip("/") if full == "~" or full.startswith("~/") else Path(full)
