"""The texts of the files that a stop is in, which are kept with it: files change, and are then not what ran."""

from collections.abc import Iterable

from trio_debugmcp.dap.messages import SourceBody
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.by_adapter.adapter_sources import SOURCE_SECONDS, source_arguments
from trio_debugmcp.session.looking.sources import MAX_KEPT_CHARACTERS, Sources
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import SourceText, StackFrame
from trio_debugmcp.state.payloads import UnixTime

MAX_FILES = 8
"""Files of one stop whose texts are kept: its stack is rarely in more that are the user's."""


class StopSources:
    """Finds the texts for the stops of one session."""

    def __init__(self, sources: Sources, host: Host, requests: Requests) -> None:
        self._sources = sources
        self._host = host
        self._requests = requests

    def __repr__(self) -> str:
        return f"<StopSources of {self._sources!r}>"

    async def fetch(self, frames: Iterable[StackFrame]) -> None:
        """Ask for the texts that only our engine has: of generated code, and of cells of notebooks.

        Other adapters are not asked at each stop: pydevd offers what it has disassembled as a text.
        """
        if not self._requests.capabilities.engine_requests:
            return
        files = dict.fromkeys(frame.location.file for frame in frames if frame.is_user_code and frame.location.file)
        generated = [source for file in files if (source := self._sources.known_by_adapter(file)) is not None]
        for source in generated[:MAX_FILES]:
            arguments = source_arguments(source)
            body = await self._requests.request_or_empty("source", arguments, SourceBody, seconds=SOURCE_SECONDS)
            self._sources.tell(source.path, body.content)

    def at(self, frames: Iterable[StackFrame], began: UnixTime | None) -> tuple[SourceText, ...]:
        """Return the texts of the files of the user's frames, and of the top one, as far as there is room."""
        found: dict[str, SourceText] = {}
        room = MAX_KEPT_CHARACTERS
        for index, frame in enumerate(frames):
            file = frame.location.file
            if file is None or file in found or not (frame.is_user_code or index == 0):
                continue
            text = self._sources.version(file, began, self._host)
            if text is not None and len(text.text) <= room:
                room -= len(text.text)
                found[file] = text
            if len(found) == MAX_FILES:
                break
        return tuple(found.values())
