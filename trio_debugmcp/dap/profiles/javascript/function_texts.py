"""Functions in the text of JavaScript and TypeScript, and where a call of each begins. Pure.

    functions_in("class A { b(c) { return c; } }")      # one FunctionCode: `A.b`, in line 1 from column 18 on

No parser: what stands before a body says whose it is. A function is known by its declaration, as a method, or by the
name that it is assigned to.
"""

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from trio_debugmcp.dap.profiles.function_code import FunctionCode
from trio_debugmcp.dap.profiles.javascript.script_tokens import MOST_TOKENS, ScriptTokens, is_name

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
