"""`RunOutput`: the directory of a recorded process: its blocks, and the facts that are written at once.

    output = RunOutput("/tmp/run/p-4711-0", 256 << 20)
    output.fact({"site": 3, "code": 1, "line": 24})
    output.end("exit")

What is wrong with the files ends the recording, and never the program.
"""

import posix
from typing import Any

from trio_debugmcp.engine.inside.interruptions import as_the_programs, is_foreign
from trio_debugmcp.engine.inside.recorder.run_blocks import (
    BROKEN,
    ENDED,
    FULL_DISK,
    RunDirectory,
    TextBlocks,
    WordBlocks,
    write_whole,
)
from trio_debugmcp.probe.inside.encoding import encoded

_ENOSPC, _EDQUOT = 28, 122


class RunOutput:
    """The files of one process.

    Attributes:
        rows, frames, texts: its blocks.
        at_end: called once when nothing can be written any more.
    """

    def __init__(self, path: str, most_bytes: int) -> None:
        self.directory = RunDirectory(path, most_bytes)
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC
        self._facts = posix.open(f"{path}/facts", flags, 0o600)
        self.rows = WordBlocks(self.directory, "rows", 3)
        self.rows.drops = True
        self.frames = WordBlocks(self.directory, "frames", 2)
        self.texts = TextBlocks(self.directory)
        self._sources = 0
        self._known_sources: dict[tuple[str, bytes], int] = {}
        self.is_over = False
        self.faults = 0
        self.at_end: Any = None

    def fact(self, fact: dict[str, Any]) -> None:
        """Write a line of JSON, at once."""
        write_whole(self._facts, (encoded(fact) + "\n").encode())

    def source(self, file: str, text: bytes) -> int:
        """Write a source, once for each text; return its number."""
        known = self._known_sources.get((file, text))
        if known is None:
            self._sources += 1
            known = self._known_sources[file, text] = self._sources
            self.directory.write(f"source-{known}", text)
            self.fact({"source": known, "file": file})
        return known

    def fault(self, error: BaseException) -> None:
        """Something went wrong in the recorder: count it, and say the first one. A full disk ends the recording."""
        if is_foreign(error):  # of the program: a handler of a signal has raised it while this thread was here
            raise as_the_programs(error)
        self.faults += 1
        if isinstance(error, OSError):
            self.end("no room on the disk" if error.errno in (_ENOSPC, _EDQUOT) else f"the files: {error.strerror}")
            return
        if self.faults == 1 or self.faults & (self.faults - 1) == 0:
            where = error.__traceback__
            while where is not None and where.tb_next is not None:
                where = where.tb_next
            line = "" if where is None else f"{where.tb_frame.f_code.co_name}:{where.tb_lineno}"
            try:
                self.fact({"faults": self.faults, "first": f"{type(error).__name__}: {error} ({line})"})
            except OSError:
                pass

    def end(self, how: str) -> None:
        """Write no more."""
        if self.is_over:
            return
        self.is_over = True
        broken = FULL_DISK if how.startswith("no room") else BROKEN
        is_whole = how in ("exit", "asked", "the debugger has left")
        self.rows.end(ENDED if is_whole else broken)
        try:
            self.fact({"ended": how})
        except OSError:
            pass
        if self.at_end is not None:
            self.at_end()
