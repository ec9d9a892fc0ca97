"""`RecordedCodes`: which code is recorded, and what is said of it once: its facts, its source, its statements.

    code_record = codes.of(code, frame)         # None: it is of a library, or ours
    site = codes.site(code_record, 24)          # the statement on that line

Code objects are known by identity: equal ones are different functions.
"""

from itertools import pairwise
from typing import Any

from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.program_files import ProgramFiles, absolute
from trio_debugmcp.engine.inside.program_sources import ProgramSources
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_plans import bare_plans, source_plans
from trio_debugmcp.engine.inside.recorder.statement_reader import ATTRIBUTE, CHANGED, CONSTANT, NAME, StatementPlan
from trio_debugmcp.engine.inside.recorder.value_words import ValueWords

_MOST_SOURCES = 2000

LOCAL, CELL, GLOBAL, EITHER = 0, 1, 2, 3
"""Where a name is: `EITHER` in the namespace of a class or module, or in the globals."""

_FLAGS = ((0x80, "coroutine"), (0x200, "async_generator"), (0x20, "generator"))

_OPTIMIZED, _VARARGS, _KEYWORDS = 0x1, 0x4, 0x8


class RunChoice:
    """Which files are recorded.

    Args:
        root: The project's directory.
        include: Beginnings of paths, or names of modules, which are recorded too.
        home: The directory that has brought us.
    """

    def __init__(self, root: str, include: list[str], home: str) -> None:
        self.files = ProgramFiles(home)
        self._root = self.files.real(absolute(root)).rstrip("/") + "/"
        self._paths = [self.files.real(absolute(each)) for each in include if "/" in each]
        self._modules = [each for each in include if "/" not in each]

    def takes(self, file: str, module: str) -> bool:
        """Whether code of a file is recorded."""
        if any(module == each or module.startswith(f"{each}.") for each in self._modules):
            return True
        path = self.files.real(file)
        for each in self._paths:
            if path == each or path.startswith(each.rstrip("/") + "/"):
                return True
        return path.startswith(self._root) and self.files.is_user(path)


class StatementSite:
    """A statement of one code object, as the recorder uses it.

    Attributes:
        number: in the record.
        names: (name, key, when) of what it stores in its frame; `fields`: in its globals.
        stores: of attributes and items.
        checks: (where its name is, name, key, steps, what may happen to it, whether it is a secret) of paths.
    """

    __slots__ = (
        *("block", "checks", "fields", "has_writes", "is_with", "line", "mutates", "names", "number", "plan"),
        *("exit", "fields_of_module", "has_conflict", "is_long", "stores", "with_ends"),
    )

    def __init__(self, number: int, plan: StatementPlan, names: Any, fields: Any, checks: Any) -> None:
        self.number = number
        self.plan = plan
        self.line = plan.first
        self.names = names
        self.fields = fields
        self.stores: tuple[Any, ...] = ()
        self.block = plan.block
        self.is_with = plan.is_with
        self.checks = checks
        self.mutates = plan.mutates
        self.has_writes = bool(names or fields or self.stores or plan.mutates)
        self.with_ends = 0
        self.is_long = plan.last > plan.first
        self.fields_of_module: tuple[Any, ...] = ()
        self.has_conflict = False
        self.exit: Any = None


class CodeRecord:
    """A code object that is recorded.

    Attributes:
        number: in the record.
        sites: by line; filled as lines run.
        parameters: (name, key) of each.
    """

    __slots__ = (
        *("code", "has_source", "is_function", "keys", "known_globals", "number", "parameters", "plans", "sites"),
    )

    def __init__(self, code: Any, number: int, plans: dict[int, StatementPlan]) -> None:
        self.code = code
        self.number = number
        self.plans = plans
        self.sites: dict[int, StatementSite] = {}
        self.parameters: tuple[tuple[str, int], ...] = ()
        self.known_globals: Any = None
        self.has_source = True
        self.is_function = bool(code.co_flags & _OPTIMIZED)
        self.keys: dict[str, int] = {}

    def named(self, names: Any) -> list[tuple[str, int]]:
        """Return (name, key) of those of a frame's names that the code has."""
        return [(name, key) for name, key in self.keys.items() if name in names]


class RecordedCodes:
    """All code that has been looked at.

    Attributes:
        by_id: `CodeRecord` of a code object, or None where it is not recorded.
    """

    def __init__(self, choice: RunChoice, words: ValueWords, objects: Any, files: Any) -> None:
        self.by_id: dict[int, CodeRecord | None] = {}
        self._choice = choice
        self._words = words
        self._objects = objects
        self._files = files
        self._sources = ProgramSources(choice.files)
        self._plans: dict[str, Any] = {}
        self._codes = 0
        self._sites = 0
        self._globals: set[int] = set()

    def of(self, code: Any, frame: Any) -> CodeRecord | None:
        """Return the record of a code object that begins in a frame, or None if it is not recorded."""
        known = self.by_id.get(id(code))
        if known is not None and known.code is code:
            return known
        if not self._is_wanted(code, frame):
            return None
        made = self.by_id[id(code)] = self._made(code, frame)
        return made

    def _is_wanted(self, code: Any, frame: Any) -> bool:
        file = code.co_filename
        if is_own_code(code):
            return False
        names = frame.f_globals
        if file[:1] != "<":
            module = dict.get(names, "__name__")
            return self._choice.takes(file, module if type(module) is str else "")
        if file[:8] == "<frozen ":
            return False
        if id(names) in self._globals:
            return True
        back = frame.f_back
        return back is not None and self.by_id.get(id(back.f_code)) is not None

    def _made(self, code: Any, frame: Any) -> CodeRecord:
        self._codes += 1
        number = self._codes
        source, plans = self._planned(code)
        made = CodeRecord(code, number, bare_plans(code) if plans is None else plans)
        made.has_source = plans is not None
        made.known_globals = self._known_globals(code, frame)
        words = self._words
        every = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        made.keys = {name: words.key(name) for name in every or code.co_names}
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _KEYWORDS)
        made.parameters = tuple([(name, words.key(name)) for name in code.co_varnames[:count]])
        module = dict.get(frame.f_globals, "__name__")
        self._files.fact(
            {
                "code": number,
                "file": absolute(code.co_filename) if code.co_filename[:1] != "<" else code.co_filename,
                "name": code.co_qualname,
                "first": code.co_firstlineno,
                "kind": _kind(code),
                "source": source,
                "params": code.co_varnames[:count],
                "cells": code.co_cellvars,
                "free": code.co_freevars,
                "module": module if type(module) is str else "",
                "globals": made.known_globals.number,
            }
        )
        return made

    def _known_globals(self, code: Any, frame: Any) -> Any:
        """Return what is known of the namespace of a module: held for good, but for those of executed texts."""
        names = frame.f_globals
        if code.co_filename[:1] == "<":
            return self._objects.of(names)
        self._globals.add(id(names))
        return self._objects.pinned(names)

    def globals_of(self, record: CodeRecord, frame: Any) -> Any:
        """Return what is known of the namespace of a frame's module."""
        known = record.known_globals
        return known if known.held is frame.f_globals else self._known_globals(record.code, frame)

    def _planned(self, code: Any) -> tuple[int | None, dict[int, StatementPlan] | None]:
        """Return the number of the source of a code object, and its plans."""
        name = code.co_filename
        if name not in self._plans:
            if len(self._plans) >= _MOST_SOURCES:
                self._plans.clear()
            text = self._sources.of_code(code)
            plans = None if text is None else source_plans(text)
            self._plans[name] = None if text is None else self._files.source(name, text), plans
        source, plans = self._plans[name]
        found = None if plans is None else plans.of(code)
        return (source if found is not None or name[:1] != "<" else None), found

    def site(self, code_record: CodeRecord, line: int) -> StatementSite | None:
        """Return the statement on a line of code, which now runs for the first time by that line.

        None: there is none, as on the first line of a class, in the class.
        """
        plan = code_record.plans.get(line)
        if plan is None:
            if code_record.has_source:
                return None
            plan = StatementPlan(line, line)
        known = code_record.sites.get(plan.first)
        if known is not None and known.plan is plan:
            code_record.sites[line] = known
            return known
        self._sites += 1
        code, words = code_record.code, self._words
        local_names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        is_function = bool(code.co_flags & _OPTIMIZED)
        names, fields = [], []
        for name, when in plan.names.items():
            secret = is_secret(name)
            if is_function and name not in local_names:
                if when != CHANGED or name in code.co_names:
                    fields.append((name, words.key(f".{name}"), when, secret))
            else:
                names.append((name, words.key(name), when, secret))
        site = StatementSite(self._sites, plan, tuple(names), tuple(fields), self._checks(code, plan))
        cls = _class_of(code)
        site.stores = tuple(
            [
                (
                    name,
                    tuple([self._step(how, what, cls) for how, what in steps]),
                    last and self._step(last[0], last[1], cls),
                )
                for (name, steps), last in plan.stores
            ]
        )
        site.has_writes = site.has_writes or bool(site.stores)
        if not is_function:
            site.fields_of_module = tuple([(name, words.key(f".{name}"), *rest) for name, _, *rest in names])
        stored = set(plan.names)
        site.has_conflict = any([stored & _names_of(base, step) for base, step in plan.stores])
        if plan.is_with:
            site.exit = StatementSite(site.number, StatementPlan(plan.first, plan.last), (), (), ())
            site.with_ends = _first_run(code, plan)
        code_record.sites[line] = code_record.sites[plan.first] = site
        self._files.fact({"site": site.number, "code": code_record.number, "line": plan.first})
        return site

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


def _kind(code: Any) -> str:
    name = code.co_name
    for flag, kind in _FLAGS:
        if code.co_flags & flag:
            return "genexpr" if name == "<genexpr>" else kind
    if name == "<module>":
        return "module"
    if name == "<lambda>":
        return "lambda"
    if name in ("<listcomp>", "<setcomp>", "<dictcomp>"):
        return "comprehension"
    return "function" if code.co_flags & _OPTIMIZED else "class"
