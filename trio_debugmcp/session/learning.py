"""What is found out about a program once it runs, beside what its adapter reports by itself."""

import logging
from typing import Any

from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.changes import OriginLearned

log = logging.getLogger(__name__)


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
