r"""Bytes as text where one value is repeated: `b"\x7fELF" + b"\x00" * 26`."""

from typing import Callable, List, Optional, Tuple

_LEAST = 12
"""Equal bytes from which on they are said by one of them and their number."""

_CHUNK = 1 << 16

_MOST = 1 << 24
"""Bytes that are looked at. Further ones are left out, and counted."""


def runs(piece: Callable[[int, int], bytes], length: int, limit: int) -> Optional[Tuple[str, int]]:
    """Return bytes as text, and how many are left out; None if there are no such runs in what would be shown.

    `piece` returns the bytes from one place to another.
    """
    if length < _LEAST:
        return None
    texts: List[str] = []
    at, size, found = 0, 0, False
    while at < length and size < limit:
        near = piece(at, at + limit)
        begin, one = _first_run(near)
        if begin:
            plain = bytes.__repr__(near[:begin][: max(1, limit - size)])
            at += min(begin, max(1, limit - size))
            texts.append(plain)
            size += len(plain)
        if one is not None and size < limit:
            found = True
            end = _end(piece, at, length, one)
            texts.append(f"{bytes.__repr__(one)} * {end - at}")
            size += len(texts[-1])
            at = end
    return (" + ".join(texts), length - at) if found else None


def _first_run(near: bytes) -> Tuple[int, Optional[bytes]]:
    """Return where the first run begins, and of which byte it is; else the length and None."""
    best, byte = len(near), None
    for one in {near[:1], near[-1:], b"\x00", b"\xff"}:
        begin = near.find(one * _LEAST)
        if begin >= 0 and begin < best:
            best, byte = begin, one
    return best, byte


def _end(piece: Callable[[int, int], bytes], at: int, length: int, one: bytes) -> int:
    """Return where a run ends."""
    start = at
    while at < min(length, start + _MOST):
        chunk = piece(at, at + _CHUNK)
        same = len(chunk) - len(chunk.lstrip(one))
        at += same
        if same < len(chunk):
            break
    return at
