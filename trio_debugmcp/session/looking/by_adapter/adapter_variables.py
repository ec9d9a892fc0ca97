"""Variables of a paused program from its adapter: of a frame's scopes, or inside a value, and what has one of a path.

    page = await variables_page(requests, frame, VariablesQuestion(path="order.items"))

Every answer is bounded in size: each value that has something inside costs the adapter a request.
"""

import logging
import re
from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapVariable, ScopesBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.looking.by_adapter.adapter_evaluation import evaluate
from trio_debugmcp.session.looking.by_adapter.composites import (
    MAX_COMPOSED,
    MAX_NODES,
    children,
    composed,
    in_short,
    scope_children,
)
from trio_debugmcp.session.looking.by_adapter.dap_variables import chosen_scopes, variable_payload
from trio_debugmcp.session.looking.by_adapter.unmade_variables import UnmadeVariables
from trio_debugmcp.session.looking.variables import ScopeName, VariablesPage, VariablesQuestion
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.model import StackFrame
from trio_debugmcp.state.payloads import Variable, shortened

log = logging.getLogger(__name__)

LENGTHS_SECONDS = 2.0
"""For the lengths of collections, which takes no time unless the thread is busy."""

_PATH_SECONDS = 5.0
"""For the evaluation of a path, which may run a property of the user's."""

PARENT_SECONDS = 5.0
"""For the value of what a variable is inside of, as for an evaluation."""

_LAST_PART = re.compile(r"(?P<parent>.+?)(?:(?:\.|->)(?P<name>[^.\[\]>]+)|(?P<item>\[[^\[\]]*\]))", re.DOTALL)
"""What a path leads to, behind the path to what it is inside of."""


async def variables_page(
    requests: Requests, frame: StackFrame, question: VariablesQuestion, unmade: UnmadeVariables
) -> VariablesPage:
    """Return the variables that are asked for, and how many there are.

    Raises:
        UsageError: `NOT_SUPPORTED`, `EVAL_FAILED`, `EVAL_TIMEOUT`, or `INVALID_PARAMETER` for those
            that the adapter does not list.
    """
    profile, path = requests.profile, question.path
    leaf: Variable | None = None
    kind: str | None = None
    unlisted = 0
    if path is None:
        variables = await scope_variables(requests, frame, question.scope, unmade)
    else:
        advice = unmade.advice(frame)
        if advice is not None:
            raise UsageError("EVAL_FAILED", f"Nothing is read by a path here: {advice}.")
        value = await evaluate(requests, frame, path, requests.patience.seconds(_PATH_SECONDS))
        variables, kind = await children(requests, value.reference, value.type), value.type
        unlisted = profile.habits.unlisted_in(value.value)
        if unlisted and question.start >= len(variables):
            raise UsageError(
                "INVALID_PARAMETER",
                f"{profile.name} lists the first {len(variables)} of {len(variables) + unlisted}. Evaluate a "
                f"further one by its index: `{path}[{question.start}]`.",
            )
        if not variables:
            leaf = Variable(path, shortened(value.value, question.limit), value.type, path, 0)
    variables = [variable for variable in variables if question.wants(variable.name, variable.evaluate_name)]
    page = variables[question.start : question.start + question.count]
    shown = await expand(requests, page, depth=question.depth, limit=question.limit, parent=path, kind=kind)
    return VariablesPage(await with_lengths(requests, frame, shown), len(variables) + unlisted, leaf)


async def scope_variables(
    requests: Requests, frame: StackFrame, scope: ScopeName, unmade: UnmadeVariables | None = None
) -> list[DapVariable]:
    """Return the variables of a frame's scopes, without the groups that the adapter invents.

    `unmade`: shows its locals that are not made yet.

    Raises:
        UsageError: `NOT_SUPPORTED`: the adapter has no such scope.
    """
    scopes = (await requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
    adapter_scopes = chosen_scopes(requests.profile.dialect, scopes, scope)
    if not adapter_scopes and scope not in ("all", "locals"):  # a frame without locals may have no scope for them
        names = ", ".join(offered.name for offered in scopes) or "none"
        raise UsageError(
            "NOT_SUPPORTED",
            f"{requests.profile.name} has no scope '{scope}' here; it has: {names}.",
            {"scopes": names},
        )
    local_scopes = chosen_scopes(requests.profile.dialect, scopes, "locals")
    variables: list[DapVariable] = []
    for adapter_scope in adapter_scopes:
        children_of_scope = await scope_children(requests, adapter_scope.variables_reference)
        if unmade is not None and adapter_scope in local_scopes:
            children_of_scope = unmade.shown(children_of_scope, frame)
        variables += children_of_scope
    return requests.profile.values.locals_of(variables)


async def expand(
    requests: Requests,
    found: list[DapVariable],
    *,
    depth: int,
    limit: int,
    parent: str | None = None,
    kind: str | None = None,
) -> list[Variable]:
    """Return variables with their children down to `depth` levels, at most `MAX_NODES` in all.

    They are inside of `parent`, whose type is `kind`.
    """
    room, to_compose = MAX_NODES, MAX_COMPOSED

    async def grow(variable: DapVariable, levels: int, above: str | None, kind: str | None) -> Variable:
        nonlocal room, to_compose
        room -= 1
        if (levels <= 1 or room <= 0) and to_compose > 0:
            value = variable.value
            variable = await composed(requests, variable)
            to_compose -= variable.value != value
        shown = variable_payload(variable, requests.profile, limit=limit, parent=above, parent_type=kind)
        if levels <= 1 or not variable.variables_reference or room <= 0:
            return shown
        try:
            below = await children(requests, variable.variables_reference, variable.type)
        except AdapterRefused as refusal:  # a pointer that leads nowhere
            log.info("%s", refusal)
            return shown
        shown = replace(shown, value=in_short(requests, variable, shown.value))
        grown = [await grow(child, levels - 1, shown.path, variable.type) for child in below[: max(0, room)]]
        return replace(shown, children=grown, child_count=len([child for child in below if child.name != "len()"]))

    return [await grow(variable, depth, parent, kind) for variable in found]


async def with_lengths(requests: Requests, frame: StackFrame, shown: list[Variable]) -> list[Variable]:
    """Return variables with the number of their children, where the adapter did not count them and it is known how."""
    unknown = [
        (variable.path, variable.type or "")
        for variable in shown
        if variable.child_count is None and variable.path is not None
    ]
    question = requests.profile.repl.lengths(unknown)
    if question is None:
        return shown
    try:
        answer = (await evaluate(requests, frame, question, requests.patience.seconds(LENGTHS_SECONDS))).value
        lengths = {path: int(length) for (path, _), length in zip(unknown, answer.strip("'").split(), strict=True)}
    except (UsageError, ValueError):
        return shown
    return [
        replace(variable, child_count=lengths[variable.path])
        if variable.path is not None and lengths.get(variable.path, -1) >= 0
        else variable
        for variable in shown
    ]


async def container(requests: Requests, frame: StackFrame, path: str) -> tuple[int, str] | None:
    """Return the reference of what a variable is inside of, and its name there; None if there is no such variable.

    Raises:
        UsageError: `EVAL_FAILED`: there is nothing that it could be inside of.
    """
    parts = _LAST_PART.fullmatch(path)
    if parts is None:
        scopes = (await requests.request("scopes", {"frameId": frame.id}, ScopesBody)).scopes or []
        for scope in scopes:
            name = _named(await children(requests, scope.variables_reference), path, {path})
            if name is not None:
                return scope.variables_reference, name
    else:
        holder = await evaluate(requests, frame, parts["parent"], requests.patience.seconds(PARENT_SECONDS))
        item = parts["item"]
        names = {parts["name"]} if item is None else {item, item[1:-1], item[1:-1].strip("'\"")}
        name = _named(await children(requests, holder.reference), path, names)
        if name is not None:
            return holder.reference, name
    return None


def _named(found: Sequence[DapVariable], path: str, names: set[str | None]) -> str | None:
    """Return the name of the variable of that path, or else of one of these names."""
    by_path = [variable.name for variable in found if variable.evaluate_name == path]
    if by_path:
        return by_path[-1]  # lldb lists those of outer blocks first: `n @ a.cpp:5`, `n @ a.cpp:7`, both by the path `n`
    return next((variable.name for variable in found if variable.name in names), None)
