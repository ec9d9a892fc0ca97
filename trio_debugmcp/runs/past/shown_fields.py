"""The attributes that the text of an object shows: of `<Order id=3, total=Decimal('1.20')>` the `id` and the `total`.

    shown_field("<Order id=3, name='a, id=4'>", "name")     # "'a, id=4'"

What is in a string is not taken for an attribute.
"""

import re

_BEGIN = re.compile(r"(?:<\w+ |\w+\()(?=\w+=)")

_NAME = re.compile(r"(\w+)=")

_PART = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.""", re.DOTALL)
"""A text, or any other sign."""


def shown_field(text: str, name: str) -> str | None:
    """Return the text of an attribute in the text of an object; None: it does not show it, or not whole."""
    begun = _BEGIN.match(text)
    if begun is None or "…" in text:
        return None
    at, deep, field, found = begun.end(), 0, "", ""
    while (named := _NAME.match(text, at)) is not None:
        field, found, at, deep = named[1], "", named.end(), 0
        for part in _PART.finditer(text, at):
            if deep <= 0 and part[0] in ",)>":
                break
            deep += (part[0] in "([{<") - (part[0] in ")]}>")
            found += part[0]
        if field == name:
            return found
        at += len(found) + 2  # the comma and the space behind it
    return None
