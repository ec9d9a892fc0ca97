"""Whether something listens at a port: a server that a task runs, for example."""

import trio

from trio_debugmcp.patience import Patience

_CONNECT_SECONDS = 2.0
"""For one connection: a host that answers at all takes milliseconds."""

_POLL_SECONDS = 0.1
"""Between two tries, as nothing tells that a port of another process is listened at."""


async def listens(host: str, port: int, patience: Patience) -> bool:
    """Return whether a connection is accepted there."""
    with trio.move_on_after(patience.seconds(_CONNECT_SECONDS)):
        try:
            stream = await trio.open_tcp_stream(host, port)
        except OSError:
            return False
        await stream.aclose()
        return True
    return False


async def wait_listening(host: str, port: int, over: trio.Event, patience: Patience) -> None:
    """Wait until something listens there, or the task that should is over. The caller bounds the wait."""
    while not over.is_set() and not await listens(host, port, patience):  # noqa: ASYNC110 (as above)
        await trio.sleep(_POLL_SECONDS)


async def wait_free(host: str, port: int, patience: Patience) -> None:
    """Wait until nothing listens there any more. The caller bounds the wait."""
    while await listens(host, port, patience):  # noqa: ASYNC110 (as above)
        await trio.sleep(_POLL_SECONDS)
