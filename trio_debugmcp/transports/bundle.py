"""What a page of the dashboard loads, in one style sheet and one script, made of the files that stay apart.

    bundle = read_bundle(DASHBOARD / "index.html")
    page = bundle.html('<link rel="stylesheet" href="page.css">', '<script type="module" src="page.js"></script>')

Each module becomes a function that is called once, in the order of the imports, and returns what it exports; so modules
keep their own names, and are the files that the page loads where these are served apart. Every line of a module is one
line of the script, so that a source map leads from one to the other; a line of comment, a third of what would be sent,
is an empty one. What comes from elsewhere keeps its notices.
"""

import json
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_STYLE = re.compile(r'^ *<link rel="stylesheet" href="([^"]+)">\n', re.MULTILINE)
_SCRIPT = re.compile(r'^ *<script type="module" src="([^"]+)"></script>\n', re.MULTILINE)
_IMPORT = re.compile(r"^import \{([^}]*)\} from '([^']+)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)$", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)

_VENDORED = "vendor/"
"""Where modules are that come from elsewhere."""

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""Of the numbers in a source map: five bits each, and one that says whether another digit follows."""

_NEXT_LINE = "AACA"
"""In a source map: the same source, one line further down."""


class Bundle(Struct, frozen=True):
    """A page, its style sheets in one, its modules in one script, and the source map of that.

    The source map names each module by its path from the page.
    """

    page: str
    style: str
    script: str
    source_map: str

    def html(self, style: str, script: str) -> str:
        """Return the page with these two elements in the place of those that load its files one by one."""
        elements = iter([style])
        html = _STYLE.sub(lambda _: next(elements, ""), self.page)
        return _SCRIPT.sub(lambda _: script, html)


def read_bundle(page: Path) -> Bundle:
    """Read a page and all that it loads.

    Raises:
        ValueError: a file is written in a way that is not understood here, or modules import each other in a circle.
    """
    html = page.read_text(encoding="utf-8")
    scripts = _SCRIPT.findall(html)
    if len(scripts) != 1:
        raise ValueError(f"{page.name} loads no module, or several")
    modules: dict[str, _Module] = {}
    _add(page.parent, scripts[0], modules, ())
    return Bundle(
        page=html,
        style="".join(_style(page.parent / name) for name in _STYLE.findall(html)),
        script="".join(module.script for module in modules.values()),
        source_map=_source_map(modules.values()),
    )


def bundled(page: Path) -> str:
    """Return a page as one self-contained file, for hosts that show one without a server behind it.

    Raises:
        ValueError: see `read_bundle`.
    """
    bundle = read_bundle(page)
    # In a script this is the same text, in HTML it would be the end of the element.
    script = re.sub(r"</(?=script)", r"<\\/", bundle.script, flags=re.IGNORECASE)
    return bundle.html(f"<style>\n{bundle.style}</style>\n", f'<script type="module">\n{script}</script>\n')


def uncommented(text: str) -> str:
    """Return a module or a style sheet with an empty line for each that is nothing but a comment."""
    return _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def _style(file: Path) -> str:
    text = uncommented(file.read_text(encoding="utf-8"))
    if "</style" in text.lower() or "url(" in text or "@import" in text:
        raise ValueError(f"{file.name} loads something, or would end the element that it is put into")
    return text


class _Module(Struct, frozen=True):
    """A module as a part of the script: the lines of its file, between two that open a function and two that end it."""

    name: str
    number: int
    body: str
    exports: tuple[str, ...]

    @property
    def variable(self) -> str:
        return f"module{self.number}"

    @property
    def script(self) -> str:
        returned = f"return {{{', '.join(self.exports)}}};"
        return f"// {self.name}\nconst {self.variable} = (() => {{\n{self.body}{returned}\n}})();\n"


def _add(home: Path, name: str, modules: dict[str, _Module], importers: tuple[str, ...]) -> _Module:
    """Add a module behind those that it imports, unless it is there, and return it."""
    if name in importers:
        raise ValueError(f"{name} imports itself, by way of others")
    if name in modules:
        return modules[name]

    def imported(statement: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), statement[2]))
        other = _add(home, path, modules, (*importers, name))
        names = [item.strip() for item in statement[1].split(",") if item.strip()]
        missing = {item.partition(" as ")[0] for item in names} - {*other.exports}
        if missing:
            raise ValueError(f"{name}: {path} does not export {', '.join(sorted(missing))}")
        line = f"const {{{', '.join(item.replace(' as ', ': ') for item in names)}}} = {other.variable};"
        return line + "\n" * statement[0].count("\n")

    text = (home / name).read_text(encoding="utf-8").removesuffix("\n") + "\n"
    if not name.startswith(_VENDORED):
        text = uncommented(text)
    body = _EXPORT.sub("", _IMPORT.sub(imported, text))
    unknown = _OTHER.search(body)
    if unknown is not None:
        raise ValueError(f"{name}: this cannot be put into one script: {unknown[0]}")
    modules[name] = module = _Module(name, len(modules), body, tuple(_EXPORT.findall(text)))
    return module


def _source_map(modules: Iterable[_Module]) -> str:
    """Write the source map of the script, as ECMA-426 has it: which line of which source each of its lines is."""
    lines: list[str] = []
    names, last = [], 0
    for module in modules:
        names.append(module.name)
        count = module.body.count("\n")
        first = _encoded(0, 1 if lines else 0, -last, 0)  # each number but the column is a difference
        lines += ["", "", first, *[_NEXT_LINE] * (count - 1), "", ""]
        last = count - 1
    return json.dumps({"version": 3, "sources": names, "names": [], "mappings": ";".join(lines)})


def _encoded(*numbers: int) -> str:
    """Encode numbers as base64 VLQ does: five bits at a time, the lowest first, the sign as the lowest of all."""
    text = ""
    for number in numbers:
        left = -number << 1 | 1 if number < 0 else number << 1
        while left >= 32:
            text += _DIGITS[left & 31 | 32]
            left >>= 5
        text += _DIGITS[left]
    return text
