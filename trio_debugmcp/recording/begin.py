"""From a server's options to a recorder: the file, its header, and what must not be in it."""

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from trio_debugmcp import __version__
from trio_debugmcp.dap.profiles import PROFILES, Profile
from trio_debugmcp.recording.file import Journal
from trio_debugmcp.recording.format import FORMAT, VERSION, Header
from trio_debugmcp.recording.recorder import MAX_FILE_BYTES, Recorder
from trio_debugmcp.recording.redact import Redactor


def open_recorder(
    path: str | Path,
    *,
    argv: Sequence[str] = (),
    secrets: Iterable[str] = (),
    directory: str,
    roots: Sequence[str] = (),
    debounce: float,
    max_wait: float,
    linger: float,
    tools: Literal["core", "full"] = "full",
    profiles: Sequence[Profile] = PROFILES,
    max_bytes: int = MAX_FILE_BYTES,
) -> Recorder:
    """A recorder to a new file. It begins with the server, and is the caller's to close: it is a context manager.

    In a directory, the file is named by the time and the process.

    Raises:
        FileExistsError: there is such a file already; it is not touched.
        OSError: it cannot be made.
    """
    redactor = Redactor(secrets)
    header = Header(
        format=FORMAT,
        version=VERSION,
        server=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        adapters=[each.name for each in profiles],
        started_at="",
        anchor=0.0,
        argv=redactor.arguments(argv),
        directory=directory,
        roots=list(roots),
        debounce=debounce,
        max_wait=max_wait,
        linger=linger,
        tools=tools,
    )
    file = Path(path)
    if file.is_dir():
        file /= f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{os.getpid()}.jsonl"
    return Recorder(Journal(file), header, redactor, max_bytes=max_bytes)
