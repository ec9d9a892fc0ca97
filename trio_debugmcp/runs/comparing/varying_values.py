"""What is another one in each run though the program does the same: it does not count when values are compared.

    masked_value("<Cart at 0x7f00aa>")                              # <Cart at …>
    is_alike("<date 2024-05-01>", "<date 2024-05-02>", began)       # of runs of these two days: both are that day

A date counts by how many days it is from the day of its run only where the runs are of different days.
"""

import re
from datetime import UTC, date, datetime

_CHANCE = re.compile(
    r"\b0x[0-9a-fA-F]{4,}\b|/tmp/[^\s'\",)\]}>]*|\b1[34]\d{13}\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[1467][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b|(?<!\d)\d{1,2}:\d\d:\d\d\.\d{6}\b"
)
"""Addresses, files that are made anew each time, what `id` returns, identities by chance or by time, and times of a
clock, which alone have microseconds."""

_EPOCH = re.compile(r"\b\d{10}\.\d+\b")
"""What `time.time` returns."""

_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")

_SET = re.compile(r"\{(?:<[^<>]*>|'[^']*'|[^{}:<>'])*\}")

_NEAR_SECONDS = 86400
"""From the begin of its run, for a number to be taken for a time of it."""

_NEAR_DAYS = 367
"""From the day of its run, for a date to be taken for one that was reckoned from it."""


def is_alike(one: str, other: str, began: tuple[float, float]) -> bool:
    """Whether two texts of values differ only by chance or time; `began`: seconds since 1970 of the run of each."""
    if one == other or masked_value(one, began[0]) == masked_value(other, began[1]):
        return True
    days = [datetime.fromtimestamp(second, UTC).date() for second in began]
    if days[0] == days[1]:
        return False
    texts = [_from_its_day(text, day) for text, day in zip((one, other), days, strict=True)]
    return masked_value(texts[0], began[0]) == masked_value(texts[1], began[1])


def masked_value(text: str, began: float = 0.0) -> str:
    """Return a text without what is another one in each run; `began`: that of its run, in seconds since 1970."""
    text = _CHANCE.sub("…", text)
    if began and "." in text:
        text = _EPOCH.sub(lambda found: "…" if abs(float(found[0]) - began) < _NEAR_SECONDS else found[0], text)
    if "{" in text:
        text = _SET.sub(lambda found: "{" + ", ".join(sorted(found[0][1:-1].split(", "))) + "}", text)
    return text


def _from_its_day(text: str, day: date) -> str:
    def counted(found: re.Match[str]) -> str:
        try:
            days = (date.fromisoformat(found[0]) - day).days
        except ValueError:
            return found[0]
        return f"day {days}" if abs(days) < _NEAR_DAYS else found[0]

    return _DATE.sub(counted, text)
