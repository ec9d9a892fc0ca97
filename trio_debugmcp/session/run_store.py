"""`RunStore`: the recorded runs of one server, and the directory that has their files.

    recording = store.planned("s-1", "shop.py", recording)     # its number and its directory, within the bounds
    await store.begin("s-1")                                   # the directory is there; the program writes into it
    await store.end("s-1")

Runs are kept also after their sessions, as long as `run_room` has room for them.
"""

import shutil
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.profiles.starts import RunRecording
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.block_indexing import BlockIndexing
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import MERGE_SECONDS, Merger
from trio_debugmcp.session.run_directories import RunDirectories, size_of
from trio_debugmcp.session.run_readers import RunReaders
from trio_debugmcp.session.run_room import MAX_RUNS, MB, check_room, without_room
from trio_debugmcp.state.changes import KeptRunMeasured, KeptRunsRemoved, RunKept
from trio_debugmcp.state.payloads import shortened
from trio_debugmcp.state.recorded_runs import KeptRun

if TYPE_CHECKING:
    from trio_debugmcp.session.opened_runs import OpenedRuns


class RunStore:
    """The recorded runs of one server. What is known of each is in the state.

    Attributes:
        directories: where their files are.
        readers: what clients were shown of them.
        indexing: what makes questions to long ones fast.
        later: what is to be said of a launch after the last run, which has none of its own; empty: there was none.
    """

    def __init__(self, merger: Merger, clock: Clock, host: Host) -> None:
        self._merger, self._clock, self._host = merger, clock, host
        self._numbers = count(1)
        self.directories = RunDirectories()
        self.readers = RunReaders()
        self.indexing = BlockIndexing(self._indexed)
        self.later = ""
        self._planned: dict[str, KeptRun] = {}
        self._recording: dict[str, KeptRun] = {}

    def __repr__(self) -> str:
        return f"<RunStore {[run.id for run in self.runs]} recording={list(self._recording)}>"

    @cached_property
    def opened(self) -> "OpenedRuns":
        """What reads them. Made for the first question: reading them takes a sixth of all modules of the server."""
        from trio_debugmcp.session.opened_runs import OpenedRuns

        return OpenedRuns()

    @property
    def runs(self) -> tuple[KeptRun, ...]:
        """The runs that are kept, the oldest first."""
        return self._merger.state.runs

    def of(self, session_id: str) -> KeptRun | None:
        """Return the last run of a session that was launched or attached to."""
        return next((run for run in reversed(self.runs) if run.session_id == session_id), None)

    def recorded_in(self, session_id: str) -> KeptRun | None:
        """Return the run that is being recorded in a session."""
        return self._recording.get(session_id)

    def run(self, run_id: str | None = None) -> KeptRun:
        """Return a run by its id, or by the number in it, or the last one.

        Raises:
            UsageError: `RUN_NOT_FOUND`.
        """
        runs = self.runs
        if run_id is None and runs:
            return runs[-1]
        found = next((run for run in runs if run_id in (run.id, run.id.removeprefix("run-"))), None)
        if found is not None:
            return found
        if not runs:
            sentence = "No run is recorded. Launch the program or test with debug_launch(record=true)."
        else:
            known = ", ".join(run.id for run in runs)
            sentence = f"There is no run '{shortened(run_id or '', 100)}'. Runs: {known}; the last {MAX_RUNS} are kept."
        raise UsageError("RUN_NOT_FOUND", sentence)

    # --- Recording -------------------------------------------------------------------------------------------

    def planned(self, session_id: str, what: str, recording: RunRecording) -> RunRecording:
        """Return a recording with the directory for its files, which `begin` makes.

        Raises:
            UsageError: `INVALID_PARAMETER`: so many runs are being recorded that there is no room for it; or
                `LAUNCH_FAILED`: this machine gives no directory.
        """
        check_room([*self._recording.values(), *self._planned.values()], recording.max_mb)
        run_id = f"run-{next(self._numbers)}"
        try:
            home = self._host.query("where recorded runs are", self.directories.home)
        except OSError as error:
            raise _no_directory(error) from error
        self._planned[session_id] = KeptRun(
            id=run_id, session_id=session_id, what=what, begun_at=self._clock.now(), max_mb=recording.max_mb
        )
        return replace(recording, directory=self.directories.add(run_id, home))

    async def begin(self, session_id: str) -> None:
        """Begin the run that is planned for a session, if any, and drop what there is no more room for.

        Raises:
            UsageError: `LAUNCH_FAILED`: this machine gives no directory.
        """
        run = self._planned.pop(session_id, None)
        if run is None:
            return
        await self._remove(without_room(self.runs, self._recording.values(), run.max_mb))
        directory = self.directories.of(run.id)
        try:
            self._host.query(f"directory of {run.id}", lambda: Path(directory).mkdir(mode=0o700))
        except OSError as error:
            self.directories.forget(run.id)
            raise _no_directory(error) from error
        self._recording[session_id] = run
        self.later = ""
        self.indexing.begin(directory)
        await self._merger.merge(RunKept(run))

    async def end(self, session_id: str, *, discard: bool = False) -> None:
        """End the recording in a session, if there is one. `discard`: nothing has run.

        Never cancelled: it keeps what is there.
        """
        planned = self._planned.pop(session_id, None)
        if planned is not None:
            self.directories.forget(planned.id)
        run = self._recording.pop(session_id, None)
        if run is None:
            return
        directory = self.directories.of(run.id)
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            if discard:
                await self._remove([run])
                return
            known = next((kept for kept in self.runs if kept.id == run.id), run)
            await self._merger.merge(RunKept(replace(known, ended_at=self._clock.now(), size=size_of(directory))))
            self.indexing.end(directory)

    def made_elsewhere(self) -> str:
        """Return the directory below which runs are recorded that `adopt` takes in.

        Raises:
            UsageError: `LAUNCH_FAILED`: this machine gives none.
        """
        try:
            return self.directories.home()
        except OSError as error:
            raise _no_directory(error) from error

    async def adopt(self, session_id: str, what: str, exit_code: int | None, directory: str) -> KeptRun:
        """Keep a run that was recorded without a session; its files leave their directory. `exit_code` None: killed."""
        run_id = f"run-{next(self._numbers)}"
        kept = self.directories.add(run_id, self._host.query("where recorded runs are", self.directories.home))
        size: int = self._host.query(f"files of {run_id}", lambda: _moved(directory, kept))
        now = self._clock.now()
        run = KeptRun(
            id=run_id, session_id=session_id, what=what, begun_at=now, max_mb=0, ended_at=now, program_ended=True,
            exit_code=exit_code, killed=exit_code is None, size=size,
        )  # fmt: skip
        await self._remove(without_room(self.runs, self._recording.values(), -(-size // MB)))
        await self._merger.merge(RunKept(run))
        self.later = ""
        self.indexing.begin(kept)
        self.indexing.end(kept)
        return run

    async def _indexed(self, directory: str) -> None:
        """Count the indexes of a run that is over as a part of what it takes."""
        run = next((run for run in self.runs if self.directories.get(run.id) == directory), None)
        if run is not None and (size := size_of(directory)) != run.size:
            await self._merger.merge(KeptRunMeasured(run.id, size))

    def close(self) -> None:
        """Remove all files."""
        self.directories.close()

    async def _remove(self, runs: list[KeptRun]) -> None:
        if not runs:
            return
        await self._merger.merge(KeptRunsRemoved(frozenset(run.id for run in runs)))
        for run in runs:
            directory = self.directories.forget(run.id)
            await self.indexing.forget(directory)
            if "opened" in vars(self):
                self.opened.forget(directory)
            if Path(directory).is_dir():
                await trio.to_thread.run_sync(lambda place: shutil.rmtree(place, ignore_errors=True), directory)


def _no_directory(error: OSError) -> UsageError:
    why = f"{error.strerror or error}: {error.filename}"
    return UsageError("LAUNCH_FAILED", f"The run cannot be recorded: {why}. Make room there, or leave out `record`.")


def _moved(directory: str, kept: str) -> int:
    Path(directory).rename(kept)
    return size_of(kept)
