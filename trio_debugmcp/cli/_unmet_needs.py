"""Options that count only beside others: alone they would have no effect, which no user would notice.

    problem = unmet_need(arguments, [Need("--once", ("--kept",))])

It is one sentence, for the one who has typed them.
"""

import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple


class Need(NamedTuple):
    """An option, and those of which one must be given with it.

    Attributes:
        why: said behind it, if the names do not say it.
        usual: its value where it is not given.
    """

    option: str
    others: tuple[str, ...]
    why: str = ""
    usual: Any = None


def unmet_need(arguments: argparse.Namespace, needs: Iterable[Need]) -> str | None:
    """Return which option would have no effect, and what it needs; None if all have one."""
    for need in needs:
        if _given(arguments, need.option, need.usual) and not any(_given(arguments, each) for each in need.others):
            *first, last = need.others
            return f"{need.option} needs {', '.join(first)}{' or ' if first else ''}{last}{need.why}"
    return None


def _given(arguments: argparse.Namespace, option: str, usual: object = None) -> bool:
    value = getattr(arguments, option.removeprefix("--").replace("-", "_"))
    return value is not None and value is not False and value != [] and value != usual
