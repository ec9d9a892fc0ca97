"""`ProgramTypes`: types of a program with their members, types and functions by name, references, and modules.

    found = await session.looking.types.describe(SafePlace(), "shop.till.Basket", MembersQuestion(filter="total"))
    found.members[0].line

No code of the program runs for that, so the probe is asked while the program runs too.
"""

from functools import partial

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.probe.answers import Modules
from trio_debugmcp.session.looking.by_probe.program_probe import MAX_SIZE
from trio_debugmcp.session.looking.by_probe.safe_evaluation import SafePlace, ask_safely
from trio_debugmcp.session.looking.by_probe.type_descriptions import DescribedType, Instances, References, Symbols
from trio_debugmcp.session.looking.from_outside.silence import About, Unanswered
from trio_debugmcp.session.looking.machine_code.native_symbols import SymbolsQuestion, native_symbols
from trio_debugmcp.session.looking.machine_code.native_types import MembersQuestion, native_type
from trio_debugmcp.session.looking.ways import Seen, Ways
from trio_debugmcp.state.model import Module, StackFrame
from trio_debugmcp.state.payloads import shortened

SECONDS = 4.0
"""For an answer. The probe takes less; an earlier question may be in its way."""

PROBE_SECONDS = 1.5
"""For the search in the program, whose threads run meanwhile."""

WALK_SECONDS = 0.8
"""To walk through the objects of the program, which stands still meanwhile."""

INSTANCES_SECONDS = 2.0
"""For the same, for some instances of a class one after another."""

VALUE_LENGTH = 60
"""Characters of a class attribute's value, or of a default."""

MAX_MODULES = 10_000
"""Modules of a program that are asked for; of one with more it is not known which files it has loaded."""


class ModulePage(Struct, frozen=True):
    """Modules, and how many there are of those that are asked for; `failure`: why the probe has not listed them."""

    modules: tuple[Module, ...]
    total: int
    failure: Unanswered | None = None


class ProgramTypes:
    """What one session's program consists of."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways

    def __repr__(self) -> str:
        return f"<ProgramTypes of {self._ways.requests.session_id}>"

    @property
    def need_frame(self) -> bool:
        """Whether symbols are searched by commands of the debugger, which it takes while the program is paused."""
        return self._ways.profile.symbols is not None

    async def describe(self, place: SafePlace, expression: str, asked: MembersQuestion) -> DescribedType:
        """Return the type that an expression names, or that its value is of.

        Raises:
            UsageError: `SAFE_EVAL_REJECTED`, `EVAL_FAILED`, `EVAL_TIMEOUT`, `INVALID_PARAMETER` or `NOT_SUPPORTED`.
        """
        if not self._ways.has_probe:
            return await native_type(self._ways, place, expression, asked)
        return await ask_safely(
            self._ways,
            place,
            "type",
            DescribedType,
            expression,
            within=SECONDS,
            seconds=PROBE_SECONDS,
            limit=VALUE_LENGTH,
            filter=asked.filter,
            only=asked.kind,
            inherited=asked.inherited,
            start=asked.start,
            count=asked.count,
        )

    async def symbols(self, frame: StackFrame | None, asked: SymbolsQuestion) -> Symbols:
        """Return a page of the types and functions whose names match; `frame` where they `need_frame`.

        Raises:
            UsageError: `EVAL_TIMEOUT` or `NOT_SUPPORTED`; as `native_symbols`.
        """
        commands = self._ways.profile.symbols
        if commands is not None and frame is not None:
            return await native_symbols(self._ways, frame, commands, asked)
        self._check_probe("symbols_search", "it has no request for that")
        ask = partial(
            self._ways.probe.ask,
            "symbols",
            Symbols,
            within=SECONDS,
            seconds=PROBE_SECONDS,
            limit=VALUE_LENGTH,
            code=False,
            pattern=asked.pattern,
            only=asked.kind,
            module=asked.module,
            start=asked.start,
            count=asked.count,
        )
        words = f"`{shortened(asked.pattern)}`"
        found = await self._ways.probed(ask, About(words, timeout="EVAL_TIMEOUT"))
        if isinstance(found, Unanswered):
            sentence = f"{words} cannot be searched: {found.reason}."
            raise UsageError("NOT_SUPPORTED", sentence, {"adapter": self._ways.profile.name})
        return found

    async def references(self, place: SafePlace, expression: str, direction: str, count: int) -> References:
        """Return what refers to the value of an expression, and what it refers to.

        Raises:
            UsageError: as `describe`; `INVALID_PARAMETER` for a number or a short text.
        """
        self._check_probe("references_get", "it does not tell what refers to an object")
        return await ask_safely(
            self._ways,
            place,
            "references",
            References,
            expression,
            within=SECONDS,
            seconds=WALK_SECONDS,
            limit=VALUE_LENGTH,
            direction=direction,
            count=count,
        )

    async def instances(self, place: SafePlace, name: str, count: int) -> Instances:
        """Return how many instances of a class there are, and the ways that hold them.

        Raises:
            UsageError: as `describe`; `INVALID_PARAMETER` for what is not a class.
        """
        self._check_probe("references_get", "it does not tell what refers to an object")
        return await ask_safely(
            self._ways,
            place,
            "instances",
            Instances,
            name,
            within=SECONDS,
            seconds=INSTANCES_SECONDS,
            limit=VALUE_LENGTH,
            count=count,
        )

    def _check_probe(self, tool: str, why: str) -> None:
        """Refuse what only the probe knows, where there is none."""
        if not self._ways.has_probe:
            name = self._ways.profile.name
            raise UsageError("NOT_SUPPORTED", f"{name} has no answer to {tool}: {why}.", {"adapter": name})

    # --- Modules ---------------------------------------------------------------------------------------------

    async def modules(self, start: int, count: int, word: str | None) -> ModulePage:
        """Return a page of the modules with this word in their name or file; without the probe, all that are known.

        Raises:
            UsageError: `NOT_SUPPORTED`: the adapter does not tell them.
        """
        ask = partial(self._ways.probe.ask, "modules", Modules, start=start, count=count, filter=word)
        found = await self._ways.probed_alone(ask)
        if isinstance(found, Seen):
            known = self._ways.snapshot.modules
            if not known and not self._ways.has_probe:
                requests = self._ways.requests
                requests.need("supportsModulesRequest", "tell what is loaded", "Use stacktrace_get and sources_list.")
            return ModulePage(known, len(known), found.failure)
        loaded = [
            Module(module.name, module.name, module.file, module.version, None, not module.library)
            for module in found.modules
        ]
        return ModulePage(tuple(loaded), found.total)

    async def loaded_files(self) -> frozenset[str] | None:
        """Return the files of all modules that the program has loaded; None if it does not tell all of them."""
        found = await self._ways.probe.quietly("modules", Modules, start=0, count=MAX_MODULES, size=MAX_SIZE)
        if found is None or len(found.modules) < found.total:
            return None
        return frozenset(module.file for module in found.modules if module.file is not None)
