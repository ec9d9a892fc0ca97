"""The modules that the program has imported, with their files, without those of the debugger."""

import sys
from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached, seam
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.visible_frames import Json


def modules_json(start: int, most: int, word: str, budget: Budget) -> Json:
    """Return the modules whose name or file contains a word, those of the user's code first, and how many there are."""
    found = [_module(name, names) for name, names in namespaces().items()]
    word = word.lower()
    wanted = [each for each in found if word in each["name"].lower() or word in each.get("file", "").lower()]
    wanted.sort(key=lambda each: bool(each.get("library")))
    listed: List[Json] = []
    for each in wanted[start : start + most]:
        if budget.spent():
            break
        budget.take_json(each)
        listed.append(each)
    return {"modules": listed, "total": len(wanted)}


def namespaces() -> Dict[str, Dict[str, Any]]:
    """Return the names in each module, which need not be a module: a program may put anything there."""
    found, debuggers = {}, attached.debugger().own_modules
    for name, module in list(sys.modules.items()):
        names = facts.instance_dict(module)
        if type(name) is str and names is not None and not name.startswith(debuggers):
            found[name] = names
    return found


def _module(name: str, names: Dict[str, Any]) -> Json:
    found: Json = {"name": name}
    file, version = _text(names.get("__file__")), _text(names.get("__version__"))
    if file:
        found["file"] = file
    if version:
        found["version"] = version
    if name != "__main__" and (file is None or seam.is_library(file)):  # without a file: of the interpreter
        found["library"] = True
    return found


def _text(value: Any) -> Optional[str]:
    return value[:300] if type(value) is str else None
