"""Types and functions of the loaded modules by a pattern of their names.

    symbols_json(SymbolQuestion("*Basket*"), budget, renderer)
    # {"symbols": [{"name": "shop.Basket", "type": true, "file": "/shop.py", "line": 3}, …], "total": 2}

Imported names are not listed: each symbol is where it is defined.
"""

import time
from typing import Any, Callable, List

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
    text = pattern.lower()
    fits = _glob(text) if "*" in text or "?" in text else lambda name: text in name
    dotted = "." in pattern

    def matches(each: Definition) -> bool:
        name = each.name.lower()
        if fits(name.rpartition(".")[2]):
            return True
        return dotted and (fits(name) or fits(f"{each.module.lower()}.{name}"))

    return matches


def _glob(pattern: str) -> Callable[[str], bool]:
    """Return what says whether a name is as a pattern says: `*` stands for any text, `?` for one character."""
    first, *pieces = pattern.split("*")

    def fits(name: str) -> bool:
        if not _is_at(name, 0, first):
            return False
        position = len(first)
        for piece in pieces[:-1]:  # each as early as possible leaves the most for the others
            last = len(name) - len(piece)
            while position <= last and not _is_at(name, position, piece):
                position += 1
            if position > last:
                return False
            position += len(piece)
        if not pieces:
            return position == len(name)
        rest = len(name) - len(pieces[-1])
        return rest >= position and _is_at(name, rest, pieces[-1])

    return fits


def _is_at(name: str, position: int, piece: str) -> bool:
    if "?" not in piece:
        return name.startswith(piece, position)
    part = name[position : position + len(piece)]
    return len(part) == len(piece) and all(letter in ("?", own) for letter, own in zip(piece, part))


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
