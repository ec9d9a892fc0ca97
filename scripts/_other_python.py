"""Prints the version and the path of a Python whose programs the other engine debugs, or nothing. Run by scripts/test.

The newest on this machine that can run the tests, too.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.pythons import Interpreter, found
from trio_debugmcp.engine import TRIED

OLDEST = (3, 11)
"""The first that can have the package, and so run its tests."""


def fits(python: Interpreter) -> bool:
    if python.version < OLDEST or (python.version in TRIED) == (sys.version_info[:2] in TRIED):
        return False
    # Debian has the module for virtual environments in a package of its own.
    return (
        subprocess.run([python.path, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode == 0
    )


if __name__ == "__main__":
    python = next(filter(fits, reversed(found())), None)
    if python is not None:
        print("{}.{}".format(*python.version), python.path)
