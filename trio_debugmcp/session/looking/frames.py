"""`ProgramFrames`: the frames of stopped threads from the adapter, as the state keeps them, and beyond those of a stop.

    frame = await ways.frames.find(snapshot, thread_id=1, index=0)

An adapter's frame becomes a `StackFrame` here, and nowhere else.
"""

from collections.abc import Sequence

from trio_debugmcp.dap.messages import DapFrame, StackTraceBody
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.looking.package_places import PackagePlaces
from trio_debugmcp.session.looking.user_code import UserCode
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import Snapshot, StackFrame
from trio_debugmcp.state.payloads import Location, name_of

CAPTURED_FRAMES = 20
"""Frames fetched at every stop: what people look at. Deeper ones are fetched when a client asks for them."""


class ProgramFrames:
    """The frames of one session's program."""

    def __init__(self, requests: Requests, user_code: UserCode, places: PackagePlaces) -> None:
        self._requests = requests
        self._user_code = user_code
        self._places = places

    def __repr__(self) -> str:
        return f"<ProgramFrames of {self._requests.session_id}>"

    def captured(self, frames: Sequence[DapFrame]) -> tuple[StackFrame, ...]:
        """Return the adapter's frames as the state keeps them."""
        return tuple(
            StackFrame(
                id=frame.id,
                name=name_of(self._requests.profile.dialect.function_name(frame.name)),
                location=self.location(frame),
                is_user_code=self._user_code.has(frame),
                source_reference=(frame.source.source_reference or 0) if frame.source is not None else 0,
                instruction=frame.instruction_pointer_reference,
                label=frame.name,
            )
            for frame in frames
        )

    def location(self, frame: DapFrame) -> Location:
        """Return where a frame is, its path spelled as the adapter spells it; line 0 means that it does not know.

        A path that begins with the file's package is that of the file, where it is found.
        """
        dialect, source = self._requests.profile.dialect, frame.source
        return Location(
            file=(self._places.file(source.path) or source.name) if source is not None else None,
            line=frame.line or dialect.line_of(frame.name),
            column=frame.column or None,
            function_name=name_of(dialect.function_name(frame.name)) or None,
            module_name=self._module_name(frame),
        )

    def _module_name(self, frame: DapFrame) -> str | None:
        """Return the name of a frame's module from the list of modules: its id may be an address."""
        snapshot = self._requests.snapshot
        modules = snapshot.modules if snapshot is not None and frame.module_id is not None else ()
        name = next((module.name for module in modules if module.id == frame.module_id), None)
        return name.rpartition("/")[2] if name else self._requests.profile.dialect.module_name(frame)

    async def fetch(
        self, snapshot: Snapshot, thread_id: int, start: int, count: int, *, anew: bool = False
    ) -> tuple[list[StackFrame], int]:
        """Return `count` frames from `start` on and the number of all, from the stop's capture where it has them.

        `anew`: the adapter is asked in any case.
        """
        stack = snapshot.stack
        kept = len(stack.frames)
        if not anew and thread_id == stack.thread_id and (start + count <= kept or kept >= stack.total):
            return list(stack.frames[start : start + count]), stack.total
        skipped = stack.skipped if thread_id == stack.thread_id else 0
        first = start + skipped
        arguments = {"threadId": thread_id, "startFrame": first, "levels": count}
        body = await self._requests.request("stackTrace", arguments, StackTraceBody)
        frames = self.captured(body.stack_frames or [])
        # An adapter that ignores paging answers with the whole stack.
        frames = frames[first : first + count] if first and len(frames) > count else frames[:count]
        return list(frames), max((body.total_frames or 0) - skipped, start + len(frames))

    async def find(self, snapshot: Snapshot, thread_id: int | None, index: int) -> StackFrame:
        """Return the frame with that index; 0 is the top. Without a thread of the one that stopped.

        Raises:
            UsageError: `INVALID_THREAD` or `INVALID_FRAME`.
        """
        thread = snapshot.active_thread(thread_id)
        frames: list[StackFrame] = []
        total = 0
        if index >= 0:
            # An evaluation may have called a function since the stop; then the captured ids lead nowhere.
            anew = self._requests.profile.dialect.call_reason is not None
            frames, total = await self.fetch(snapshot, thread, index, 1, anew=anew)
        if not frames:
            raise UsageError(
                "INVALID_FRAME",
                f"There is no frame {index} in thread {thread}: frames go from 0 to {max(total, 1) - 1}.",
                {"total": total},
            )
        return frames[0]


def raising_frames(profile: Profile, frames: Sequence[StackFrame], *, fails_test: bool = False) -> int:
    """Return how many frames at the top only raise an exception or a signal; none if no frame is the user's.

    `fails_test`: it is an assertion's, which a library raises for the user's line.
    """
    if profile.code.tells_library or fails_test:
        return next((index for index, frame in enumerate(frames) if frame.is_user_code), 0)
    # Where a library raises it is a place like any other, if there is a source, but not within the runtime itself.
    files, internals = [frame.location.file for frame in frames], profile.code.internals
    return next((index for index, file in enumerate(files) if file is not None and not file.startswith(internals)), 0)
