"""Compounds of launch.json: several configurations that start together, and may end together."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.launch_json.plan import Compound
from trio_debugmcp.launch_json.task_definitions import Task
from trio_debugmcp.server.answers.session_lines import with_sessions
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.server.tools.starting.other_programs import end_all, make_room
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks
from trio_debugmcp.session.debugger import Debugger, Outcome

_OF_ONE = ("program", "module", "code", "test", "args", "cwd", "stdin", "adapter", "adapter_options")
"""Parameters that are about one program."""


class Together:
    """The sessions of a compound. The first runs the compound's task before its own."""

    def __init__(self, compound: Compound, before: Task | None) -> None:
        self._compound = compound
        self._before = before
        self._tasks: list[ConfiguredTasks] = []

    def __repr__(self) -> str:
        return f"<Together {self._compound.name!r}, {len(self._tasks)} sessions>"

    def join(self, tasks: ConfiguredTasks) -> None:
        """Add the tasks of a session that is about to be started."""
        if self._before is not None and not self._tasks:
            needs = (self._before,) if tasks.before is None else (self._before, tasks.before)
            tasks.before = Task(f"the tasks of {self._compound.name}", needs=needs, order="sequence")
        self._tasks.append(tasks)
        if self._compound.stop_all:
            tasks.together = self._tasks


P = TypeVar("P", bound=DebugLaunch)


async def launch_compound(
    debugger: Debugger,
    params: P,
    compound: Compound,
    before: Task | None,
    launch_one: Callable[[Debugger, P, Together], Awaitable[StopAnswer]],
) -> StopAnswer:
    """Start the configurations of a compound, one after the other, and wait for the first stop; all are, or none."""
    given = [each for each in _OF_ONE if getattr(params, each)]
    if given:
        raise UsageError(
            "INVALID_PARAMETER",
            f"'{compound.name}' is a compound of {len(compound.configurations)} configurations, and `{given[0]}` is "
            "about one program. Leave it out, or launch them one by one, with new_session=true.",
        )
    deadline = trio.current_time() + params.timeout
    beside = await make_room(debugger, params)
    together = Together(compound, before)
    others = {each.id for each in debugger.programs.living()}
    started: list[str] = []
    notes: list[str] = []
    try:
        for name in compound.configurations:
            changes = {"configuration": name, "replace": False, "new_session": beside or bool(started), "wait": False}
            one = replace(params, **changes, show=[], timeout=max(0.0, deadline - trio.current_time()))
            answer = await launch_one(debugger, one, together)
            started = [each.id for each in debugger.programs.living() if each.id not in others]
            notes += [f"{name}: {note}" for note in answer.notes]
    except BaseException:
        with trio.CancelScope(shield=True):  # bounded, as every end of a session is
            # Also one whose launch has failed late, or has answered without naming its session.
            await end_all(debugger, [each.id for each in debugger.programs.living() if each.id not in others])
        raise
    outcome: Outcome | None = None
    if params.wait:
        with trio.move_on_at(deadline):
            outcome = await debugger.wait_stop(of=started)
    answer = await wait_answer(debugger, outcome, deadline, show=params.show, waited=params.wait, session_id=started[0])
    named = started[0] if outcome is None or outcome.paused is None else outcome.paused.id
    return with_sessions(debugger, replace(answer, session=named, notes=[*notes, *answer.notes]))
