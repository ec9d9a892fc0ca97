"""Log messages: text with `{expression}` in it, which means what it means in an f-string.

    template = Template("{name!r} costs {price:.2f} {{EUR}}")
    template.render(globals, locals)        # "'tea' costs 2.50 {EUR}"

A part that raises is shown as `<error: NameError: …>`, and the others as they are. The server checks messages with the
same module. Unlike an f-string, a lambda needs no parentheses, since what is before its colon is not an expression.
"""

from typing import Any, Dict, List, Optional, Tuple, Union

from trio_debugmcp.probe.inside import signal_handlers

MOST_TEXT = 8000
"""Characters of a rendered message; the rest is cut, and counted."""

_MOST_ERROR = 200
"""Characters of the message of an error."""

_PAIRS = {"(": ")", "[": "]", "{": "}"}

_DEEPEST = 2
"""Fields within fields: the format of a field may have some, as in an f-string."""


class MessageField:
    """A part in braces.

    Attributes:
        code: None if the expression has no sense; then `error` says why.
        nested: whether it needs names of its own: see `evaluate`.
        label: written before the value: `x=` of `{x=}`.
    """

    __slots__ = ("code", "conversion", "error", "expression", "format", "label", "nested")

    def __init__(
        self,
        expression: str,
        code: Any,
        nested: bool,
        error: str,
        label: str,
        conversion: str,
        format_: "List[Union[str, MessageField]]",
    ) -> None:
        self.expression = expression
        self.code = code
        self.nested = nested
        self.error = error
        self.label = label
        self.conversion = conversion
        self.format = format_


class TemplateError(ValueError):
    """The braces of a message do not match."""


class Template:
    """A message, parsed.

    Raises:
        TemplateError: its braces do not match; a lenient template has the message as it is instead, and the error.
    """

    def __init__(self, message: str, lenient: bool = False) -> None:
        try:
            self.parts, _ = _parse(message, 0, 0)
        except TemplateError as error:
            if not lenient:
                raise
            self.parts = [f"{message} <error: {error}>"]
        self._assigns = ":=" in message  # what one of its fields names, the next ones may use

    def problem(self) -> Optional[str]:
        """Return why one of the expressions has no sense, if one has none."""
        return _problem(self.parts)

    def render(self, global_names: Dict[str, Any], local_names: Any) -> str:
        """Return the text. Never raises, but for what stops the program: a KeyboardInterrupt."""
        if self._assigns:
            text = _rendered(self.parts, {**global_names, **local_names}, None)
        else:
            text = _rendered(self.parts, global_names, local_names)
        left = len(text) - MOST_TEXT
        return text if left <= 0 else f"{text[:MOST_TEXT]}… (+{left} character{'s' if left != 1 else ''})"


def evaluate(code: Any, nested: bool, global_names: Dict[str, Any], local_names: Any) -> Any:
    """Evaluate an expression in a frame, in which it leaves no names.

    `nested`: it gets names of its own, globals and locals together. A comprehension or lambda in it would not see the
    locals that `eval` is given, and a name that it assigns would stay. With None as locals they are together already.
    """
    if local_names is None:
        return eval(code, global_names)
    if nested:
        return eval(code, {**global_names, **local_names})
    return eval(code, global_names, local_names)


def compiled(expression: str) -> Tuple[Any, bool]:
    """Compile an expression; return it, and whether it needs names of its own.

    Raises:
        SyntaxError: it is not an expression; also ValueError and others of the compiler.
    """
    code = compile(f"({expression}\n)", "<expression>", "eval", dont_inherit=True)
    return code, needs_own_names(expression, code)


def needs_own_names(expression: str, code: Any) -> bool:
    """Whether an expression has a scope inside, or assigns a name."""
    return ":=" in expression or any(type(co_const) is type(code) for co_const in code.co_consts)


def error_text(error: BaseException) -> str:
    """Return the type of an error and its message."""
    name = type(error).__name__
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = ""
    message = message if len(message) <= _MOST_ERROR else message[:_MOST_ERROR] + "…"
    return f"{name}: {message}" if message else name


# --- Rendering --------------------------------------------------------------------------------------------------------


def _rendered(parts: "List[Union[str, MessageField]]", global_names: Dict[str, Any], local_names: Any) -> str:
    return "".join(
        [part if type(part) is str else _shown(part, global_names, local_names) for part in parts]  # type: ignore[arg-type]
    )


def _shown(field: MessageField, global_names: Dict[str, Any], local_names: Any) -> str:
    try:
        if field.code is None:
            return field.label + f"<error: {field.error}>"
        value = evaluate(field.code, field.nested, global_names, local_names)
        if field.conversion:
            value = repr(value) if field.conversion == "r" else str(value) if field.conversion == "s" else ascii(value)
        text = format(value, _rendered(field.format, global_names, local_names)) if field.format else format(value)
        return field.label + str.__str__(text)
    except BaseException as error:  # also a SystemExit, which must not end the program
        if signal_handlers.has_raised(error):
            raise
        return field.label + f"<error: {error_text(error)}>"


def _problem(parts: "List[Union[str, MessageField]]") -> Optional[str]:
    for part in parts:
        if not isinstance(part, str):
            if part.code is None:
                return f"{{{part.expression}}}: {part.error}"
            inner = _problem(part.format)
            if inner is not None:
                return inner
    return None


# --- Parsing ----------------------------------------------------------------------------------------------------------


def _parse(text: str, start: int, depth: int) -> "Tuple[List[Union[str, MessageField]], int]":
    """Parse a message, or inside of a field its format, which ends at the field's own brace; return where it ended."""
    parts: List[Union[str, MessageField]] = []
    literal = ""
    position = start
    while position < len(text):
        letter = text[position]
        if letter in "{}" and text[position : position + 2] == letter * 2 and not depth:
            literal += letter
            position += 2
        elif letter == "{":
            if depth >= _DEEPEST:
                raise TemplateError("its formats are nested too deeply")
            field, position = _field(text, position + 1, depth)
            parts += [literal, field] if literal else [field]
            literal = ""
        elif letter == "}":
            if depth:
                break
            raise TemplateError("a single `}`: write `}}` for the character")
        else:
            literal += letter
            position += 1
    if literal:
        parts.append(literal)
    return parts, position


def _field(text: str, start: int, depth: int) -> Tuple[MessageField, int]:
    """Parse a field from behind its opening brace; return it and the position behind the closing one."""
    expression, code, nested, error, position = _expression(text, start)
    label = ""
    stripped = expression.rstrip()
    if code is None and stripped.endswith("=") and stripped[-2:-1] not in ("=", "!", "<", ">"):
        label = expression
        code, nested, error = _try(stripped[:-1])
    conversion = ""
    if text[position] == "!":
        conversion = text[position + 1 : position + 2]
        position += 2
        if conversion not in ("r", "s", "a") or text[position : position + 1] not in (":", "}"):
            raise TemplateError("`!` is followed by r, s or a")
    inner: List[Union[str, MessageField]] = []
    if text[position] == ":":
        inner, position = _parse(text, position + 1, depth + 1)
        if position >= len(text):
            raise TemplateError("a `{` is not closed: write `{{` for the character")
    if label and not conversion and not inner:
        conversion = "r"
    return MessageField(expression.strip(), code, nested, error, label, conversion, inner), position + 1


def _expression(text: str, start: int) -> Tuple[str, Any, bool, str, int]:
    """Find the end of an expression: the first `}`, `!` or `:` outside of brackets and strings where it makes sense."""
    closing: List[str] = []
    position = start
    while position < len(text):
        letter = text[position]
        if letter in "'\"":
            position = _after_string(text, position)
            continue
        if not closing and (letter in "}:" or (letter == "!" and text[position + 1 : position + 2] != "=")):
            expression = text[start:position]
            code, nested, error = _try(expression)
            labelled = code is None and expression.rstrip().endswith("=") and _try(expression.rstrip()[:-1])[0]
            if code is not None or letter == "}" or labelled:
                return expression, code, nested, error, position
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter in _PAIRS:
            closing.append(_PAIRS[letter])
        position += 1
    raise TemplateError("a `{` is not closed: write `{{` for the character")


def _after_string(text: str, start: int) -> int:
    quote = text[start] * 3 if text[start : start + 3] == text[start] * 3 else text[start]
    position = start + len(quote)
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text.startswith(quote, position):
            return position + len(quote)
        else:
            position += 1
    raise TemplateError("a string in it is not closed")


def _try(expression: str) -> Tuple[Any, bool, str]:
    if not expression.strip():
        return None, False, "SyntaxError: an empty expression"
    try:
        code, nested = compiled(expression.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return None, False, "SyntaxError: %s" % (getattr(error, "msg", None) or error)
    return code, nested, ""
