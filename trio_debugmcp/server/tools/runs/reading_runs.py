"""How the tools about recorded runs read them: which run and process a call is about, in a thread, errors in words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
import trio
from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.histories.histories import NoHistoryError
from trio_debugmcp.runs.why import NoAnswerError
from trio_debugmcp.server.answers.places import MAX_PATH_LENGTH, Places
from trio_debugmcp.server.tools.tool import Params
from trio_debugmcp.session.debugger import Debugger, current_reader
from trio_debugmcp.session.run_readers import ShownRun
from trio_debugmcp.state.payloads import shortened
from trio_debugmcp.state.recorded_runs import KeptRun

T = TypeVar("T")

QUESTION_SECONDS = 60.0
"""For an answer from a run's files; of ten million lines it takes some seconds."""

_MOST_DIGITS = 10

RunId = Annotated[
    Annotated[str, Meta(min_length=1)] | None, Meta(description="A run from run_list; default: the last one.")
]
ProcessId = Annotated[
    int | None,
    Meta(description="Of a run with several processes, the one to ask; default: that of the stop, or launched."),
]
EventNumber = Annotated[str | None, Meta(description="A moment of the run: a number such as `#913`.")]


_NOTHING = (NoAnswerError, NoHistoryError)
"""What a process of a run has no answer to; another one may."""


class NotInProcessError(UsageError):
    """A process has nothing of what is asked; another one of the run may."""


class RunQuestion(Params, frozen=True, kw_only=True):
    """The base of what is asked of a recorded run."""

    run: RunId = None
    process: ProcessId = None


class RunPlaces(Places):
    """Places for answers about a run: files of its project, too, are named as from its root; tools take that back."""

    def __init__(self, directory: str, root: str) -> None:
        super().__init__(directory)
        self._root = root.rstrip("/") + "/"

    def file(self, path: str) -> str:
        """Return the name of a file."""
        named = super().file(path)
        return named.removeprefix(self._root) if named.startswith("/") else named


class FoundInRun(NamedTuple, Generic[T]):
    """What a tool has found in a run, how it names the files of it, and of which of several processes it is."""

    found: T
    run: KeptRun
    places: RunPlaces
    notes: list[str]


class StopInRun(NamedTuple):
    """The number of a stop, the process that is stopped, and the message of the exception that it is stopped at."""

    number: int
    process: int | None
    raising: str


def number_of(text: str | None, name: str) -> int:
    """Return the number of a row; 0: none is named.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    if text is None:
        return 0
    digits = text.strip().removeprefix("#")
    if not digits.isdecimal() or not 0 < int(digits) < 1 << 62:
        file, _, line = text.strip().rpartition(":")
        is_place = 0 < len(file) <= MAX_PATH_LENGTH and line.isdecimal() and len(line) < _MOST_DIGITS
        place = f' A line is asked about by its place: why(file="{file}", line={line}).' if is_place else ""
        raise UsageError(
            "INVALID_PARAMETER",
            f"`{name}` is a number of an answer about this run, such as #913; not '{shortened(text, 100)}'.{place}",
            {"parameter": name},
        )
    return int(digits)


def shown_to_reader(debugger: Debugger, params: RunQuestion) -> ShownRun:
    """Return what the client that calls was shown of the run that it asks about.

    Raises:
        UsageError: `RUN_NOT_FOUND`.
    """
    reader = current_reader()[0]
    return debugger.runs.readers.of(reader, debugger.runs.run(params.run).id)


async def asked(
    debugger: Debugger,
    params: RunQuestion,
    kind: type[T],
    work: Callable[[ProcessRecord], T],
    *,
    begins_anew: bool = False,
    leads_on: bool = False,
    settles: Callable[[T], bool] = lambda _: True,
    refused: Callable[[Exception], Exception] = lambda error: error,
    completed: Callable[[T, ProcessRecord, list[ProcessRecord]], T] = lambda found, *_: found,
) -> FoundInRun[T]:
    """Return what is found in the record that a call is about: of the process it names, of the stop, or asked last.

    Where none is named and that one has no answer, the others are asked. `kind`: of what is found, a struct, which a
    recording of the session keeps. `begins_anew`: the process of the stop is asked first, or the one that was launched.
    `leads_on`: it is about a moment of an earlier answer. `settles`: whether what was found is what was looked for; if
    not, the others are asked, too. `refused`: returns what is raised where none has an answer. `completed`: adds to
    what was found what the other processes say to it.

    Raises:
        UsageError: `RUN_NOT_FOUND`: there is no such run, or nothing of it can be read; `INVALID_PARAMETER`: it has no
            answer.
    """
    run, shown = debugger.runs.run(params.run), shown_to_reader(debugger, params)
    stop = stop_in(debugger, run)
    is_new = begins_anew or (stop is not None and stop.number != shown.stop and not leads_on)
    likely = (None if stop is None else stop.process) if is_new else shown.process
    passes_on = () if params.process is not None else (*_NOTHING, NotInProcessError)
    question = msgspec.json.encode(params).decode()

    async def ask() -> object:
        try:
            directory, is_over = debugger.runs.directories.of(run.id), run.ended_at is not None
            with answered_in_time(debugger):
                answer = await debugger.runs.opened.ask(
                    directory,
                    work,
                    is_over=is_over,
                    pid=params.process,
                    likely=likely,
                    passes_on=passes_on,
                    settles=settles if params.process is None else lambda _: True,
                    refused=refused,
                    completed=completed,
                )
        except _NOTHING as error:
            words = [str(error), *_of_which(debugger, params, run)]
            raise UsageError("INVALID_PARAMETER", " ".join(map(sentence, words))) from None
        except (RunFileError, FileNotFoundError) as error:
            raise unreadable(run, error) from None
        facts = answer.record.facts
        several = facts.pid if answer.processes > 1 else None
        return {"found": msgspec.to_builtins(answer.found), "root": facts.root, "process": several}

    answer: Any = await debugger.host.find_out(f"{run.id} {type(params).__name__} {question}", ask)
    places = RunPlaces(debugger.workspace.directory, answer["root"])
    pid = answer["process"]
    again = ", as the answer before" if params.process is None and pid == likely == shown.process else ""
    notes = _of_which(debugger, params, run)
    notes += [] if pid is None else [f"of process {pid}{again}: pass `process` for another, see run_list"]
    shown.of_process(pid)
    shown.stop = 0 if stop is None else stop.number
    return FoundInRun(msgspec.convert(answer["found"], kind), run, places, notes)


def _of_which(debugger: Debugger, params: RunQuestion, run: KeptRun) -> list[str]:
    """Return a note on the program of the last run, which was taken, where another one could be meant."""
    if params.run is not None:
        return []
    if debugger.runs.later:
        return [f"{debugger.runs.later}: this is of {run.id}, {run.what}"]
    several = len({each.what for each in debugger.runs.runs}) > 1
    return [f"about the last run, {run.id} of {run.what}: pass `run` for another"] if several else []


def stop_in(debugger: Debugger, run: KeptRun) -> StopInRun | None:
    """Return the stop at hand; None: nothing is stopped, or it is not being recorded as this run."""
    if debugger.state.focus is None:
        return None
    snapshot = debugger.session().snapshot
    if snapshot is None or snapshot.phase != "Paused" or snapshot.stop is None:
        return None
    program = debugger.programs.of(snapshot.id)
    recorded = debugger.runs.recorded_in(snapshot.id if program is None else program.id)
    if recorded is None or recorded.id != run.id:
        return None
    exception = snapshot.stop.exception
    message = exception.message if exception is not None else None
    return StopInRun(snapshot.stop.number, snapshot.origin.process_id, message or "")


@contextmanager
def answered_in_time(debugger: Debugger) -> Iterator[None]:
    """Bound a question to a run; its thread is left to itself then.

    Raises:
        UsageError: `TIMEOUT`.
    """
    seconds = debugger.patience.seconds(QUESTION_SECONDS)
    with trio.move_on_after(seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise UsageError(
            "TIMEOUT",
            f"The run was read for {seconds:g} s without an answer. Ask for less of it, by `before` or `under`, "
            "or record a smaller piece.",
        )


def unreadable(run: KeptRun, error: Exception) -> UsageError:
    """Return the error of a run of which nothing can be read, or not what was asked for."""
    advice = "See run_list, or record it again with debug_launch(record=true)"
    if run.ended_at is None:
        advice = "If its program has only just begun, ask again: debug_wait says where it is"
    return UsageError("RUN_NOT_FOUND", f"{run.id}: {str(error).rstrip('. ')}. {advice}.", {"run": run.id})


def recorded_file(record: ProcessRecord, file: str, resolved: str) -> str:
    """Return the path that the record has for a file; `resolved`: the path that a name means on this machine.

    Raises:
        UsageError: `INVALID_PATH`: nothing of it was recorded, or several files end so.
    """
    files = {code.file for code in record.codes}
    if resolved in files or file in files:
        return resolved if resolved in files else file
    found = sorted(path for path in files if path.endswith(f"/{file.removeprefix('./')}"))
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError("INVALID_PATH", f"Several recorded files end in '{file}': {', '.join(found[:8])}. Name one.")
    known = ", ".join(sorted(files)[:8]) + (f" and {len(files) - 8} more" if len(files) > 8 else "")
    raise NotInProcessError(
        "INVALID_PATH",
        f"No code of '{file}' ran in this run, or it was not recorded: what is outside of {record.facts.root} needs "
        f"record={{include: [PATH]}}. Recorded were: {known or 'none'}.",
    )


def sentence(reason: str) -> str:
    """Return a reason as a sentence: a word begins with a capital, a file or a number stays as it is."""
    first = reason.partition(" ")[0]
    return f"{reason[:1].upper() if first.isalpha() else reason[:1]}{reason[1:].rstrip('.')}."
