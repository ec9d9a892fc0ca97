"""`Carrier`: the directory by which the engine comes into programs: the first one on their PYTHONPATH.

    with made_carrier("127.0.0.1", 40123, token) as carrier:
        environment["PYTHONPATH"] = carrier.python_path(environment.get("PYTHONPATH"))
        subprocess.run([sys.executable, injector.__file__, "4711", carrier.late])     # into one that runs already

Python imports `sitecustomize` from there, which brings the engine in and hides the directory from the program; then it
imports the program's own `sitecustomize`, if there is one. So the interpreter runs the program itself, as always. Where
this server listens, and the token, stand in that file, which only this user may read: not in any environment.

The code is compiled once for each version of Python, by the first program that has it, and kept in the user's cache.
"""

import marshal
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.owned_directory import OwnedDirectory
from trio_debugmcp.probe import packing

PACKAGE = "trio_debugmcp.engine.inside"

LOADER, ARRIVAL = "loader", "arrival"
"""Names of the two pieces of code that load the rest."""

_PREFIX = "trio_debugmcp-engine-"

_FOLDER = Path(__file__).parent

_INSIDE, _ARRIVAL = _FOLDER / "inside", _FOLDER / "arrival.py"

INJECTOR = _FOLDER / "injector.py"
"""The program that brings the engine into a process that runs already."""

AT_START = """
given = PARAMETERS
hide(given)
bring_in(given, "arrive")
del given, hide, bring_in
import sitecustomize  # the program's own; without one Python takes the error as its answer
"""

_LATE = """
bring_in(PARAMETERS, "arrive_late")
"""

BRING_IN = (_FOLDER / "bring_in.txt").read_text(encoding="utf-8")


class Carrier:
    """A directory that carries the engine into programs. Made by `made_carrier`."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def __repr__(self) -> str:
        return f"<Carrier {self.directory}>"

    @property
    def late(self) -> str:
        """The file whose execution in a program that runs already brings the engine in."""
        return f"{self.directory}/late.py"

    def python_path(self, before: str | None) -> str:
        """Return the value of PYTHONPATH for a program that had this one, or none."""
        return f"{self.directory}{os.pathsep}{before}" if before else self.directory


@contextmanager
def made_carrier(host: str, port: int, token: str) -> Iterator[Carrier]:
    """Make the directory for programs that are to dial in at this address; at the end it is removed.

    If this process is killed, its watchdog process does it; if that is killed, too, the next process that makes one.

    Raises:
        AdapterGone: the code cannot be written into it.
        OSError: there is no place for it.
    """
    parent = None if os.pathsep not in tempfile.gettempdir() else "/tmp"
    with OwnedDirectory(_PREFIX, parent) as directory:
        _write(Path(directory.path), host, port, token)
        yield Carrier(directory.path)


def _write(directory: Path, host: str, port: int, token: str) -> None:
    values = {"home": str(directory), **kept_code(directory)}
    parameters = repr({**values, "host": host, "port": port, "token": token})
    for name, calls in (("sitecustomize.py", AT_START), ("late.py", _LATE)):
        (directory / name).write_text(BRING_IN + calls.replace("PARAMETERS", parameters), encoding="utf-8")


def kept_code(directory: Path) -> dict[str, str]:
    """Put the code into a directory that only this user may read; return what programs need to find it.

    Raises:
        AdapterGone: it cannot be written there: without it a program would run with no debugger.
    """
    blobs, own = packing.blob_directory() or str(directory), directory / "sources"
    kept = Path(blobs) / f"{digest()}.sources"
    if not kept.is_file():
        with suppress(OSError):
            _keep(kept)
    try:
        os.link(kept, own)  # servers of other versions may tidy the cache while this one runs
    except OSError:  # on another file system; or the cache is full, or may not be written
        try:
            _keep(own)
        except OSError as error:
            reason = f"the debugger's code cannot be written to {directory}: {error.strerror}; make room there"
            raise AdapterGone(reason) from error
        blobs = blobs if kept.is_file() else str(directory)
    return {"sources": str(own), "blobs": blobs, "digest": digest()}


def _keep(file: Path) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        part.write_bytes(marshal.dumps(sources(), 2))
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)  # a half of it would be left in the cache
        raise


@cache
def sources() -> dict[str, str]:
    """Return the source of each module by its full name: those of engine and probe, and what loads them."""
    own = {name: packing.stripped(text) for name, text in packing.modules(_INSIDE, PACKAGE).items()}
    arrival = packing.stripped(_ARRIVAL.read_text(encoding="utf-8"))
    arrival = arrival.replace("from trio_debugmcp.probe.loader import load\n", "\n")  # it is there: see bring_in.txt
    return {LOADER: packing.loader(), ARRIVAL: arrival, **own, **packing.sources()}


@cache
def digest() -> str:
    """Return what is another one for every version of the code. Asked at each start, so it strips nothing."""
    own = packing.modules(_INSIDE, PACKAGE)
    texts = [file.read_text(encoding="utf-8") for file in (Path(__file__), _ARRIVAL)]
    return packing.version(BRING_IN, *texts, packing.digest(), *own, *own.values())
