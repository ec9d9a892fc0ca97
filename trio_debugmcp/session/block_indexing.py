"""`BlockIndexing`: writes indexes beside the blocks of recorded runs, while these are recorded.

    indexing.begin(directory)
    indexing.end(directory)             # what is left is written, then it is over
    await indexing.forget(directory)    # nothing is written there any more

The program must not pay for them, and the first question to a long run not wait for them. Each block takes some
hundredths of a second, of the half a second in which a program fills one.
"""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

LOOK_SECONDS = 2.0
"""Between looks for new blocks."""

log = logging.getLogger(__name__)


class BlockIndexing:
    """The runs whose blocks are to have indexes.

    Args:
        is_whole: is called with the directory of a run that is over, when it has all of its indexes.
    """

    def __init__(self, is_whole: Callable[[str], Awaitable[None]]) -> None:
        self._is_whole = is_whole
        self._recording: dict[str, bool] = {}
        self._begun = trio.Event()
        self._writing = trio.Lock()

    def __repr__(self) -> str:
        return f"<BlockIndexing {self._recording}>"

    def begin(self, directory: str) -> None:
        """Write indexes for a run from now on."""
        self._recording[directory] = True
        self._begun.set()

    def end(self, directory: str) -> None:
        """Write those that are still missing, and no more: the run is over."""
        if directory in self._recording:
            self._recording[directory] = False

    async def forget(self, directory: str) -> None:
        """Write no more for a run, whose files are about to go."""
        self._recording.pop(directory, None)
        async with self._writing:  # the block at hand
            pass

    async def run(self) -> None:
        """Write them until it is cancelled."""
        while True:
            if not self._recording:
                self._begun = trio.Event()
                await self._begun.wait()
            for directory, may_grow in list(self._recording.items()):
                await self._write(directory)
                if not may_grow and self._recording.pop(directory, None) is not None:
                    await self._is_whole(directory)
            if self._recording:
                await trio.sleep(LOOK_SECONDS)

    async def _write(self, directory: str) -> None:
        """Write the indexes that are missing, one at a time: never abandoned, as its directory may go."""
        from trio_debugmcp.runs.files.index_files import blocks_without_index, write_index  # for who records only

        try:
            for path in await trio.to_thread.run_sync(blocks_without_index, Path(directory)):
                async with self._writing:
                    if directory not in self._recording:
                        return
                    await trio.to_thread.run_sync(write_index, path)
        except OSError as error:  # no room: questions make what is missing
            log.info("indexes of %s: %s", directory, error)
