"""Which exception may be meant by a name of which none is known: a built-in one, or one of the program's."""

from pathlib import Path

from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.debugger import Debugger

_MOST_NAMED = 2


def type_question(debugger: Debugger, exception_type: str) -> str:
    """Return the question whether another type is meant; empty where one of this name is known, or none is like it."""
    profile = debugger.language_of(None)
    built_in = profile.expressions.exception_types() if profile is not None else ()
    if profile is None or exception_type == "*" or "." in exception_type or exception_type in built_in:
        return ""
    files = [file for file in debugger.programs.known_sources() if Path(file).is_absolute()]
    own = [file for file in files if not profile.code.is_library(file)]
    places = list(dict.fromkeys([*(str(Path(file).parent) for file in own), debugger.workspace.directory]))
    thrown = profile.thrown
    try:
        defined = debugger.host.query(
            f"exceptions beside {exception_type}", lambda: thrown.types_beside(exception_type, own, places)
        )
    except UsageError:  # a recording from before this was asked
        defined = ()
    names = () if defined is None else {*built_in, *defined}
    alike = named_alike(exception_type, {name: name for name in sorted(names)})[:_MOST_NAMED]
    return f"Is it {' or '.join(alike)}?" if alike else ""
