r"""`OutputAnnouncements`: what a program has written, as changes of the state: resources and timeline show it.

    announcements.add("stdout", "hello\n")
    await announcements.announce("s-1")     # merged, without secrets

A change follows what was written before it: a task that merges one announces first.
"""

from collections import defaultdict

import trio

from trio_debugmcp.masking.stream_mask import StreamMasker
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.changes import OutputWritten, WrittenPiece
from trio_debugmcp.state.payloads import MAX_VALUE_LENGTH, shortened

ANNOUNCE_SECONDS = 0.05
"""Between two announcements of output: a flood costs twenty changes a second, not one per fragment; people do not see
the lag."""


class OutputAnnouncements:
    """What was written and is not announced yet: of each stream the beginning, and how much."""

    def __init__(self, merger: Merger, *, show_secrets: bool) -> None:
        self._merger = merger
        self._show_secrets = show_secrets
        self._maskers: defaultdict[str, StreamMasker] = defaultdict(StreamMasker)
        self._total = 0
        self._pieces: dict[str, WrittenPiece] = {}
        self._arrived = trio.Event()

    def __repr__(self) -> str:
        return f"<OutputAnnouncements: {len(self._pieces)} of {self._total} characters>"

    def add(self, stream: str, text: str) -> None:
        """Add what a program has written to one of its streams."""
        self._total += len(text)
        piece = self._pieces.get(stream, WrittenPiece(stream, "", 0))
        beginning = piece.beginning + text[: MAX_VALUE_LENGTH - len(piece.beginning)]
        self._pieces[stream] = WrittenPiece(stream, beginning, piece.length + len(text))
        self._arrived.set()

    async def announce(self, session_id: str) -> None:
        """Merge what a session wrote since the last time, so that it precedes the change that follows."""
        if self._pieces:
            pieces, self._pieces = tuple(self._clean(piece) for piece in self._pieces.values()), {}
            self._arrived = trio.Event()
            await self._merger.merge(OutputWritten(session_id, self._total, pieces))

    def _clean(self, piece: WrittenPiece) -> WrittenPiece:
        # Cut before it is masked: a secret at the place of the cut shows by the mark of the cut.
        given = shortened(piece.beginning, length=piece.length)
        clean = given if self._show_secrets else self._maskers[piece.stream].feed([given])[0]
        return WrittenPiece(piece.stream, clean, piece.length)

    async def keep_announcing(self, session_id: str) -> None:
        """Announce output as it arrives, until cancelled."""
        while True:
            await self._arrived.wait()
            await self.announce(session_id)
            await trio.sleep(ANNOUNCE_SECONDS)
