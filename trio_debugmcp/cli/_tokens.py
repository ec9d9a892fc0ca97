"""Where a token comes from: the command line, a file, or a variable; in that order, and made at random if from none."""

import os
import stat
from pathlib import Path

CONTROL_VARIABLE = "TRIO_DEBUGMCP_TOKEN"
OBSERVE_VARIABLE = "TRIO_DEBUGMCP_OBSERVE_TOKEN"

_READABLE_BY_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def given_token(option: str, token: str | None, file: Path | None, variable: str) -> tuple[str | None, str | None]:
    """Return the token that was given, or None, and a warning about the file that it came from, or None.

    The variable is removed from this process's environment, so that debugged programs do not inherit it.

    Raises:
        ValueError: it was given in two ways, or the file cannot be read or is empty.
    """
    inherited = os.environ.pop(variable, None)
    if file is None:
        return token if token is not None else inherited or None, None
    if token is not None:
        raise ValueError(f"{option} and {option}-file exclude each other")
    try:
        text, mode = file.read_text(encoding="utf-8").strip(), file.stat().st_mode
    except OSError as error:
        raise ValueError(f"{option}-file: cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{option}-file: {file} is not text") from None
    if not text:
        raise ValueError(f"{option}-file: {file} is empty")
    exposed = os.name == "posix" and mode & _READABLE_BY_OTHERS
    return text, f"WARNING: other users may read the token in {file}: chmod 600 {file}" if exposed else None
