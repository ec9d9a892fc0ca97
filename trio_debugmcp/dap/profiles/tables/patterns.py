"""Regular expressions in the tables of debug adapters, which are checked before they are used."""

import re


def check_pattern(
    key: str, pattern: str | None, *, named: tuple[str, ...] = (), group: str | None = None, groups: bool = True
) -> None:
    """Check one that a table may leave out; `named`: groups that it needs; `group`: what its first group is for.

    `groups`: whether it may have some; one that becomes a part of another must not.

    Raises:
        ValueError: it is not a regular expression, or has other groups; with the key.
    """
    if pattern is None:
        return
    try:
        has = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"`{key}` is not a regular expression: {error}") from error
    absent = next((name for name in named if name not in has.groupindex), None)
    if absent is not None:
        raise ValueError(f"`{key}` needs a group `(?P<{absent}>...)`")
    if not groups and has.groups:
        raise ValueError(f"`{key}` is to have no groups `(...)`; write `(?:...)` instead")
    if group is not None and not has.groups:
        raise ValueError(f"`{key}` needs a group for the {group}: `(...)`")
