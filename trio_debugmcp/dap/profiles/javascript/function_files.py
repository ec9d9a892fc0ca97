"""Functions in the files of a program of JavaScript or TypeScript, by the names that people have for them.

    functions_named("Cart.add", ["/x/src/app.ts"], ["/x"])      # [("/x/src/cart.ts", FunctionCode)]

A name is that of a function, with its class, the object that it is in, or its file in front of it: `cart.add`. A class
stands for its constructor. Files of packages are left out, and files that others were built to, where those are there.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import FunctionCode
from trio_debugmcp.dap.profiles.javascript.script_tokens import MOST_TOKENS, ScriptTokens, is_name
from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.dap.profiles.searched_files import text_of

_NEVER_METHODS = frozenset(
    ("if", "for", "while", "switch", "catch", "with", "function", "return", "await", "async", "typeof", "super", "of")
)
"""Words that may stand before brackets, and these before a brace."""

_NOT_IN_NAMES = frozenset(("module", "exports", "this", "prototype", "globalThis", "window"))
"""Parts of what a function is assigned to that its users do not call it by."""


_MOST_NESTED = 50
"""Functions around one that is named with them all; people write none deeper."""

_TYPED = frozenset(("const", "let", "var", "readonly", "private", "protected", "public", "static"))
"""Before a name whose colon stands before a type."""


class _Found(Struct, frozen=True):
    """A function, or a class or an object that has some; `start`, `opens` and `closes` are numbers of tokens."""

    name: str
    start: int
    opens: int
    closes: int
    is_function: bool = True


@lru_cache(maxsize=16)
def functions_in(text: str) -> tuple[FunctionCode, ...]:
    """Return the functions of a file, in their order."""
    code = ScriptTokens(text)
    those = _Functions(code)
    functions: list[FunctionCode] = []
    around: list[_Found] = []
    for found in those.found():
        while around and around[-1].closes < found.start:
            around.pop()
        if around and around[-1].opens == found.opens:  # `const a = function b() {`
            continue
        if len(around) >= _MOST_NESTED:
            continue
        names = [*(each.name for each in around), found.name]
        around.append(found)
        if found.is_function:
            line, column = code.place(those.first_statement(found))
            first, last = code.place(found.start)[0], code.place(found.closes)[0]
            functions.append(FunctionCode(found.name.rpartition(".")[2], ".".join(names), first, line, last, column))
    return tuple(functions)


class _Functions:
    """Those among the tokens of a text."""

    def __init__(self, code: ScriptTokens) -> None:
        self._code = code
        self._around = code.around()
        self._of_types = set[int | None]()  # braces that hold types of members, or fields of a class

    def __repr__(self) -> str:
        return f"<_Functions of {self._code!r}>"

    def found(self) -> Iterator[_Found]:
        """Yield functions, classes and objects with names."""
        for token, word in enumerate(self._code.words):
            if not is_name(word):
                continue
            following = self._code.word(token + 1)
            self._note_types(token)
            if word in ("class", "namespace") and is_name(following):
                found = self._scope(following, token, self._code.block(token))
            elif word == "function":
                found = self._declared(token)
            elif following == "=" and self._code.word(token - 1) != "type":
                found = self._assigned(token, token + 2)
            elif following == ":":
                value = self._value_of(token)
                found = None if value is None else self._assigned(token, value)
            elif (
                following in ("(", "<")
                and word not in _NEVER_METHODS
                and self._code.word(token - 1) not in (".", "new")
            ):
                found = self._with_parameters(word, token, token + 1, arrow=False)
            else:
                continue
            if found is not None:
                yield found

    def first_statement(self, function: _Found) -> int:
        """Return the token that a call runs first; the end of the body where there is nothing."""
        token = function.opens
        if self._code.words[token] != "{":
            return token
        token += 1
        while token < function.closes and (behind := self._code.behind_declaration(token)) is not None:
            token = behind
        return min(token, function.closes)

    def _scope(self, name: str, start: int, opens: int | None) -> _Found | None:
        if opens is None or opens not in self._code.closing:
            return None
        return _Found(name, start, opens, self._code.closing[opens], is_function=False)

    def _declared(self, token: int) -> _Found | None:
        name = token + 2 if self._code.word(token + 1) == "*" else token + 1
        if not is_name(self._code.word(name)):
            return None
        return self._with_parameters(self._code.words[name], token, name + 1, arrow=False)

    def _note_types(self, token: int) -> None:
        """Note the brace that a class, an interface or a type opens here, or a member of such."""
        word, following = self._code.word(token), self._code.word(token + 1)
        if word in ("class", "interface"):
            self._of_types.add(self._code.block(token))
        elif word == "type" and is_name(following):
            behind = token + 2
            behind = self._code.behind_generics(behind) if self._code.word(behind) == "<" else behind
            self._of_types.add(behind + 1)
        elif following == ":" and self._has_type(token):
            self._of_types.add(token + 2)

    def _has_type(self, token: int) -> bool:
        """Whether a type stands behind the colon of a name, and no value."""
        around = self._around[token]
        if self._code.word(token - 1) in _TYPED or around in self._of_types:
            return True
        return around is not None and self._code.words[around] == "(" and not self._code.is_alternative(token)

    def _value_of(self, token: int) -> int | None:
        """Return where the value of a name with a colon begins: behind it, or behind the type; None if it has none."""
        value, end = token + 2, min(len(self._code.words), token + MOST_TOKENS)
        if self._has_type(token):
            while value < end and self._code.words[value] not in ("=", ",", ";", ")", "}"):
                value = self._code.closing.get(value, value) + 1
            return value + 1 if self._code.word(value) == "=" else None
        around = self._around[token]
        is_member = around is not None and self._code.words[around] == "{" and not self._code.is_alternative(token)
        return value if is_member else None

    def _assigned(self, token: int, value: int) -> _Found | None:
        name = self._path_to(token)
        value += self._code.word(value) == "async"
        if self._code.word(value) == "{":
            return self._scope(name, token, value)
        if self._code.word(value) == "function":
            value += 1
            value += self._code.word(value) == "*"
            value += is_name(self._code.word(value))
            return self._with_parameters(name, token, value, arrow=False)
        if is_name(self._code.word(value)) and self._code.word(value + 1) == "=>":
            return self._with_body(name, token, value + 2)
        return self._with_parameters(name, token, value, arrow=True)

    def _path_to(self, token: int) -> str:
        """Return the name that ends with a token, with what is in front of it."""
        names = [self._code.words[token]]
        while self._code.word(token - 1) == "." and is_name(self._code.word(token - 2)):
            token -= 2
            names.insert(0, self._code.words[token])
        return ".".join([each for each in names[:-1] if each not in _NOT_IN_NAMES] + names[-1:])

    def _with_parameters(self, name: str, start: int, token: int, *, arrow: bool) -> _Found | None:
        if self._code.word(token) == "<":
            token = self._code.behind_generics(token)
        if self._code.word(token) != "(" or token not in self._code.closing:
            return None
        body = self._code.behind_type(self._code.closing[token] + 1, arrow=arrow)
        return None if body is None else self._with_body(name, start, body)

    def _with_body(self, name: str, start: int, body: int) -> _Found | None:
        if self._code.word(body) == "{":
            return _Found(name, start, body, self._code.closing[body]) if body in self._code.closing else None
        return _Found(name, start, body, self._code.end_of_expression(body)) if body < len(self._code.words) else None


SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_MAX_FILES = 500
"""That are looked through; more are not of one program."""

_MAX_DIRECTORIES = 2000

_MAX_FILE_BYTES = 1024 * 1024
"""Of a file; a larger one is a bundle."""

_MAX_BYTES = 8 * 1024 * 1024
"""Of all files: to look through more takes many seconds."""

_SOURCE_MAP = "sourceMappingURL="

_MAX_MAP_LENGTH = 2000
"""At the end of a file that was built: the line that names its source map. One with the map in it is taken as it is."""

Found = tuple[str, FunctionCode]


class _Source(Struct, frozen=True):
    """A file as it is on disk: its size, and when it was changed in nanoseconds."""

    path: str
    size: int
    changed: int


def functions_named(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return the functions that a name may mean: in these files first, then in others near them.

    Those of one file, and those of all others, are in the order of what is around them: nothing at all first.
    """
    found = _defined(_sources(files, directories), name)
    known = {file: number for number, file in reversed([*enumerate(files)])}
    return sorted(found, key=lambda each: (known.get(each[0], len(files)), each[1].qualname.count(".")))


def functions_alike(name: str, files: Sequence[str], directories: Sequence[str]) -> list[Found]:
    """Return functions whose names are like one that there is not."""
    defined = _defined(_sources(files, directories))
    names = {number: each.name for number, (_, each) in enumerate(defined)}
    return [defined[number] for number in named_alike(name.rpartition(".")[2], names)]


def left_out(files: Sequence[str], directories: Sequence[str]) -> str:
    """Return a sentence if there are more files than a search looks through; else an empty one."""
    looked = sum(1 for _ in _sources(files, directories))
    is_whole = looked == sum(1 for _ in islice(_paths(files, directories), looked + 1))
    return "" if is_whole else f"only {looked} files of the program were looked through, which has more"


def _defined(sources: Iterable[_Source], name: str | None = None) -> list[Found]:
    """Return functions, those that a name may mean; of files that were built only where there are no others."""
    found: list[Found] = []
    built: list[Found] = []
    for source in sources:
        text = _text(source.path)
        if name is None or name.rpartition(".")[2] in text:
            defined = ((source.path, each) for each in _functions(source))
            meant = [each for each in defined if name is None or is_called(name, *each)]
            (built if _SOURCE_MAP in text[-_MAX_MAP_LENGTH:] else found).extend(meant)
    return found or built


def is_called(name: str, file: str, function: FunctionCode) -> bool:
    """Whether a name may mean a function of a file."""
    called = f".{Path(file).name.partition('.')[0]}.{function.qualname}"
    return called.endswith((f".{name}", f".{name}.constructor"))


@lru_cache(maxsize=2 * _MAX_FILES)
def _functions(source: _Source) -> tuple[FunctionCode, ...]:
    return functions_in(_text(source.path))


def _text(file: str) -> str:
    try:
        return text_of(file, _MAX_FILE_BYTES).replace("\r\n", "\n")
    except OSError:
        return ""


def _sources(files: Sequence[str], directories: Sequence[str]) -> Iterator[_Source]:
    """Yield what is looked through."""
    left = _MAX_BYTES
    for path in islice(_paths(files, directories), _MAX_FILES):
        try:
            status = os.stat(path)
        except OSError:
            status = None
        size = 0 if status is None else min(status.st_size, _MAX_FILE_BYTES)
        if size > left:
            return
        left -= size
        yield _Source(path, size, 0 if status is None else status.st_mtime_ns)


def _paths(files: Sequence[str], directories: Sequence[str]) -> Iterator[str]:
    """Yield the files of a program, and those in these directories and in its packages, each once."""
    places = [*directories, *(package for file in files if (package := _package_of(file)) is not None)]
    seen = set[str]()
    for path in chain((each for each in files if _is_own(each)), _files(places)):
        if path not in seen:
            seen.add(path)
            yield path


def _package_of(file: str) -> str | None:
    """Return the directory of the package that a file is of."""
    above = Path(file).parents
    return next((str(each) for each in above if (each / "package.json").is_file()), None) if _is_own(file) else None


def _is_own(file: str) -> bool:
    return (
        file.endswith(SUFFIXES) and not file.endswith((".d.ts", ".min.js")) and "node_modules" not in Path(file).parts
    )


def _files(directories: Sequence[str]) -> Iterator[str]:
    """Yield the files in these directories and below them, those of the first first."""
    looked_into = 0
    for directory in dict.fromkeys(directories):
        for folder, folders, names in os.walk(directory):
            looked_into += 1
            inner = () if _is_wide(directory) else folders
            folders[:] = sorted(each for each in inner if not each.startswith(".") and each != "node_modules")
            yield from filter(_is_own, (os.path.join(folder, name) for name in sorted(names)))
            if looked_into > _MAX_DIRECTORIES:
                return


def _is_wide(directory: str) -> bool:
    """Whether too much is below a directory, which is not of one program."""
    return directory in ("/", os.path.expanduser("~"))
