"""What pydevd writes about slow evaluations; and log messages for it, where the program does not render them itself.

    for_pydevd("{name!r} costs {price:.2f} {{EUR}}")    # one expression in braces

That is so where it was attached to by port, through an adapter.
On the direct line the program renders messages itself: `probe/inside/message_templates.py`.
"""

import re
from typing import ClassVar

from trio_debugmcp.dap.profiles.adapter_values import Words
from trio_debugmcp.probe.inside.message_templates import MessageField, Template, TemplateError

_SLOW_EVALUATION = re.compile(
    r"\s*(?:pydevd: )?Evaluating: .* did not finish after [\d.]+ seconds\.\nThis may mean .*", re.DOTALL
)
"""What it writes about an evaluation that takes long, with the text that we have it evaluate."""


class PythonWords(Words):
    """The texts of debugpy."""

    no_message: ClassVar[str] = "exception: no description"

    def is_routine(self, text: str) -> bool:
        return _SLOW_EVALUATION.fullmatch(text) is not None


def for_pydevd(message: str) -> str:
    """Write a message, which means what it means in an f-string, as pydevd understands it.

    pydevd knows expressions in braces, and neither conversions nor formats nor a way to write a brace. A message that
    uses them becomes one expression. If a part fails, pydevd writes the error instead of the whole message.
    """
    try:
        parts = Template(message).parts
    except TemplateError:
        return message
    if any("{" in part or "}" in part if isinstance(part, str) else not _is_plain(part) for part in parts):
        return f"{{{_joined(parts)}}}"
    # pydevd turns a message with expressions into a `%` format, without escaping the `%` that it contains.
    return message.replace("%", "%%") if "{" in message else message


def _is_plain(field: MessageField) -> bool:
    return not (field.label or field.conversion or field.format or set("{}%") & set(field.expression))


def _joined(parts: list[str | MessageField]) -> str:
    return f"''.join([{', '.join(_literal(part) if isinstance(part, str) else _value(part) for part in parts)}])"


def _value(field: MessageField) -> str:
    expression = field.expression.removesuffix("=").rstrip() if field.label else field.expression
    value = f"({expression})" if not set("{}") & set(expression) else f"eval({_literal(f'({expression})')})"
    if field.conversion:
        value = f"{ {'r': 'repr', 's': 'str', 'a': 'ascii'}[field.conversion] }({value})"
    formatted = f"format({value}, {_joined(field.format)})"
    return f"{_literal(field.label)} + {formatted}" if field.label else formatted


def _literal(text: str) -> str:
    """Return a text as a literal without braces."""
    return ascii(text).replace("{", "\\x7b").replace("}", "\\x7d")
