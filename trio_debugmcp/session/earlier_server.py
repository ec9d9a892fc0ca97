"""What the server before this one was used for: it is kept for the project, and `debug_restart` takes it up again.

    earlier.keep("debug_launch", {"program": "shop.py"}, debugger.last_start)    # after each call
    found = earlier.found()                                  # by a server that has started nothing yet
    await earlier.take_up(found, owner)

Nothing of it acts before it is asked for: another chat may have begun. No value of the program is kept, and of what a
launch was given nothing that may be a secret.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.clock import Clock
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Launch, RootStart
from trio_debugmcp.errors import UsageError
from trio_debugmcp.masking.masked_answers import masked_json
from trio_debugmcp.masking.secret_names import names_secret
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.breakpoints.registry import BreakpointRegistry
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.project_file import KeptBreakpoint, KeptLaunch, LastUse, ProjectFile
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint

_NOT_OF_LAUNCH = frozenset({"breakpoints", "show", "timeout", "wait", "replace", "new_session", "record"})
"""Parameters of a launch that are about that call, or are kept as what they have led to."""

_NEEDED = frozenset({"program", "module", "code", "test", "args", "configuration", "file", "inputs", "adapter_options"})
"""Without one of these that was given another program would run."""

_CHANGING = ("debug_launch", "debug_restart", "breakpoint_", "tracepoint_")
"""How the names of tools begin that change what is kept."""

MAX_BREAKPOINTS = 200


class EarlierServer:
    """What is kept of the project, by this server and by the one before. `directory`: that of the project."""

    def __init__(
        self, file: ProjectFile, directory: str, merger: Merger, breakpoints: BreakpointRegistry, clock: Clock
    ) -> None:
        self._file = file
        self._directory = directory
        self._merger = merger
        self._breakpoints = breakpoints
        self._clock = clock
        self._launch: KeptLaunch | None = None
        self._before: LastUse | None = None
        self._is_read = False

    def __repr__(self) -> str:
        return f"<EarlierServer of {self._file.path}>"

    def found(self) -> LastUse | None:
        """Return what the server before has kept, until something is launched."""
        if not self._is_read:
            self._is_read = True
            self._before = self._file.read()
        return self._before

    def keep(self, name: str, arguments: Mapping[str, Any], last: tuple[Profile, RootStart] | None) -> None:
        """Keep what a call of that tool has changed. `last`: what this server has started."""
        if self._file.path is None or not name.startswith(_CHANGING):
            return
        before = self.found()
        if name == "debug_launch" and last is not None and isinstance(last[1], Launch):
            self._launch = kept_launch(arguments, self._clock.now())
            self._before = before = None
        elif name == "breakpoint_remove" and arguments.get("id") == "*" and before is not None:
            self._before = before = replace(before, breakpoints=(), left_out=0)
        kept = [_kept(wanted) for wanted in self._merger.state.every_breakpoint]
        breakpoints = [wanted for wanted in kept if wanted is not None]
        left_out, launch = len(kept) - len(breakpoints), self._launch
        if before is not None:
            launch = launch or before.launch
            breakpoints += [wanted for wanted in before.breakpoints if wanted not in breakpoints]
            left_out += before.left_out
        shown = tuple(breakpoints[:MAX_BREAKPOINTS])
        left_out += len(breakpoints) - len(shown)
        self._file.write(LastUse(directory=self._directory, launch=launch, breakpoints=shown, left_out=left_out))

    async def take_up(self, kept: LastUse, owner: Owner | None) -> int:
        """Set the breakpoints of the server before, but where there are some; return how many cannot be set again."""
        refused = 0
        for wanted in kept.breakpoints:
            try:
                await self._set(wanted, owner)
            except UsageError:
                refused += 1
        self._launch, self._before = kept.launch, None
        return refused

    async def _set(self, wanted: KeptBreakpoint, owner: Owner | None) -> None:
        if wanted.exception is not None:
            types = {exception.exception_type for exception in self._merger.state.exceptions}
            if wanted.exception.exception_type in types:
                return
            id_ = (await self._breakpoints.exceptions.set(wanted.exception, owner)).id
        elif wanted.spec is not None and not self._breakpoints.at_place(wanted.spec):
            id_ = (await self._breakpoints.set(wanted.spec, owner)).id
        else:
            return
        if not wanted.enabled:
            await self._breakpoints.enable(id_, enabled=False)


# --- What is kept -----------------------------------------------------------------------------------------------------


def kept_launch(arguments: Mapping[str, Any], at: float) -> KeptLaunch:
    """Return what is kept of the arguments of a launch. Pure."""
    kept: dict[str, Any] = {}
    without: list[str] = []
    is_whole = True
    for name, value in arguments.items():
        if name in _NOT_OF_LAUNCH or value is None:
            continue
        if name == "env" and isinstance(value, dict):
            own = {key: text for key, text in value.items() if text is None or _is_setting(key, text)}
            kept |= {"env": own} if own else {}
            without += [f"env {key}" for key in value if key not in own]
        elif name == "stdin" or _is_secret(name, value):
            without.append(name)
            is_whole = is_whole and name not in _NEEDED
        else:
            kept[name] = value
    return KeptLaunch(kept, at, tuple(without), is_whole)


def _is_setting(name: str, value: str) -> bool:
    """Return whether a variable is one of the interpreter's; any other one may have a password."""
    return name.startswith("PYTHON") and not _is_secret(name, value)


def _is_secret(name: str, value: Any) -> bool:
    return masked_json({name: value}) != {name: value} or any(_may_be_secret(text) for text in _texts(value))


def _may_be_secret(text: str) -> bool:
    """Return whether a text is like `--password=x`, or an address with a password in it."""
    key, equals, _ = text.partition("=")
    is_named = (equals or text.startswith("-")) and names_secret(key.strip(" -"))
    return bool(is_named) or ("://" in text and "@" in text)


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for key, item in value.items() for text in (*_texts(key), *_texts(item))]
        case list():
            return [text for item in value for text in _texts(item)]
        case _:
            return []


def _kept(wanted: Breakpoint | ExceptionBreakpoint) -> KeptBreakpoint | None:
    """Return what is kept of a breakpoint; None if it would mean nothing to another server, or may have a secret."""
    if isinstance(wanted, ExceptionBreakpoint):
        spec = ExceptionSpec(
            exception_type=wanted.exception_type,
            first_chance=wanted.first_chance,
            second_chance=wanted.second_chance,
            user_unhandled=wanted.user_unhandled,
            include_subtypes=wanted.include_subtypes,
            condition=wanted.condition,
            file=wanted.file,
        )
        return None if _is_secret("condition", wanted.condition) else KeptBreakpoint(None, spec, wanted.enabled)
    place = wanted.spec
    if place.address is not None or place.watch is not None or not place.is_for_later:
        return None  # they mean processes that are gone, or the memory of one
    if any(_is_secret("condition", text) for text in (place.condition, place.log_message)):
        return None
    if _is_secret("text", place.text):
        place = replace(place, text=None, by_text=False, occurrence=None)
    return KeptBreakpoint(place, None, wanted.enabled)
