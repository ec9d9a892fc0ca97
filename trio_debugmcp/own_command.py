"""The command line of this very package, for servers that it starts. Imports nothing that a light program need not."""

import sys
from pathlib import Path


def own_command(*arguments: str) -> list[str]:
    """Return the command line that runs this very package with these arguments.

    It imports nothing from the directory in which it is started, which `python -m` would: that may be any project's.
    """
    return [sys.executable, "-P", str(Path(__file__).parent / "__main__.py"), *arguments]
