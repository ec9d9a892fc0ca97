"""Refuse phrases that make prose hard to read, and docstrings that say nothing. Run by scripts/check.

Checked are the docstrings, comments and strings of the package and its scripts, the docstrings and comments of the
tests, and the Markdown pages. A line that must keep a phrase ends with `words: keep` in a comment, with the reason.

    scripts/_words.py [PATH ...]     these files and folders instead of everything
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

PLAINER = {
    r"told\b": "notify, report, record, show",
    r"tells? of\b|telling of\b": "notify, report, record, show",
    r"(?:is|are|was|were) no (?!longer\b)\w+": "is not a …, has no …",
    r"nobody|somebody|whoever|whomever": "name them: the caller, a client, the user",
    r"(?:goes|go|gone|went|going) on\b(?! (?:the|a|its?|PyPI)\b)": "continue, resume",
    r"lets? (?:(?:it|the program|a program|them|go) )?go\b": "resume, detach",
    r"shall\b": "must, will",
    r"thereof|therein|wherein|hereby|upon|manieth|henceforth": "plain English",
}
"""Pattern (at the start of a word, in any case) → what to say instead."""

PHRASES = re.compile("|".join(rf"\b(?:{pattern})" for pattern in PLAINER), re.IGNORECASE)

FEWEST_WORDS = 5
"""A docstring of fewer words repeats the name. Where the name says it all there is none."""


class Found(NamedTuple):
    file: Path
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.why}"


def instead_of(phrase: str) -> str:
    return next(plainer for pattern, plainer in PLAINER.items() if re.match(pattern, phrase, re.IGNORECASE))


def phrases(file: Path, first: int, text: str) -> Iterator[Found]:
    for found in PHRASES.finditer(text):
        line = first + text.count("\n", 0, found.start())
        yield Found(file, line, f"'{' '.join(found[0].split())}': {instead_of(found[0])}")


def docstrings(file: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring, those under constants included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def in_python(file: Path) -> Iterator[Found]:
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines()
    test = file.is_relative_to(ROOT / "tests")
    documented = dict(docstrings(file, ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        prose = token.type == tokenize.COMMENT or line in documented
        text = token.type in {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
        if (prose or (text and not test)) and "words: keep" not in lines[token.end[0] - 1]:
            yield from phrases(file, line, token.string)
    if not test:
        for line, text in documented.items():
            if len(text.split()) < FEWEST_WORDS:
                yield Found(file, line, f"the docstring '{text}' says no more than the name: say more, or nothing")
            elif re.match(r"(?:It|They)\b", text):
                yield Found(file, line, "a docstring starts with a noun phrase or an imperative, not with a pronoun")


def in_text(file: Path) -> Iterator[Found]:
    yield from phrases(file, 1, file.read_text(encoding="utf-8"))


def checked(paths: list[str]) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *(paths or ["."])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    skipped = ("tests/programs/", "tests/data/", "tests/scenarios/")
    return [ROOT / name for name in listed if name and not name.startswith(skipped) and (ROOT / name).is_file()]


def main() -> int:
    found = [
        each
        for file in checked(sys.argv[1:])
        for each in (in_python(file) if file.suffix == ".py" else in_text(file) if file.suffix == ".md" else ())
        if file != Path(__file__).resolve()
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
