"""`FrameValues`: the values in the frames of a paused program: variables, a value as a tree, a collection, a capture.

    page = await session.looking.values.variables(place, VariablesQuestion(path="basket.lines", start=100))
    page.variables, page.total

The probe tells them of any frame of any thread, any slice, with true totals. First no code of the program is run, so
that there is an answer in any case; a second question follows where a value lacks what only such code tells. That a
path itself needs code of the program is only bounded in time.
"""

import logging
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from trio_debugmcp.dap.profiles.function_code import Operand
from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import ProbeVariable, ProbeVariables
from trio_debugmcp.session.looking import capturing, summaries, trees
from trio_debugmcp.session.looking.by_adapter.adapter_variables import variables_page
from trio_debugmcp.session.looking.by_probe.withheld import has_withheld, unknown_value, values_apart
from trio_debugmcp.session.looking.capturing import CapturedFrame
from trio_debugmcp.session.looking.from_outside.silence import About, Unanswered, refusal
from trio_debugmcp.session.looking.summaries import Summary
from trio_debugmcp.session.looking.trees import TreeNode
from trio_debugmcp.session.looking.variables import FramePlace, VariablesPage, VariablesQuestion, probe_variable
from trio_debugmcp.session.looking.ways import Ways, without_code_first
from trio_debugmcp.state.payloads import Variable, shortened

log = logging.getLogger(__name__)


class FrameValues:
    """The values of one session's program."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways

    def __repr__(self) -> str:
        return f"<FrameValues of {self._ways.requests.session_id}>"

    async def variables(self, place: FramePlace, question: VariablesQuestion) -> VariablesPage:
        """Return the variables of a frame's scope, or what is inside the value that a path leads to.

        Raises:
            UsageError: `INVALID_THREAD`, `INVALID_FRAME`, `EVAL_FAILED` for the path or a filter, or `TIMEOUT`.
        """
        found = await self._ways.probed(partial(self._by_probe, place, question), _about(place, question.path))
        if not isinstance(found, Unanswered):
            return found
        kept = self._of_stop(place, question) if self._ways.has_probe else None
        if kept is not None:
            return kept
        frame = await self._ways.frames.find(self._ways.snapshot, place.thread_id, place.index)
        return await variables_page(self._ways.requests, frame, question, self._ways.unmade)

    async def tree(self, place: FramePlace, question: VariablesQuestion) -> TreeNode:
        """Return the value that an expression stands for, with what is inside of it.

        Raises:
            UsageError: `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT` or `TIMEOUT`.
        """
        asked = self._ways, place, question
        about = _about(place, question.path or "")
        return await self._ways.choose(partial(trees.by_probe, *asked), partial(trees.by_adapter, *asked), about)

    async def operands(self, place: FramePlace, wanted: Sequence[Operand], most: int) -> list[Variable]:
        """Return the operands of an assertion that can be read without running code of the program, with values."""
        if not wanted or not self._ways.has_probe:
            return []
        found = await self._ways.probe.attempt(
            "operands", ProbeVariables, thread=place.thread_id, frame=place.index, wanted=wanted, count=most, code=False
        )
        if isinstance(found, Unanswered):
            log.info("the operands of an assertion: %s", found.text)
            return []
        is_path = self._ways.profile.expressions.is_path
        return [probe_variable(variable, is_path) for variable in found.variables]

    async def summary(self, place: FramePlace, question: VariablesQuestion) -> Summary:
        """Return what the collection holds that an expression stands for.

        Raises:
            UsageError: `INVALID_PARAMETER`: it is not a collection. `INVALID_FRAME`, `EVAL_FAILED`, `EVAL_TIMEOUT` or
                `TIMEOUT`.
        """
        asked = self._ways, place, question
        about = _about(place, question.path or "")
        return await self._ways.choose(
            partial(summaries.by_probe, *asked), partial(summaries.by_adapter, *asked), about
        )

    async def capture(self, place: FramePlace, depth: int) -> CapturedFrame:
        """Return the local variables of a frame, with what is inside of them, `depth` levels down.

        Raises:
            UsageError: `INVALID_THREAD`, `INVALID_FRAME` or `TIMEOUT`.
        """
        asked = self._ways, place, depth
        about = _about(place, None)
        return await self._ways.choose(
            partial(capturing.by_probe, *asked), partial(capturing.by_adapter, *asked), about
        )

    # --- Variables -------------------------------------------------------------------------------------------

    async def _by_probe(self, place: FramePlace, question: VariablesQuestion) -> VariablesPage:
        found, failure = await without_code_first(
            partial(self._ways.probe.ask, "variables", ProbeVariables, types=True, **question.at(place)),
            lambda found: has_withheld(found.variables) or (found.withheld and not found.size),
        )
        if failure is not None:
            log.info("variables: %s", failure.text)
            if question.filter and any(variable.name_withheld for variable in found.variables):
                raise self._unsearched(place, question, failure)  # those that were found may not be those wanted
            found = replace(found, variables=await values_apart(self._ways.probe, place, found.variables, failure))
        is_path = self._ways.profile.expressions.is_path
        unknown = unknown_value(found.variables, failure)
        shown = [probe_variable(variable, is_path, unknown) for variable in found.variables]
        if question.path is None or found.value is None or found.size:
            return VariablesPage(shown, found.total)
        leaf = ProbeVariable(question.path, found.value, found.type, withheld=found.withheld)
        return VariablesPage(shown, found.total, probe_variable(leaf, is_path, unknown))

    def _unsearched(self, place: FramePlace, question: VariablesQuestion, failure: Unanswered) -> UsageError:
        text = f"The keys cannot be searched: {failure.text} Use start and count instead."
        unsearched = UsageError("EVAL_FAILED", text, {"path": question.path})
        return refusal(failure, _about(place, question.path)) or unsearched

    def _of_stop(self, place: FramePlace, question: VariablesQuestion) -> VariablesPage | None:
        """Return the locals that the stop has shown: so in replays, where other questions have no answer."""
        stack = self._ways.snapshot.stack
        plain = question.path is None and question.scope == "locals" and question.depth == 1
        shown = stack.locals if plain and place == FramePlace(stack.thread_id or 0) else None
        if shown is None or len(shown.variables) < shown.total:
            return None
        found = [variable for variable in shown.variables if question.wants(variable.name)]
        return VariablesPage(found[question.start : question.start + question.count], len(found))


def _about(place: FramePlace, path: str | None) -> About:
    words = "the variables" if path is None else f"`{shortened(path)}`"
    return About(words, place, {"path": path})
