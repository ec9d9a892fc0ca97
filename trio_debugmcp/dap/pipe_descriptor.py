"""`descriptor_of`: the file descriptor of a program's pipe, whatever has been put around it."""

from typing import Protocol, runtime_checkable

import trio


@runtime_checkable
class _Wrapper(Protocol):
    """A stream around another, as a recorder's is; or a pipe of the system itself."""

    def fileno(self) -> int | None: ...


def descriptor_of(pipe: trio.abc.ReceiveStream) -> int | None:
    """Return the descriptor from which a stream reads in the end; None if that is not a pipe of the system."""
    return pipe.fileno() if isinstance(pipe, _Wrapper) else None
