"""The output of the commands; of `inspect` and `watch`: results to stdout, one JSON line per failure to stderr.

Their exit codes are here, too. On a terminal, and if rich is installed, it has colours; a pipe gets plain JSON.
"""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from trio_debugmcp.errors import leaf


def plain(value: Any) -> Any:
    """Convert SDK models, our structs, times and exceptions to JSON types, with names as on the wire."""
    match value:
        case _ if hasattr(value, "__struct_config__"):  # a Struct; for a shell's call the import of msgspec is long
            config = value.__struct_config__
            named = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            tag = {config.tag_field: config.tag} if config.tag_field else {}
            return {**tag, **{name: plain(getattr(value, field)) for name, field in named}}
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case datetime():
            return value.isoformat()
        case BaseException():
            return str(value)
        case _ if hasattr(value, "model_dump"):  # a model of the SDK
            return value.model_dump(by_alias=True, mode="json", exclude_none=True, exclude_unset=True)
        case _:
            return value


def visible(text: str) -> str:
    """`text` for a terminal: control characters, which could move the cursor or change its title, as escapes."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else f"\\x{ord(character):02x}"
        for character in text
    )


def compact(value: Any) -> str:
    """Encode `value` as one line of JSON; with escapes only, where standard output has few characters, as Latin-1."""
    return json.dumps(plain(value), ensure_ascii=not _has_all_characters(), separators=(",", ":"))


def _has_all_characters() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") in ("utf8", "utf16", "utf32")


def write_line(line: str) -> None:
    """Write one line to stdout and flush it: the reader of a pipe waits for it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_pretty(value: Any) -> None:
    """Write indented JSON, highlighted on a terminal."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=2)
    console = terminal()
    if console is None:
        write_line(text)
    else:
        console.print_json(text, ensure_ascii=False)


def terminal() -> Any:
    """A rich console if stdout is a terminal and rich is installed, else None."""
    if not sys.stdout.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console()


def write_error(code: str, message: str, **details: Any) -> None:
    """Write the one line on stderr that explains an exit code other than 0."""
    error = {
        "code": code,
        "message": message,
        **{key: value for key, value in details.items() if value is not None},
    }
    sys.stderr.write(compact({"error": error}) + "\n")
    sys.stderr.flush()


def write_warning(message: str) -> None:
    """Write a line on stderr beside a result that is not all that the server sent."""
    sys.stderr.write(compact({"warning": {"message": message}}) + "\n")
    sys.stderr.flush()


def failed(command: str, reason: object, code: int = 2) -> int:
    """Print why a command cannot do its work, and return the exit code; 2 if its arguments are to blame."""
    print(f"trio-debugmcp {command}: {reason}", file=sys.stderr)
    return code


def sentence_of(error: Exception) -> str:
    """Return what an exception says; of one of the system the path and the reason, without its number."""
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error)


def innermost(error: BaseException) -> str:
    """Name an error, or the first one of a group, with what it says."""
    error = leaf(error)
    return f"{type(error).__name__}: {error}"


DONE, FAILED, USAGE, NOT_AUTHORIZED, UNREACHABLE, NOT_FOUND = 0, 1, 2, 3, 4, 5
"""Ok; unexpected; wrong usage; not authorised; unreachable or connection lost; a tool's error or not found."""

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""
