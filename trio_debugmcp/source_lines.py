"""The lines of a program's text, as compilers, debuggers and editors number them."""


def source_lines(text: str) -> list[str]:
    r"""Return the lines without their ends, which are `\n`, `\r\n` and `\r` only.

    `str.splitlines` ends a line at a form feed, U+0085 and U+2028, too, which stand within lines of source: from there
    on each line would have too high a number.
    """
    if not text:
        return []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines
