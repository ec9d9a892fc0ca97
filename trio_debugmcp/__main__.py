"""`python -m trio_debugmcp`: the same as the command `trio-debugmcp`."""

import sys

from trio_debugmcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
