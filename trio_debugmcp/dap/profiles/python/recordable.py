"""Which runs of Python programs can be recorded: those under our engine."""

from pathlib import Path

from trio_debugmcp.dap.profiles.python.engines import OPTION, chosen_engine, option_that_keeps_out, version_of
from trio_debugmcp.dap.profiles.python.finding_tests import project_root
from trio_debugmcp.dap.profiles.python.runnable import interpreter_command, target_words
from trio_debugmcp.dap.profiles.recordings import Recordings
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.engine import OLDEST, WantedEngine
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import Patience

_TESTS = ("test", "tests")


class PythonRecordings(Recordings):
    """The code of a project is what is below the directory that has its settings."""

    async def problem(self, launch: Launch, default: WantedEngine, patience: Patience) -> str | None:
        command = interpreter_command(launch.interpreter, launch.options)
        try:
            if await chosen_engine(command, launch.options, default, patience) == "own":
                return None
        except CannotRun:  # its start says why
            return None
        if launch.options.get(OPTION) == "pydevd":
            return "only our engine records runs, and adapter_options.engine is pydevd: leave that out"
        option = option_that_keeps_out(command)
        if option is not None:
            return f"our engine, which records runs, cannot be brought in with the option {option}: leave that out"
        version = await version_of(command, patience)
        if version is not None and version[0] == "cpython" and version[1:] >= OLDEST:
            return 'pydevd, which debugs this program, records no runs: pass adapter_options={"engine": "own"}'
        name = "does not say its version" if version is None else "is {} {}.{}".format(*version)
        return (
            f"only CPython 3.12 and newer can, and {command[0]} {name}: pass adapter_options="
            '{"python": ["/path/to/python3.13"]}, an interpreter with what the program imports'
        )

    def project_root(self, file: str, place: str) -> str:
        root = Path(project_root(Path(file), place))
        while root.name in _TESTS and root.parent != root:  # with settings of their own: what they test is above them
            root = Path(project_root(root.parent, str(root.parent)))
        return str(root)

    def command(self, launch: Launch) -> list[str] | None:
        return [*interpreter_command(launch.interpreter, launch.options), *target_words(launch)]
