"""Types and functions of the loaded modules by a pattern of their names.

    symbols_json(Question("*Basket*"), budget, renderer)
    # {"symbols": [{"name": "shop.Basket", "type": true, "file": "/shop.py", "line": 3}, …], "total": 2}

Imported names are not listed: each symbol is where it is defined.
"""

import re
import time
from typing import Any, List

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.types import definitions
from trio_debugmcp.probe.inside.types.definitions import Definition
from trio_debugmcp.probe.inside.types.signatures import of_c, signature
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json


class SymbolQuestion:
    """Which symbols: `kind` is `types`, `functions` or empty for both; `module` is a part of its name."""

    __slots__ = ("kind", "module", "most", "pattern", "start")

    def __init__(self, pattern: str, kind: str = "", module: str = "", start: int = 0, most: int = 100) -> None:
        self.pattern = pattern
        self.kind = kind
        self.module = module
        self.start = start
        self.most = most


def symbols_json(asked: SymbolQuestion, budget: Budget, renderer: Renderer) -> Json:
    """Return a page of the symbols, those of the user's code first, and how many there are as far as was searched."""
    matches = _matcher(asked.pattern)
    module = asked.module.lower()
    modules = [each for each in definitions.ordered() if module in each[0].lower()]
    end = budget.half()
    found: List[Definition] = []
    searched = 0
    for name, names in modules:
        if time.monotonic() > end:
            break
        searched += 1
        found += [each for each in definitions.of_module(name, names) if _is_kind(each, asked.kind) and matches(each)]
    listed: List[Json] = []
    for each in found[asked.start : asked.start + asked.most]:
        if budget.spent() and listed:
            break
        entry = _symbol_json(each, renderer)
        budget.take_json(entry)
        listed.append(entry)
    answer: Json = {"symbols": listed, "total": len(found), "modules": len(modules)}
    if searched < len(modules):
        answer["searched"] = searched
    return answer


def _is_kind(each: Definition, kind: str) -> bool:
    return kind in ("", "types" if each.is_type else "functions")


def _matcher(pattern: str) -> Any:
    """Return what says whether a definition is meant: by its name, or with a dot by that with what stands before it.

    A pattern without `*` and `?` is a part of that.
    """
    wild = "*" in pattern or "?" in pattern
    text = pattern.lower() if wild else f"*{pattern.lower()}*"
    fits = re.compile("".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in text), re.DOTALL).fullmatch
    dotted = "." in pattern

    def matches(each: Definition) -> bool:
        name = each.name.lower()
        if fits(name.rpartition(".")[2]) is not None:
            return True
        return dotted and (fits(name) is not None or fits(f"{each.module.lower()}.{name}") is not None)

    return matches


def _symbol_json(each: Definition, renderer: Renderer) -> Json:
    found: Json = {"name": each.full}
    if each.is_type:
        found["type"] = True
    else:
        function = definitions.function_of(each.value)
        bound = "." in each.name and type(each.value) is not staticmethod
        shown = of_c(each.value) if function is None else signature(function, renderer, bound)
        if shown:
            found["signature"] = shown
    if not each.user:
        found["library"] = True
    place = definitions.place_json(each.value)
    found.update({name: place[name] for name in ("file", "line", "qualname") if name in place})
    return found
