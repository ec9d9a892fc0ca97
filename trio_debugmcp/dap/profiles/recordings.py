"""What a profile knows of recorded runs. The defaults record none."""

from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.engine import WantedEngine
from trio_debugmcp.patience import Patience


class Recordings:
    """Which runs can be recorded, and of which code."""

    async def problem(self, launch: Launch, default: WantedEngine, patience: Patience) -> str | None:
        """Why the run of this launch cannot be recorded, and what to do; `default`: the engine of Python programs."""
        return "its debug adapter records none; runs of Python programs on CPython 3.12 and newer are"

    def project_root(self, file: str, place: str) -> str:
        """The directory of the project that a file or directory belongs to; `place`: where the program runs."""
        return place

    def command(self, launch: Launch) -> list[str] | None:
        """The command that runs the program of a launch without a debugger; None: no hunt can run it."""
        return None
