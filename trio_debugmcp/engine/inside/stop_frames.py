"""`StopFrames`: the frames of threads as the debugger sees them, and their numbers in DAP as long as a stop lasts."""

from typing import Any

from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.numbered_values import NumberedValues
from trio_debugmcp.engine.inside.program_files import ProgramFiles
from trio_debugmcp.engine.inside.program_sources import ProgramSources
from trio_debugmcp.engine.inside.thread_records import ThreadRecord, ThreadRecords
from trio_debugmcp.probe.inside.debugger.frame_lines import line_of
from trio_debugmcp.probe.inside.debugger.seam import shown_place

MOST_FRAMES = 20_000
"""Deeper stacks (a recursion that ran wild) are shown up to here."""


class StopFrames:
    """Frames by number, and numbers by frame.

    Attributes:
        values: what was shown of them.
    """

    def __init__(self, threads: ThreadRecords, files: ProgramFiles, sources: ProgramSources) -> None:
        self._threads = threads
        self._files = files
        self._sources = sources
        self.values = NumberedValues()
        self._last = 0
        self._frames: dict[int, tuple[ThreadRecord, Any]] = {}
        self._numbers: dict[int, int] = {}

    def forget(self) -> None:
        """Forget all numbers: threads continue, and no frame is to live longer because of them."""
        self._frames.clear()
        self._numbers.clear()
        self.values.forget()

    def number(self, record: ThreadRecord, frame: Any) -> int:
        """Return the number of a frame."""
        known = self._numbers.get(id(frame))
        if known is None:
            self._last += 1
            known = self._numbers[id(frame)] = self._last
            self._frames[known] = record, frame
        return known

    def known_number(self, frame: Any) -> int | None:
        """Return the number of a frame that has got one since its thread is held."""
        return self._numbers.get(id(frame))

    def find(self, number: Any) -> tuple[ThreadRecord, Any] | None:
        """Return the frame with a number, and its thread."""
        return self._frames.get(number)

    def all_of(self, record: ThreadRecord) -> list[Any]:
        """Return the frames of a thread, innermost first, without ours."""
        frame = record.held_frame or self._threads.tops().get(record.ident)
        found: list[Any] = []
        while frame is not None and len(found) < MOST_FRAMES:
            if not is_own_code(frame.f_code):
                found.append(frame)
            frame = frame.f_back
        return found

    def shown_of(self, record: ThreadRecord) -> list[Any]:
        """Return the frames that are of interest: those of libraries are left out if only the user's code counts."""
        return [each for each in self.all_of(record) if self._is_shown(each)]

    def _is_shown(self, frame: Any) -> bool:
        name = frame.f_code.co_filename
        return self._files.steps_into(name) or self._files.is_user(shown_place(frame, name)[0])

    def place(self, frame: Any) -> tuple[str, str, int]:
        """Return the file of a frame as the program names it, as it is shown, and the line.

        Code that names a file which it is not of has its name in brackets, as other code without a file.
        """
        code = frame.f_code
        name, line = shown_place(frame, code.co_filename)
        path = self._files.shown(name)
        is_template = (name, line) != (code.co_filename, line_of(frame))
        return name, path if is_template or self._sources.is_of_file(frame) else f"<{path}>", line

    def described(self, record: ThreadRecord, frame: Any) -> dict[str, Any]:
        """Return a frame as DAP's `stackTrace` has it."""
        code = frame.f_code
        name, path, line = self.place(frame)
        is_of_file = path[:1] != "<" or name[:1] == "<"
        reference = self._sources.reference(code, is_of_file=is_of_file)
        return {
            "id": self.number(record, frame),
            "name": code.co_name,
            "line": line or code.co_firstlineno,
            "column": 1,
            "source": {"path": path, "name": path.rpartition("/")[2], "sourceReference": reference},
            **({} if self._files.is_user(name) else {"presentationHint": "subtle"}),
        }
