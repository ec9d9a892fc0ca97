"""Hit conditions: how often a breakpoint was passed, told from the stops that its condition let through.

An adapter that counts hits itself reports only the stops. The forms are those that adapters share: `3`, `== 3`,
`> 3`, `>= 3`, `< 3`, `<= 3` and `% 3`.
"""

import re

_FORM = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*(\d+)\s*")


def is_hit_condition(text: str) -> bool:
    """Whether `text` is one of the forms above, with a number above 0."""
    form = _FORM.fullmatch(text)
    return form is not None and int(form[2]) > 0


def hits_after_stop(hit_condition: str | None, hits: int) -> int:
    """The count at a stop, given the count at the previous one."""
    form = _FORM.fullmatch(hit_condition or "")
    if form is None:
        return hits + 1
    operator, number = form[1], int(form[2])
    match operator:
        case "" | "==" | ">=":
            return max(hits + 1, number)
        case ">":
            return max(hits + 1, number + 1)
        case "%":
            return (hits // number + 1) * number if number else hits + 1
        case _:
            return hits + 1
