"""Refuse phrases that make prose hard to read, and docstrings that repeat a name. Run by scripts/check.

Checked are docstrings, comments and the names of functions and classes in Python; messages too, except in tests;
comments of scripts, JavaScript, CSS and HTML; and Markdown. What must keep a phrase has `words: keep` with a reason on
its last line, in a comment.

Some words are left to the reader, because a script cannot tell when they are right: "says" for "sends" or "reports" (a
comment says why), and "leave" for "disconnect" (a server leaves files alone).

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

_COMPARED = r"(?:longer|different|better|worse|(?:more|less|\w+er) than)\b"

PLAINER = {
    r"(?:un)?told\b": "notify, report, record, show",
    r"tells? of\b|telling of\b": "notify, report, record, show",
    rf"(?<!there\s)(?:is|are|was|were) no (?!{_COMPARED})\w+": "is not a …, has no …",
    r"(?<!there\s)(?:is|are|was|were) (?-i:none)\b(?! of)": "is not a …, has no …",
    r"nobody|somebody|whoever|whomever": "name them: the caller, a client, the user",
    r"(?:goes|go|gone|went|going) on\b(?! (?:the|a|its?|PyPI)\b)": "continue, resume",
    r"lets? (?:(?:it|the \w+|a \w+|them|go) )?go\b|letting (?:\w+ )?go\b": "resume, detach",
    r"speaks? of|spoken? of|speaking of": "name, refer to, mean",
    r"(?:the|whose|its) world\b": "the host, the environment",
    r"whose fault": "who caused it",
    r"shall\b": "must, will",
    r"(?:thereof|therein|wherein|whence|hereby|upon|manieth|henceforth|lest|whilst|amongst)\b": "plain English",
}
"""Pattern (at the start of a word, in any case) → what to say instead."""

PHRASES = re.compile("|".join(rf"\b(?:{pattern})" for pattern in PLAINER).replace(" ", r"[\s#*/]+"), re.IGNORECASE)

FEWEST_WORDS = 5
"""A docstring of fewer words must have two that its name has not. Where the name says it all there is no docstring."""

LITTLE = re.compile(
    r"(?:a|all|also|any?|and|are|as|at|be|by|each|every|for|from|ha[sd]|have|in|into|is|its?|no|not|of|one?|or|parameters|"
    r"that|the|their|them|these|they|this|those|to|was|what|which|with)$"
)
"""Words that say nothing by themselves."""

PROSE = {
    ".md": r"(?:.+\n?)+",
    ".js": r"//.*|/\*[\s\S]*?\*/",
    ".css": r"/\*[\s\S]*?\*/",
    ".html": r"<!--[\s\S]*?-->",
    **dict.fromkeys(("", ".sh", ".toml", ".yml", ".yaml"), r"(?:#.*\n?\s*)+"),
}
"""What is prose in a file that is not Python, by its suffix: the comments, and in Markdown everything."""


class Found(NamedTuple):
    file: Path
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT) if self.file.is_relative_to(ROOT) else self.file}:{self.line}: {self.why}"


def phrases(file: Path, first: int, text: str) -> Iterator[Found]:
    """What is refused in a text that begins at a line, unless its last line says that it is to be kept."""
    if "words: keep" in text.rstrip().rpartition("\n")[2]:
        return
    for found in PHRASES.finditer(text):
        said = re.sub(r"[\s#*/]+", " ", found[0])
        plainer = next(plainer for pattern, plainer in PLAINER.items() if re.match(pattern, said, re.IGNORECASE))
        yield Found(file, first + text.count("\n", 0, found.start()), f"'{said}': {plainer}")


# --- Python -----------------------------------------------------------------------------------------------------------


def docstrings(node: ast.AST, name: str = "") -> Iterator[tuple[int, str, str]]:
    """Line and text of every docstring, those under constants included, and the qualified name that it describes."""
    assigned = ""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield child.lineno, text, assigned or name
            case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
                assigned = f"{name} {target}"
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield from docstrings(child, f"{name} {child.name}")
            case _:
                yield from docstrings(child, name)
        assigned = ""


def repeats(text: str, name: str) -> bool:
    """Whether a docstring says hardly more than the name that it describes."""
    words = re.findall(r"[\w-]+", text.lower())
    squeezed = name.replace("_", "").lower()
    news = {word for word in words if not LITTLE.match(word) and word[:4].replace("_", "") not in squeezed}
    return len(words) < FEWEST_WORDS and len(news) < 2


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every comment; lines of comments that follow each other are one."""
    first, last, text = 0, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            if line == last + 1 and not token.line[: token.start[1]].strip():
                text, last = f"{text}\n{token.string}", line
            else:
                yield first, text
                first, last, text = line, line, token.string
    yield first, text


def in_python(file: Path) -> Iterator[Found]:
    source = file.read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    test = file.is_relative_to(ROOT / "tests")
    documented = list(docstrings(tree, file.stem))
    prose = {each[:2] for each in documented}
    for line, text in comments(source):
        yield from phrases(file, line, text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from phrases(file, node.lineno, node.name.replace("_", " "))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (not test or (node.lineno, node.value) in prose)
        ):
            kept = lines[(node.end_lineno or node.lineno) - 1].partition("words: keep")[1]
            yield from phrases(file, node.lineno, f"{node.value}{kept}")
    for line, text, name in documented if not test else ():
        if "words: keep" in lines[line - 1 + text.count("\n")]:
            continue
        if repeats(text, name):
            yield Found(file, line, f"the docstring '{text}' says no more than the name: say more, or nothing")
        elif re.match(r"(?:It|They)\b", text):
            yield Found(file, line, "a docstring starts with a noun phrase or an imperative, not with a pronoun")


# --- Files ------------------------------------------------------------------------------------------------------------


def in_text(file: Path) -> Iterator[Found]:
    text = file.read_text(encoding="utf-8")
    for prose in re.finditer(PROSE[file.suffix], text):
        yield from phrases(file, 1 + text.count("\n", 0, prose.start()), prose[0])


def in_file(file: Path) -> Iterator[Found]:
    if file.suffix == ".py":
        return in_python(file)
    return in_text(file) if file.suffix in PROSE and file.name != "LICENSE" else iter(())


def checked(paths: list[str]) -> Iterator[Path]:
    """The files under these paths that are ours to word, whether they are committed or not."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *(paths or [str(ROOT)])]
    left_out = "tests/*programs/*", "tests/data", "tests/scenarios/*.jsonl", "trio_debugmcp/dashboard/vendor/*"
    others = [f":(exclude,top){each}" for each in left_out]
    for name in subprocess.run([*git, *others], capture_output=True, text=True, check=True).stdout.split("\0"):
        file = Path(name).resolve()
        if name and file.is_file() and file != Path(__file__).resolve():
            yield file


def main(paths: list[str]) -> int:
    found = [each for file in checked(paths) for each in in_file(file)]
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
