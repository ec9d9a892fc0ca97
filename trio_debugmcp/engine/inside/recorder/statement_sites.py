"""`StatementSite`: a statement of one code object as the recorder uses it, with the numbers of all its keys.

    site = SiteMaker(words).made(3, code, plan)
    site.names, site.checks, site.stores

Made when the statement runs for the first time.
"""

from itertools import pairwise
from typing import Any

from trio_debugmcp.engine.inside.recorder.hidden_plans import ANY, HiddenPlan
from trio_debugmcp.engine.inside.recorder.known_contents import SHARE
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_reader import (
    ATTRIBUTE,
    CHANGED,
    CONSTANT,
    ENTERED,
    NAME,
    StatementPlan,
)
from trio_debugmcp.engine.inside.recorder.value_words import LINE, WRITE, ValueWords

LOCAL, CELL, GLOBAL, EITHER = 0, 1, 2, 3
"""Where a name is: `EITHER` in the namespace of a class or module, or in the globals."""

_OPTIMIZED = 0x1

_ANY_LINE = (0, 1 << 29)


class StatementSite:
    """A statement of one code object, as the recorder uses it.

    Attributes:
        number: in the record.
        names: (name, key, when) of what it stores in its frame; `fields`: in its globals.
        has_rounds: it is a loop on one line, or a comprehension that stores a name: what it leaves as it was may
            have been stored again.
        stores: of attributes and items; `anew`: places of those whose object the statement may have named itself.
        checks: (where its name is, name, key, steps, what may happen to it, whether it is a secret) of paths.
        locals: those of local names, as (name, steps, what may happen to it); `local_names`: these names.
        share: items of long containers that it may still have copied.
        others: the other checks; is_plain: there are none.
        hidden: `HiddenSite`: what it may write without saying where, or None.
        single: of the one name that it stores, when it has run to its end: (name, kind and key of its row, lines
            that come next if it has been stored); or None.
        begins: the offset of its first instruction, once that was asked for; -1: it was not.
        steps: by the line that has come next, (name, kind and key of its row, site of that line), where nothing but one
            name is written, or nothing.
    """

    __slots__ = (
        *(
            "anew",
            "block",
            "checks",
            "fields",
            "has_writes",
            "has_rounds",
            "is_with",
            "line",
            "mutates",
            "names",
            "number",
            "plan",
            "share",
        ),
        *(
            "key",
            "exit",
            "fields_of_module",
            "hidden",
            "has_conflict",
            "is_long",
            "is_plain",
            "local_names",
            "locals",
            "others",
            "single",
            "steps",
        ),
        *("begins", "stores", "with_ends"),
    )

    def __init__(self, number: int, plan: StatementPlan, names: Any, fields: Any, checks: Any) -> None:
        self.number = number
        self.key = LINE >> 32 | number
        self.locals = tuple([(name, steps, flags) for where, name, _, steps, flags, _ in checks if where == LOCAL])
        self.local_names = frozenset([name for name, _, _ in self.locals])
        self.others = tuple([check for check in checks if check[0] != LOCAL])
        self.is_plain = not self.others
        self.single: Any = None
        self.steps: dict[int, Any] = {}
        self.share = SHARE
        self.plan = plan
        self.line = plan.first
        self.names = names
        self.fields = fields
        self.stores: tuple[Any, ...] = ()
        self.anew: frozenset[int] = frozenset()
        self.block = plan.block
        self.is_with = plan.is_with
        self.has_rounds = (plan.is_loop and plan.is_compound) or plan.has_rounds
        self.checks = checks
        self.mutates = plan.mutates
        self.has_writes = bool(names or fields or self.stores or plan.mutates)
        self.begins = -1
        self.with_ends = 0
        self.is_long = plan.last > plan.first
        self.fields_of_module: tuple[Any, ...] = ()
        self.has_conflict = False
        self.hidden: Any = None
        self.exit: Any = None


class HiddenSite:
    """What a statement may write without saying where: `HiddenPlan`, with the numbers of keys.

    Attributes:
        plan: what is to be looked at.
        keys: (key, name) of the attributes of objects that no path leads to; any: it is not known of which ones.
        exposed: paths to objects, as (name, steps); `resized`: to what may be an array that is resized.
    """

    __slots__ = ("exposed", "is_any", "keys", "plan", "resized")

    def __init__(self, plan: HiddenPlan, keys: Any, exposed: Any, resized: Any) -> None:
        self.plan = plan
        self.keys = keys
        self.is_any = ANY in plan.attributes
        self.exposed = exposed
        self.resized = resized


class SiteMaker:
    """Makes the sites of statements."""

    def __init__(self, words: ValueWords) -> None:
        self._words = words

    def made(self, number: int, code: Any, plan: StatementPlan) -> StatementSite:
        """Return the site of a statement in a code object, with this number in the record."""
        words, is_function = self._words, bool(code.co_flags & _OPTIMIZED)
        local_names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        names, fields = [], []
        for name, when in plan.names.items():
            secret = is_secret(name)
            if is_function and name not in local_names:
                if when != CHANGED or name in code.co_names:
                    fields.append((name, words.key(f".{name}"), when, secret))
            else:
                names.append((name, words.key(name), when, secret))
        site = StatementSite(number, plan, tuple(names), tuple(fields), self._checks(code, plan))
        site.stores = self._stores(code, plan)
        site.anew = frozenset([place for place, store in enumerate(plan.stores) if store in plan.anew])
        site.has_writes = site.has_writes or bool(site.stores)
        if not is_function:
            site.fields_of_module = tuple([(name, words.key(f".{name}"), *rest) for name, _, *rest in names])
        stored = set(plan.names)
        site.has_conflict = plan.is_compound or any([stored & _names_of(base, step) for base, step in plan.stores])
        site.is_plain = not site.others and not site.has_conflict
        if is_function and len(names) == 1 and not fields and not site.stores:
            name, key, when, secret = names[0]
            if when != CHANGED and not secret:
                block = plan.block or _ANY_LINE
                site.single = (name, WRITE >> 32 | key, *(block if when == ENTERED else _ANY_LINE))
        if plan.hidden is not None:
            site.hidden = self._hidden(code, plan.hidden)
            site.has_writes, site.is_plain, site.single = True, False, None
        if plan.is_with:
            site.exit = StatementSite(number, StatementPlan(plan.first, plan.last), (), (), ())
            site.with_ends = _first_run(code, plan)
        return site

    def _hidden(self, code: Any, plan: HiddenPlan) -> HiddenSite:
        cls = _class_of(code)
        names = [mangled(name, cls) for name in sorted(plan.attributes) if name != ANY]
        exposed, resized = [
            tuple([(name, tuple([self._step(how, what, cls) for how, what in steps])) for name, steps in paths])
            for paths in (plan.exposed, plan.resized)
        ]
        return HiddenSite(plan, tuple([(self._words.key(f".{name}"), name) for name in names]), exposed, resized)

    def _stores(self, code: Any, plan: StatementPlan) -> tuple[Any, ...]:
        """Return (name, steps to the object, last step) of the attributes and items that are stored."""
        cls = _class_of(code)
        stores = []
        for (name, steps), last in plan.stores:
            gone = tuple([self._step(how, what, cls) for how, what in steps])
            stores.append((name, gone, None if last is None else self._step(last[0], last[1], cls)))
        return tuple(stores)

    def _checks(self, code: Any, plan: StatementPlan) -> tuple[Any, ...]:
        """Return the paths that a statement goes, as the recorder goes them."""
        is_function = bool(code.co_flags & _OPTIMIZED)
        shared = {*code.co_cellvars, *code.co_freevars}
        cls = _class_of(code)
        checks = []
        for (name, steps), flags in plan.paths.items():
            if name in shared:
                where = CELL
            elif is_function:
                where = LOCAL if name in code.co_varnames else GLOBAL
            else:
                where = EITHER
            key = self._words.key(name if where in (LOCAL, CELL) else f".{name}")
            gone = tuple([self._step(how, what, cls) for how, what in steps])
            checks.append((where, name, key, gone, flags, is_secret(name)))
        return tuple(checks)

    def _step(self, how: int, what: Any, cls: str) -> tuple[int, Any, int, bool]:
        """Return a step as (how, what, key, whether it is a secret)."""
        if how == ATTRIBUTE:
            name = mangled(what, cls)
            return how, name, self._words.key(f".{name}"), is_secret(name)
        if how == CONSTANT:
            return how, what, self._words.item_key(what), type(what) is str and is_secret(what)
        return how, what, 0, False


def _names_of(base: Any, step: Any) -> set[str]:
    """Return the names by which a path goes."""
    return {base[0], *[what for how, what in (*base[1], step or (0, "")) if how == NAME]}


def mangled(name: str, cls: str) -> str:
    """Return an attribute's name as the compiler has it in a class: `__x` is private there."""
    if cls and name[:2] == "__" and name[-2:] != "__":
        return f"_{cls}{name}"
    return name


def _class_of(code: Any) -> str:
    """Return the name of the class around code, without the underscores at its begin; empty if there is none."""
    parts = code.co_qualname.split(".")
    names = [part for part, after in pairwise(parts) if after != "<locals>" and part != "<locals>"]
    if not code.co_flags & _OPTIMIZED and code.co_name[:1] != "<":
        names.append(code.co_name)
    return str(names[-1]).lstrip("_") if names else ""


def _first_run(code: Any, plan: StatementPlan) -> int:
    """Return the offset at which the first run of instructions of a statement's lines ends."""
    begun = False
    for start, _, line in code.co_lines():
        inside = line is None or plan.first <= line <= plan.last
        if begun and not inside:
            return int(start)
        begun = begun or (inside and line is not None)
    return len(code.co_code)
