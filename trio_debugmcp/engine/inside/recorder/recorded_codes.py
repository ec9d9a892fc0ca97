"""`RecordedCodes`: which code is recorded, and what is said of it once: its facts, its source, its statements.

    code_record = codes.of(code, frame)         # None: it is of a library, or ours
    site = codes.site(code_record, 24)          # the statement on that line

Code objects are known by identity: equal ones are different functions.
"""

import _thread
from typing import Any, Callable

from trio_debugmcp.engine.inside.interruptions import is_own_code
from trio_debugmcp.engine.inside.program_files import ProgramFiles, absolute
from trio_debugmcp.engine.inside.program_sources import ProgramSources
from trio_debugmcp.engine.inside.recorder.generated_texts import GeneratedTexts
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_plans import bare_plans, source_plans
from trio_debugmcp.engine.inside.recorder.statement_reader import StatementPlan
from trio_debugmcp.engine.inside.recorder.statement_sites import SiteMaker, StatementSite
from trio_debugmcp.engine.inside.recorder.value_words import START, ValueWords

_MOST_SOURCES = 2000

_FLAGS = ((0x80, "coroutine"), (0x200, "async_generator"), (0x20, "generator"))

_FACTORIES = ("<module>", "__create_fn__")
"""Code by which a dataclass makes its methods: not of the program, and nothing else is done in it."""

_OPTIMIZED, _VARARGS, _KEYWORDS, _GENERATOR = 0x1, 0x4, 0x8, 0x20


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


class CodeRecord:
    """A code object that is recorded.

    Attributes:
        number: in the record.
        sites: by line; filled as lines run.
        is_secret: its name is that of a secret, so its results are not written.
        has_rounds: it is a generator expression: each value that it yields is a run of its line.
        parameters: (name, key, whether it is a secret) of each.
    """

    __slots__ = (
        *(
            "code",
            "has_rounds",
            "has_source",
            "is_function",
            "is_secret",
            "keys",
            "known_globals",
            "number",
            "parameters",
            "plans",
            "sites",
            "start",
        ),
    )

    def __init__(self, code: Any, number: int, plans: dict[int, StatementPlan]) -> None:
        self.code = code
        self.number = number
        self.start = (START >> 32) + number
        self.plans = plans
        self.sites: dict[int, StatementSite] = {}
        self.parameters: tuple[tuple[str, int, bool], ...] = ()
        self.known_globals: Any = None
        self.has_source = True
        self.has_rounds = code.co_name == "<genexpr>" and bool(code.co_flags & _GENERATOR)
        self.is_secret = is_secret(code.co_name)
        self.is_function = bool(code.co_flags & _OPTIMIZED)
        self.keys: dict[str, int] = {}

    def named(self, names: Any) -> list[tuple[str, int, bool]]:
        """Return (name, key, whether it is a secret) of those of a frame's names that the code has."""
        return [(name, key, is_secret(name)) for name, key in self.keys.items() if name in names]


class RecordedCodes:
    """All code that has been looked at.

    Attributes:
        by_id: `CodeRecord` of a code object, or None where it is not recorded.
        generated: the texts of code that is of no file.
    """

    def __init__(
        self, choice: RunChoice, words: ValueWords, objects: Any, files: Any, line_of: Callable[[Any], int]
    ) -> None:
        self.by_id: dict[int, CodeRecord | None] = {}
        self._choice = choice
        self._words = words
        self._objects = objects
        self._files = files
        self._sources = ProgramSources(choice.files)
        self._lock = _thread.RLock()
        self._maker = SiteMaker(words)
        self._plans: dict[Any, Any] = {}
        self.generated = GeneratedTexts(line_of)
        self._codes = 0
        self._sites = 0
        self._globals: set[int] = set()

    def of(self, code: Any, frame: Any) -> CodeRecord | None:
        """Return the record of a code object that begins in a frame, or None if it is not recorded."""
        known = self.by_id.get(id(code))
        if known is not None and known.code is code:
            return known
        if not self._is_wanted(code, frame):
            self._say_library(code, frame)
            return None
        with self._lock:  # another thread may begin the same code
            known = self.by_id.get(id(code))
            if known is None or known.code is not code:
                known = self.by_id[id(code)] = self._made(code, frame)
            return known

    def _is_wanted(self, code: Any, frame: Any) -> bool:
        file = code.co_filename
        if is_own_code(code) or file[:8] == "<frozen ":
            return False
        names = frame.f_globals
        if file[:1] != "<":
            module = dict.get(names, "__name__")
            if self._choice.takes(file, module if type(module) is str else ""):
                return True
            if self._sources.is_of_file(frame):
                return False
        back = frame.f_back
        if code.co_qualname in _FACTORIES and back is not None and _is_of(back, "dataclasses"):
            with self._lock:
                self.generated.of(code, frame)  # the text of the methods, too, which are recorded
            return False
        if id(names) in self._globals:
            return True
        return back is not None and self.by_id.get(id(back.f_code)) is not None

    def _say_library(self, code: Any, frame: Any) -> None:
        """Write which code of a library a recorded line has called: as often as that code is looked at, mostly once."""
        back, module = frame.f_back, dict.get(frame.f_globals, "__name__")
        caller = None if back is None else self.by_id.get(id(back.f_code))
        if caller is None or type(module) is not str or self._choice.files.is_standard(code.co_filename):
            return
        line = back.f_lineno or 0
        self._files.fact({"library": module, "called": code.co_qualname, "by": caller.number, "line": line})

    def _made(self, code: Any, frame: Any) -> CodeRecord:
        self._codes += 1
        number = self._codes
        name = code.co_filename
        if not self._sources.is_of_file(frame):
            name = f"<{absolute(name)}>"
        found = self.generated.of(code, frame) if name[:1] == "<" else None
        source, plans = self._planned(code, name) if found is None else self._generated(code, name, found[0])
        made = CodeRecord(code, number, bare_plans(code) if plans is None else plans)
        made.has_source = plans is not None
        made.known_globals = self._known_globals(frame, is_executed=name[:1] == "<")
        words = self._words
        every = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        made.keys = {name: words.key(name) for name in every or code.co_names}
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _KEYWORDS)
        made.parameters = tuple([(name, words.key(name), is_secret(name)) for name in code.co_varnames[:count]])
        module = dict.get(frame.f_globals, "__name__")
        self._files.fact(
            {
                "code": number,
                "file": absolute(name) if name[:1] != "<" else name,
                "name": code.co_qualname,
                "first": code.co_firstlineno,
                "kind": _kind(code),
                "source": source,
                "lines": () if plans is None else _ranges(plans),
                "compiled": 0 if found is None else found[1],  # below 0: by a library
                "params": code.co_varnames[:count],
                "cells": code.co_cellvars,
                "free": code.co_freevars,
                "module": module if type(module) is str else "",
                "globals": made.known_globals.number,
            }
        )
        return made

    def _known_globals(self, frame: Any, *, is_executed: bool) -> Any:
        """Return what is known of the namespace of a module: held for good, but for those of executed texts."""
        names = frame.f_globals
        if is_executed:
            return self._objects.of(names)
        self._globals.add(id(names))
        return self._objects.pinned(names)

    def globals_of(self, record: CodeRecord, frame: Any) -> Any:
        """Return what is known of the namespace of a frame's module."""
        known = record.known_globals
        is_executed = record.code.co_filename[:1] == "<" or not self._sources.is_of_file(frame)
        return known if known.held is frame.f_globals else self._known_globals(frame, is_executed=is_executed)

    def _generated(self, code: Any, name: str, text: bytes) -> tuple[int, dict[int, StatementPlan] | None]:
        """Return the same of code that is of no file, by the text that it was made of."""
        key = name, text
        if key not in self._plans:
            if len(self._plans) >= _MOST_SOURCES:
                self._plans.clear()
            self._plans[key] = self._files.source(name, text), source_plans(text)
        source, plans = self._plans[key]
        return source, None if plans is None else plans.of(code)

    def _planned(self, code: Any, name: str) -> tuple[int | None, dict[int, StatementPlan] | None]:
        """Return the number of the source of a code object, and its plans."""
        if name not in self._plans:
            if len(self._plans) >= _MOST_SOURCES:
                self._plans.clear()
            text = self._sources.of_name(name)
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
        with self._lock:
            known = code_record.sites.get(plan.first)
            if known is None or known.plan is not plan:
                known = self._new_site(code_record, plan)
            code_record.sites[line] = known
            return known

    def _new_site(self, code_record: CodeRecord, plan: StatementPlan) -> StatementSite:
        self._sites += 1
        site = self._maker.made(self._sites, code_record.code, plan)
        code_record.sites[plan.first] = site
        self._files.fact({"site": site.number, "code": code_record.number, "line": plan.first})
        return site


def _ranges(lines: Any) -> list[int]:
    """Return the lines of the statements of code: the first of each range of them, and the one behind its last."""
    ranges: list[int] = []
    for line in sorted(lines):
        if ranges and ranges[-1] == line:
            ranges[-1] = line + 1
        else:
            ranges += [line, line + 1]
    return ranges


def _is_of(frame: Any, module: str) -> bool:
    """Whether a frame is of a module of that name."""
    name = dict.get(frame.f_globals, "__name__")
    return type(name) is str and name == module


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
