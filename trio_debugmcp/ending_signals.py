"""Signals that end the server gracefully, but for those that were ignored when it started.

    async with trio.open_nursery() as nursery:
        await nursery.start(cancel_at_signal, nursery.cancel_scope)

SIGINT is ignored in the background of a shell, for example. It stays so in the server, and with that in the programs
that it starts: these begin with the default effect of each signal that has a handler in the server.
"""

import signal

import trio

_ENDING = (signal.SIGINT, signal.SIGTERM)


async def cancel_at_signal(
    scope: trio.CancelScope, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Cancel a scope at the first signal. Once that has ended the task, the next one has its default effect."""
    numbers = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    if not numbers:
        task_status.started()
        return
    with trio.open_signal_receiver(*numbers) as signals:
        task_status.started()
        async for _ in signals:
            scope.cancel(reason="a signal asks to stop")
