"""Hit conditions: at which hits a breakpoint stops, and how many hits there were at a stop. Pure.

    meets_hit_condition("% 3", 6)       # True
    hits_after_stop("% 3", 3)           # 6

The forms are those that adapters share: `3`, `== 3`, `> 3`, `>= 3`, `< 3`, `<= 3` and `% 3`. An adapter that evaluates
them reports only the stops that the condition let through, and the number of hits is derived from those: the second
stop at `% 3` is the sixth hit.
"""

import re

_HIT_CONDITION = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*(\d+)\s*")


def is_hit_condition(text: str) -> bool:
    """Whether `text` is a hit condition, with a number above 0."""
    form = _HIT_CONDITION.fullmatch(text)
    return form is not None and int(form[2]) > 0


def meets_hit_condition(hit_condition: str, hits: int) -> bool:
    """Whether a breakpoint stops at this hit; a bare number means that hit only."""
    form = _HIT_CONDITION.fullmatch(hit_condition)
    if form is None:
        return True
    number = int(form[2])
    match form[1]:
        case "" | "==":
            return hits == number
        case ">=":
            return hits >= number
        case ">":
            return hits > number
        case "<=":
            return hits <= number
        case "<":
            return hits < number
        case _:
            return number == 0 or hits % number == 0


def hits_after_stop(hit_condition: str | None, hits: int) -> int:
    """The number of hits at a stop, given the number at the previous stop (0 before the first)."""
    form = _HIT_CONDITION.fullmatch(hit_condition or "")
    if form is None:
        return hits + 1
    operator, number = form[1], int(form[2])
    match operator:
        case "" | "==" | ">=":  # lldb takes a bare number for `>=`: it also stops at every later hit
            return max(hits + 1, number)
        case ">":
            return max(hits + 1, number + 1)
        case "%":
            return (hits // number + 1) * number if number else hits + 1
        case _:
            return hits + 1
