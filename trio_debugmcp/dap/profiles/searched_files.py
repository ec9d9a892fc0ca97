"""What a search through the files of a project reads: regular files.

To open a pipe waits for a process that writes into it, and a device may have no end.
"""

import errno
import os
import stat


def bytes_of(file: str | os.PathLike[str], size: int) -> bytes:
    """Return what a regular file begins with.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(file))
    with open(descriptor, "rb") as opened:
        return opened.read(size)


def text_of(file: str | os.PathLike[str], size: int) -> str:
    """Return the text that a regular file begins with; what is not text in it is replaced.

    Raises:
        OSError: as `bytes_of`.
    """
    return bytes_of(file, size).decode(errors="replace")
