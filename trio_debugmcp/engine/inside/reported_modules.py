"""`ReportedModules`: the modules of which frames were shown; the debugger hears of each once, by an event."""

from typing import Any, Callable

_MOST = 5000

_MOST_TEXT = 300


class ReportedModules:
    """Modules by their files.

    Attributes:
        listed: as DAP describes them, in the order in which they were reported.
    """

    def __init__(self, event: Callable[[str, Any], None]) -> None:
        self.listed: list[dict[str, Any]] = []
        self._event = event
        self._files: set[str] = set()

    def report(self, file: str, frame: Any) -> None:
        """Report the module of a frame, unless that was done before."""
        if file in self._files or len(self.listed) >= _MOST:
            return
        self._files.add(file)
        names = frame.f_globals
        module = {"id": len(self.listed), "name": _text(names, "__name__"), "path": file}
        for key, name in (("version", "__version__"), ("package", "__package__")):
            text = _text(names, name)
            if text:
                module[key] = text
        self.listed.append(module)
        self._event("module", {"reason": "new", "module": module})


def _text(names: Any, name: str) -> str:
    found = dict.get(names, name)
    return found[:_MOST_TEXT] if type(found) is str else ""
