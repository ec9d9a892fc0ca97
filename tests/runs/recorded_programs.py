"""Programs that are run under the recorder alone, and their records.

    run = record("total = 1 + 1", python(3, 13))
    run.processes[0].row(1)

The recorder comes into the program as the engine does: by a directory that is first on its PYTHONPATH.
"""

import marshal
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.pythons import found
from trio_debugmcp.engine import carrier
from trio_debugmcp.probe import packing
from trio_debugmcp.runs.files.process_record import ProcessRecord, RecordedRun, open_run

_AT_START = """
given = PARAMETERS
hide(given)
bring_in(given, "arrive_to_record")
del given, hide, bring_in
import sitecustomize  # the program's own; without one Python takes the error as its answer
"""

PATIENCE_SECONDS = 300

_OF_FRAMES = ("LINE", "START", "RESUME", "RETURN", "YIELD", "UNWIND", "RAISE")
_OF_VALUES = ("WRITE", "FIELD", "SEEN", "GAP", "SIZE", "SEEN_NAME")

KIND_NAMES = dict(enumerate((*_OF_FRAMES, *_OF_VALUES), 1))


def python(*version: int) -> str:
    """Return the path of a Python of this machine."""
    return next(each.path for each in found() if each.version == version)


@cache
def _sources() -> str:
    """Write the code that is brought into programs to a file that stays as long as this process; return its path."""
    folder = packing.blob_directory() or tempfile.mkdtemp(prefix="trio_debugmcp-")
    path = Path(folder) / f"{carrier.digest()}.sources"
    if not path.exists():
        part = path.with_name(f"{path.name}.{os.getpid()}")
        part.write_bytes(marshal.dumps(carrier.sources(), 2))
        part.replace(path)
    return str(path)


_folders: list[tempfile.TemporaryDirectory[str]] = []


def fresh_folder() -> Path:
    """Make a directory that is removed when this process ends."""
    _folders.append(tempfile.TemporaryDirectory(prefix="recorded-"))
    return Path(_folders[-1].name)


class RecordedProgram:
    """A program that has run under the recorder.

    Attributes:
        run: its record.
        code: with which it ended.
        output: what it printed; `errors` on its standard error.
        folder: where the program stood.
    """

    def __init__(self, folder: Path, ran: subprocess.CompletedProcess[str]) -> None:
        self.folder = folder
        self.code, self.output, self.errors = ran.returncode, ran.stdout, ran.stderr
        self.run = open_run(folder / "run")


def given_of(folder: Path, **body: Any) -> dict[str, Any]:
    """Return what brings the recorder into a program of a folder; makes its directories."""
    home, run, project = folder / "home", folder / "run", folder / "project"
    for each in (home, run, project):
        each.mkdir(parents=True, exist_ok=True)
    sources = _sources()
    return {
        "home": str(home),
        "sources": sources,
        "blobs": str(Path(sources).parent),
        "digest": carrier.digest(),
        "record": {"directory": str(run), "root": str(project), "include": [], "maxMb": 256, **body},
    }


def run_recorded(
    source: str, interpreter: str, folder: Path | None = None, name: str = "program.py", **body: Any
) -> RecordedProgram:
    """Run a program under the recorder; further arguments are of the body of `recordRun`."""
    folder = folder or fresh_folder()
    given = given_of(folder, **body)
    home, project = folder / "home", folder / "project"
    (project / name).write_text(source, encoding="utf-8")
    text = carrier.BRING_IN + _AT_START.replace("PARAMETERS", repr(given))
    (home / "sitecustomize.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONHASHSEED": "0"}
    ran = subprocess.run(
        [interpreter, str(project / name)],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return RecordedProgram(folder, ran)


def record(source: str, interpreter: str, name: str = "program.py", **body: Any) -> RecordedRun:
    """Run a program under the recorder, and open its record."""
    return run_recorded(source, interpreter, name=name, **body).run


def lines_of(record: ProcessRecord, first: int = 1, last: int = 0) -> list[str]:
    """Return rows as text, one a line: for a look at them, and for tests."""
    return [described(record, number) for number in range(max(first, record.first), (last or record.last) + 1)]


def described(record: ProcessRecord, number: int) -> str:
    row = record.row(number)
    kind = KIND_NAMES[row.kind]
    if kind == "LINE":
        site = record.site(row.key)
        return f"#{number} LINE {record.code(site.code).name}:{site.line} frame {row.subject}"
    if kind in ("START", "RESUME", "RETURN", "YIELD", "UNWIND", "RAISE"):
        shown = "" if kind in ("START", "RESUME") else f" {record.text(row)}"
        return f"#{number} {kind} {record.code(row.key).name} frame {row.subject}{shown} <- #{row.owner}"
    value = record.text(row) or "?"
    if kind == "SIZE":
        value = f"{row.object} -> {row.text} ({row.key})"
    subject = f"frame {row.subject}" if kind in ("WRITE", "SEEN_NAME") else f"object {row.subject}"
    label = "" if kind == "SIZE" else f" {record.label(row.key)}"
    return f"#{number} {kind} {subject}{label} = {value} ({row.object}) <- #{row.owner}"
