"""Perl as its language server shows it, which names no paths."""

import re

from trio_debugmcp.dap.profiles.adapter_values import AdapterValues

_INDEX = re.compile(r"\[(\d+)\]|(\d+)")


class PerlValues(AdapterValues):
    """`@items` has `$items[1]`, which has `$items[1]{price}`."""

    def member(self, parent: str, name: str, parent_type: str | None) -> str | None:
        whole = re.fullmatch(r"[@%](\w+)", parent)
        # The sigil is that of what is inside, a scalar; what a scalar refers to is reached by an arrow.
        start = f"${whole[1]}" if whole is not None else parent if parent.endswith(("]", "}")) else f"{parent}->"
        index = _INDEX.fullmatch(name)
        return f"{start}[{index[1] or index[2]}]" if index is not None else f"{start}{{{name}}}"
