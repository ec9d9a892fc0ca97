"""Which tries a hunt is after: those that fail, that pass, or of which an expression holds.

    end = WantedEnd("exit_code == 3 and 'timeout' in stderr")
    end = WantedEnd("Till.tries > 300")             # judged over the record of a run: it was so at some write of it

No code of the program is run to judge it.
"""

import ast
from pathlib import Path

import trio

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.files.block_files import RunFileError
from trio_debugmcp.runs.files.process_record import open_run
from trio_debugmcp.runs.histories.histories import HistoryPage, NoHistoryError
from trio_debugmcp.runs.histories.variable_histories import variable_history
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition
from trio_debugmcp.runs.source.read_paths import path_of
from trio_debugmcp.session.hunting.hunt_plan import TryOutcome

ENDS = ("exit_code", "stdout", "stderr", "seconds")
"""What an expression may name of the end of a run. `exit_code` is None if the run was ended after its time."""


class WantedEnd:
    """What a try has to come to.

    Attributes:
        text: as it was said.
        is_of_record: it is judged over the record of a run.
        never_known: why it could not be judged, if so far it never could.

    Raises:
        UsageError: `INVALID_CONDITION`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_of_record = False
        self.never_known: str | None = None
        self._is_known = False
        self._path = ""
        if text in ("fails", "passes"):
            return
        try:
            self._condition = RecordedCondition(text)
            self._take_path(ast.parse(text.strip(), mode="eval").body)
        except ConditionError as error:
            raise _refused(text, str(error)) from None

    def __repr__(self) -> str:
        return f"<WantedEnd {self.text!r}>"

    def _take_path(self, node: ast.expr) -> None:
        paths = _NamedPaths()
        judged = paths.visit(node)
        of_end = paths.found & set(ENDS)
        if paths.found == of_end:
            return
        if of_end or len(paths.found) != 1:
            named = ", ".join(sorted(paths.found))
            raise ConditionError(f"it names {named}: name one variable or attribute of the program")
        (self._path,) = paths.found
        self._condition = RecordedCondition(ast.unparse(judged))
        self.is_of_record = True

    async def fits(self, outcome: TryOutcome) -> bool:
        """Return whether a try came to what is wanted. A record is read in a thread."""
        if self.text in ("fails", "passes"):
            return outcome.fails == (self.text == "fails")
        if not self.is_of_record:
            return bool(self._condition.holds(lambda path: _of_end(outcome, str(path))))
        directory = outcome.directory
        if directory is None:
            return False
        return await trio.to_thread.run_sync(self._held, directory, abandon_on_cancel=True)

    def _held(self, directory: str) -> bool:
        """Whether it held at a write of what it names."""
        try:
            processes = open_run(Path(directory)).processes
        except (RunFileError, OSError):  # it ended before its first line, or not as a Python program
            return False
        for record in processes:
            try:
                found = variable_history(PastProcess(record), self._path, HistoryPage(where=self._condition, count=1))
            except (NoHistoryError, RunFileError) as error:
                self.never_known = None if self._is_known else str(error)
                continue
            self._is_known, self.never_known = True, None
            if found.total:
                return True
        return False


class _NamedPaths(ast.NodeTransformer):
    """Collects the paths of an expression, and puts `new` in their place."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit(self, node: ast.AST) -> ast.AST:
        path = path_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        if path is None:
            return super().visit(node)  # type: ignore[no-any-return]
        self.found.add(str(path))
        return ast.copy_location(ast.Name("new", ast.Load()), node)


def _of_end(outcome: TryOutcome, name: str) -> str | None:
    """Return what an expression names of a run's end, as text."""
    return repr(getattr(outcome, name)) if name in ENDS else None


def _refused(text: str, reason: str) -> UsageError:
    return UsageError(
        "INVALID_CONDITION",
        f"`until` is 'fails', 'passes', or an expression over {', '.join(ENDS)}, or over one variable of the program: "
        f"{reason.rstrip('.')}.",
        {"condition": text},
    )
