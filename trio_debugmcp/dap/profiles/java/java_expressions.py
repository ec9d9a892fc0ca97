"""Expressions, values and errors of Java, as its adapter has them. Pure.

After a call of a method it reads no variables any more in the same expression.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_values import AdapterValues, Compositions, Reading, Words
from trio_debugmcp.dap.profiles.java.java_values import reading_of
from trio_debugmcp.dap.profiles.java.jvm_sources import classes_of
from trio_debugmcp.dap.profiles.language import Code, Expressions

_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\|\||&&|[()\[\]?]|.", re.DOTALL)

_OBJECT = re.compile(r"[\w.$]+@\d+")

_LISTENING = re.compile(r"Listening for transport dt_socket at address: \d+\s*")
"""What the virtual machine of each program that is launched writes first."""

_FRAMES_OVER = "Thread has been resumed"


_LIBRARY = re.compile(
    r"(?:java|javax|jdk|sun|com/sun|junit|kotlin|scala|groovy"
    r"|org/(?:junit|opentest4j|hamcrest|assertj|mockito|testng|gradle|apache/maven|springframework))/"
)
"""Directories of packages that are of Java itself, and of what tests are made with."""


def is_of_library(name: str) -> bool:
    """Whether a class is Java's own, or of what tests are made with."""
    return _LIBRARY.match(name.replace(".", "/")) is not None


class JavaCode(Code):
    """Source files, which the adapter names by their package where it does not know where they are."""

    tells_library: ClassVar[bool] = True

    def classes_of(self, file: str, text: str | None, class_path: str) -> Sequence[tuple[str, Sequence[int]]]:
        """Return the classes that are made of a file of Kotlin or Scala, with their lines; `text`: if not on disk."""
        try:
            return classes_of(file, Path(file).read_text(errors="replace") if text is None else text, class_path)
        except OSError:  # the source is gone
            return []

    def is_library(self, file: str) -> bool:
        return _LIBRARY.match(file) is not None or not file.endswith((".java", ".kt", ".scala", ".groovy"))


class JavaExpressions(Expressions):
    """Expressions as the adapter evaluates them: all operands, also those that do not matter any more."""

    def alternatives(self, condition: str) -> Sequence[Sequence[str]]:
        return [list(_parts(alternative, "&&")) for alternative in _parts(condition, "||")]


class JavaCompositions(Compositions):
    """Values read by what the classes of the JDK have inside."""

    def reading(self, variable: DapVariable) -> Reading | None:
        return reading_of(variable)


class JavaValues(AdapterValues):
    """Values as the adapter shows them: `shop.Item@526` of an object, without its fields."""

    compositions: ClassVar[Compositions] = JavaCompositions()

    def is_bare(self, value: str, kind: str | None) -> bool:
        return _OBJECT.fullmatch(value) is not None

    def bare_type(self, kind: str | None) -> str:
        return (kind or "").rpartition(".")[2]


class JavaWords(Words):
    """What the adapter writes."""

    def is_routine(self, text: str) -> bool:
        return _LISTENING.fullmatch(text) is not None

    def plain_error(self, error: str) -> str:
        plain = error.removeprefix("Evaluation error: ")
        if plain != _FRAMES_OVER:
            return plain
        return "after the call of a method no variable is read any more in that expression: evaluate the parts alone"


def _parts(expression: str, operator: str) -> Iterator[str]:
    """Yield what an operator parts, where it is in no parentheses and no text."""
    depth, part = 0, ""
    for token in _TOKEN.findall(expression):
        depth += (token in ("(", "[", "?")) - (token in (")", "]"))
        if token == operator and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += token
    yield part.strip()
