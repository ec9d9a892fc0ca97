"""Accept connections on the ports of a server, at the pace that `Admission` sets.

Unlike `trio.serve_listeners` it accepts nothing that there is no place for, and writes no traceback each time when the
process has no descriptors left.
"""

import logging
from collections.abc import Sequence
from typing import Any

import trio

from trio_debugmcp.sparse_log import SparseLog
from trio_debugmcp.transports.admission import Admission, Handler

log = logging.getLogger(__name__)

FULL_SECONDS = 0.1
"""Until the next attempt when this machine has no descriptor or memory for another connection."""

Listeners = Sequence[trio.abc.Listener[Any]]


async def accept_connections(listeners: Listeners, admission: Admission, handler: Handler) -> None:
    """Serve every connection by `handler` until cancelled; then all connections, and the listeners, are closed."""
    async with trio.open_nursery() as nursery:
        for listener in listeners:
            nursery.start_soon(_accept, listener, admission, handler, nursery)


async def _accept(
    listener: trio.abc.Listener[Any], admission: Admission, handler: Handler, nursery: trio.Nursery
) -> None:
    sparse = SparseLog(log)
    try:
        async with listener:
            while True:
                await admission.wait_for_room()
                try:
                    stream = await listener.accept()
                except OSError as error:
                    sparse.log(logging.WARNING, "cannot accept a connection: %s", error)
                    await trio.sleep(FULL_SECONDS)
                    continue
                # Counted here: the task starts later, and the next connection may be accepted before that.
                nursery.start_soon(admission.serve_visitor, stream, admission.enter(), handler)
    finally:
        sparse.flush()
        admission.close()
