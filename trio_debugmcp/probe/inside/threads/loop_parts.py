"""What belongs to an event loop, and not to the program: its own files, and what its servers and sockets wait for."""

from typing import Any

from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.visible_frames import Json

_OF_LOOPS = ("/selectors.py", "/concurrent/futures/thread.py", "/concurrent/futures/process.py", "/threading.py")
_LOOPS = ("asyncio", "uvloop")
"""Files and directories of what drives the tasks, by the ends of their names."""


def is_of_loop(entry: Json) -> bool:
    """Whether a place is in variables of an event loop, its selector or a pool's thread, which a user does not know."""
    file = str(entry.get("file", "")).replace("\\", "/")
    return file.endswith(_OF_LOOPS) or file.rpartition("/")[0].rpartition("/")[2] in _LOOPS


def waits_of(owner: Any, kind: str, text: str, method: Any) -> str:
    """Return what a method of a server, or of the loop itself, waits for; nothing of others."""
    name = method.f_code.co_name
    if kind == "Server":
        waits_for = {"serve_forever": "connections", "wait_closed": "its connections to end"}.get(name, "")
        return f"{waits_for} ({text})" if waits_for and text else waits_for
    if facts.attribute(owner, "_ready") is facts.MISSING or facts.attribute(owner, "_scheduled") is facts.MISSING:
        return ""
    return text if text.endswith(name) else name
