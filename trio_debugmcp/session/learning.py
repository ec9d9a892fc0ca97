"""What is found out about a program once it runs, beside what its adapter reports by itself."""

import logging
from typing import Any

from trio_debugmcp.dap.messages import ModuleEvent, ModulesBody
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.changes import EventReceived, OriginLearned

_MODULES_SECONDS = 3.0
"""For the list of modules, which nothing waits for."""

log = logging.getLogger(__name__)


class ModuleList:
    """The modules of one session whose adapter has a request for them and sends no events, as lldb-dap before 20."""

    def __init__(self, requests: Requests, merger: Merger) -> None:
        self._requests = requests
        self._merger = merger
        self._is_refused = requests.profile.has_probe  # which knows more of them

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
        for each in body.modules or []:
            await self._merger.merge(EventReceived(requests.session_id, ModuleEvent("new", each)))


async def learn_process(requests: Requests, merger: Merger, process_id: int | None) -> None:
    """Keep the id of a process that is ours, where the adapter reports none."""
    snapshot = requests.snapshot
    if process_id is not None and snapshot is not None and snapshot.origin.process_id is None:
        await merger.merge(OriginLearned(requests.session_id, process_id=process_id))


async def learn_origin(requests: Requests, merger: Merger, process_id: int | None) -> None:
    """Ask what runs the program, where the adapter knows such a question; `process_id` is that of ours."""
    await learn_process(requests, merger, process_id)
    question = requests.profile.dialect.runtime_request()
    if question is None:
        return
    try:
        body = await requests.request(*question, dict[str, Any])
    except AdapterRefused as refusal:
        log.info("%s", refusal)
        return
    version = requests.profile.dialect.runtime_version(body)
    await merger.merge(OriginLearned(requests.session_id, version))
