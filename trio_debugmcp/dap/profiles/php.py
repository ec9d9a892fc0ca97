"""PHP as vscode-php-debug shows it: of an object its class, of an array how many items it has."""

import re
from collections.abc import Sequence
from typing import ClassVar

from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Compositions

_ARRAY = re.compile(r"array\((\d+)\)")

_CLASS = re.compile(r"[\w\\]+(@anonymous.*)?")


class PhpCompositions(Compositions):
    """`Item(name="fig", tags=[2 items])`, `["fig" => Item(…)]`."""

    def composed(self, value: str, kind: str, fields: Sequence[tuple[str, str]], *, has_more: bool) -> str:
        more = ["…"] if has_more else []
        if _ARRAY.fullmatch(value) is None:
            return f"{value}({', '.join([f'{name}={field}' for name, field in fields] + more)})"
        names = [name for name, _ in fields]
        if names == [str(number) for number in range(len(names))]:
            return f"[{', '.join([item for _, item in fields] + more)}]"
        items = [f"{name if name.isdigit() else _quoted(name)} => {item}" for name, item in fields]
        return f"[{', '.join(items + more)}]"

    def folded(self, value: str, kind: str, items: int | None) -> str:
        array = _ARRAY.fullmatch(value)  # of an object the adapter counts fields as items
        return f"{value}(…)" if array is None else f"[{array[1]} items]"


class PhpValues(AdapterValues):
    """Objects and arrays are composed."""

    compositions: ClassVar[Compositions] = PhpCompositions()

    def is_bare(self, value: str, kind: str | None) -> bool:
        if kind is None:  # as what is evaluated; a text stands in quotes
            return _ARRAY.fullmatch(value) is not None or _CLASS.fullmatch(value) is not None
        return kind in ("array", "object")


def _quoted(name: str) -> str:
    return f'"{name}"'
