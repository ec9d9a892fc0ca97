"""What is found out about a program beside what its adapter reports: its process, its modules, what ended it."""

import logging
import signal
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.descendants import launched_process
from trio_debugmcp.dap.messages import EvaluateBody, ModuleEvent, ModulesBody
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.session.ending import Ending
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.process_labels import ProcessLabels
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.changes import EventReceived, OriginLearned

_SIGNAL_SECONDS = 1.0
"""For the signal that ended a program; a session that has ended must not wait for an adapter that is about to go."""

_MODULES_SECONDS = 3.0
"""For the list of modules, which nothing waits for."""

log = logging.getLogger(__name__)


class ModuleList:
    """The modules of one session whose adapter has a request for them and sends no events, as lldb-dap before 20."""

    def __init__(self, requests: Requests, merger: Merger, *, is_refused: bool) -> None:
        self._requests = requests
        self._merger = merger
        self._is_refused = is_refused

    def __repr__(self) -> str:
        return f"<ModuleList of {self._requests.session_id}>"

    async def look(self) -> None:
        """At a stop: ask for the modules if none has been reported."""
        requests, snapshot = self._requests, self._requests.snapshot
        if self._is_refused or snapshot is None or snapshot.modules:
            return
        if not requests.capabilities.supports_modules_request:
            return
        try:
            body = await requests.request("modules", {}, ModulesBody, seconds=_MODULES_SECONDS)
        except (AdapterRefused, UsageError) as error:
            self._is_refused = not (isinstance(error, UsageError) and error.code == "NOT_PAUSED")
            log.info("modules: %s", error)
            return
        for module in body.modules or []:
            await self._merger.merge(EventReceived(requests.session_id, ModuleEvent("new", module)))


async def learn_process(requests: Requests, merger: Merger, process_id: int | None) -> None:
    """Keep the id of a process that is ours, where the adapter reports none."""
    snapshot = requests.snapshot
    if process_id is not None and snapshot is not None and snapshot.origin.process_id is None:
        await merger.merge(OriginLearned(requests.session_id, process_id=process_id))


async def learn_launched(requests: Requests, merger: Merger, host: Host) -> None:
    """Find the process of a program that the adapter has launched, where nothing has reported it."""
    snapshot, adapter = requests.snapshot, requests.adapter
    if adapter is None or snapshot is None or snapshot.origin.process_id is not None:
        return
    started_by, command = adapter.pid, requests.profile.habits.program_command

    def look() -> int | None:
        return None if started_by is None else launched_process(started_by, command)

    with suppress(UsageError):  # a recording of an earlier version has no answer
        await learn_process(requests, merger, host.query(f"process launched by {requests.session_id}", look))


async def learn_origin(requests: Requests, merger: Merger, process_id: int | None, labels: ProcessLabels) -> None:
    """Learn what runs the program, where the adapter knows such a question; `process_id` is that of ours."""
    await learn_process(requests, merger, process_id)
    body = requests.capabilities.runtime
    question = requests.profile.dialect.runtime_request() if body is None else None
    if question is not None:
        try:
            body = await requests.request(*question, dict[str, Any])
        except (AdapterRefused, AdapterGone) as error:  # a program that has ended meanwhile has run all the same
            log.info("%s", error)
    if body is None:
        return
    facts = requests.profile.dialect.runtime_facts(body, requests.capabilities)
    version, engine, is_usual = facts or (None, None, True)
    learned = OriginLearned(requests.session_id, version, engine=engine, engine_is_usual=is_usual)
    await merger.merge(replace(learned, labels=labels.read(body)))


def true_exit_code(reported: int | None, own: int | None) -> int | None:
    """Return the exit code of a program, from the adapter's report and from its own process, as far as that is ours."""
    if reported is None:
        return own
    # lldb reports 11 for SIGSEGV, which its process has as -11; a program may also exit with 11. PHP's adapter reports
    # 0 for each process that a terminal started.
    is_truer = own is not None and (reported == 0 or (own < 0 and reported == -own))
    return own if is_truer else reported


async def learn_exit_signal(requests: Requests, ending: Ending, last_signal: str | None) -> None:
    """Make the exit code of a program that a signal has ended negative, as the system does; gdb reports 0 then.

    `last_signal`: the one that it last stopped at, if it did not stop since for something else.
    """
    if ending.exit_code and last_signal and not ending.killed:
        number = signal.Signals.__members__.get(last_signal)
        # CodeLLDB reports 11 for SIGSEGV, whose process is not ours, and for a program that exits with 11.
        if ending.exit_code == number:
            ending.exit_code = -ending.exit_code
        return
    question = requests.profile.words.exit_signal
    if question is None or ending.exit_code != 0 or ending.killed or not requests.connected:
        return
    try:
        arguments = {"expression": question, "context": requests.profile.dialect.evaluate_context}
        value = (await requests.request("evaluate", arguments, EvaluateBody, seconds=_SIGNAL_SECONDS)).result
    except DebugError as error:
        log.info("what ended the program: %s", error)
        return
    if value.isdigit():  # `void` if none has
        ending.exit_code = -int(value)
