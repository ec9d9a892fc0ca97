"""One self-contained file of a page of the dashboard: its style sheets and its ES modules are put into it.

    html = bundled(DASHBOARD / "card" / "card.html")

For hosts that show a page without a server behind it. Each module becomes a function that is called once, in the order
of the imports, and returns what it exports; so modules keep their own names, and are the files that the page loads.
"""

import re
from pathlib import Path

_STYLE = re.compile(r'[ ]*<link rel="stylesheet" href="([^"]+)">\n')
_SCRIPT = re.compile(r'[ ]*<script type="module" src="([^"]+)"></script>\n')
_IMPORT = re.compile(r"^import \{([^}]*)\} from '([^']+)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let) ([\w$]+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundled(page: Path) -> str:
    """Return the page with all that it loads.

    Raises:
        ValueError: a module is written in a way that is not understood here, or they import each other in a circle.
    """
    html = page.read_text()
    html = _STYLE.sub(lambda found: f"<style>\n{_style(page.parent / found[1])}</style>\n", html)
    return _SCRIPT.sub(lambda found: f'<script type="module">\n{_script(page.parent / found[1])}</script>\n', html)


def _style(file: Path) -> str:
    text = file.read_text()
    if "</style" in text.lower() or "url(" in text or "@import" in text:
        raise ValueError(f"{file.name} loads something, or would end the element that it is put into")
    return text


def _script(file: Path) -> str:
    modules: dict[Path, str] = {}
    _add(file.resolve(), modules, ())
    script = "\n".join(modules.values())
    # In a script this is the same text, in HTML it would be the end of the element.
    return re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE)


def _add(file: Path, modules: dict[Path, str], importers: tuple[Path, ...]) -> None:
    """Add a module after those that it imports."""
    if file in importers:
        raise ValueError(f"{file.name} imports itself, by way of others")
    if file in modules:
        return
    text = file.read_text()
    for _, name in _IMPORT.findall(text):
        _add((file.parent / name).resolve(), modules, (*importers, file))

    def imported(found: re.Match[str]) -> str:
        names = ", ".join(each.strip().replace(" as ", ": ") for each in found[1].split(",") if each.strip())
        return f"const {{{names}}} = {_variable(list(modules).index((file.parent / found[2]).resolve()))};\n"

    exported = _EXPORT.findall(text)
    body = _EXPORT.sub("", _IMPORT.sub(imported, text))
    left = _OTHER.search(body)
    if left is not None:
        raise ValueError(f"{file.name}: this cannot be put into a page: {left[0]}")
    returned = f"return {{{', '.join(exported)}}};"
    modules[file] = f"// {file.name}\nconst {_variable(len(modules))} = (() => {{\n{body}{returned}\n}})();\n"


def _variable(number: int) -> str:
    return f"module{number}"
