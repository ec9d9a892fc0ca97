"""Names of types of C++, Rust and Zig as people write them: without allocators and what else is there by default. Pure.

    short_type("std::set<int, std::less<int>, std::allocator<int> >")      # "std::set<int>"

What is left out is only what the language adds by itself.
"""

import re

_BY_DEFAULT = re.compile(
    r"(?:std::(?:allocator|less|char_traits|hash|equal_to|default_delete)<|alloc::alloc::Global$"
    r"|std::(?:hash::random|collections::hash::map)::RandomState$)"
)
"""Arguments of templates that are there without having been written."""

_NAMES = {"std::basic_string<char>": "std::string", "std::basic_string_view<char>": "std::string_view"}

_OF_ZIG = re.compile(r"struct (?:[?\[]|error\{|\w+[.!])")
"""A name of which C has no structure: of a slice, an optional, or one in a file."""

_LONGEST = 20_000
"""Characters of a name that is looked at: templates of templates grow without end."""


def short_type(name: str) -> str:
    """Return the name of a type without the arguments that it has by default."""
    if _OF_ZIG.match(name):
        return name.removeprefix("struct ")
    if "<" not in name or len(name) > _LONGEST:
        return name
    text = name.replace("std::__cxx11::", "std::").replace("std::__1::", "std::")
    stack: list[list[str]] = [[""]]
    for character in text:
        if character == "<":
            stack.append([""])
        elif character == ">" and len(stack) > 1:
            kept = [one.strip() for one in stack.pop()]
            kept = [one for number, one in enumerate(kept) if not number or _BY_DEFAULT.match(one) is None]
            stack[-1][-1] += f"<{', '.join(kept)}>"
            stack[-1][-1] = _named(stack[-1][-1])
        elif character == "," and len(stack) > 1:
            stack[-1].append("")
        else:
            stack[-1][-1] += character
    return stack[0][0] if len(stack) == 1 else name


def _named(text: str) -> str:
    for long, short in _NAMES.items():
        if text.endswith(long):
            return text[: -len(long)] + short
    return text
