"""Counts what masking finds in code that holds no secrets: the standard library's tests, and ten packages' releases.

    python scripts/_secret_finds.py [--list] [DIR]      # DIR keeps the downloads

Each line of source and each string literal, as a debugger renders it, is masked, and each value of an assignment by its
name. The figures are in docs/security.md. What is downloaded is read and not imported; pip itself asks a package's
build backend for its metadata.
"""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from trio_debugmcp.masking.mask import findings, masked, masked_value

PACKAGES = (
    *("requests==2.32.3", "urllib3==2.2.3", "flask==3.0.3", "werkzeug==3.0.4", "jinja2==3.1.4"),
    *("click==8.1.7", "attrs==24.2.0", "django==5.1.2", "pytest==8.3.3", "tornado==6.4.1"),
)

_MASK = re.compile(r"<([^<>]+), \d+ characters>")


def main() -> None:
    words = [each for each in sys.argv[1:] if each != "--list"]
    print(f"{'source':24} {'lines':>9} {'literals':>9} {'found':>6}  by label")
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(words[0]) if words else Path(temporary)
        show("standard library's tests", [Path(os.__file__).parent / "test"])
        for package in PACKAGES:
            show(package, [unpacked(home, package)])


def unpacked(home: Path, package: str) -> Path:
    folder = home / package
    if not folder.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(folder),
        ]
        subprocess.run([*command, package], check=True, timeout=300)
        for archive in folder.glob("*.tar.gz"):
            with tarfile.open(archive) as opened:
                opened.extractall(folder, filter="data")
    return folder


def show(name: str, folders: list[Path]) -> None:
    lines = literals = 0
    found: dict[str, str] = {}
    for path in sorted(each for folder in folders for each in folder.rglob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        given = [(at, line, masked(line)) for at, line in enumerate(text.splitlines(), 1) if len(line) < 5000]
        lines += len(given)
        values = [(at, repr(value), masked_value(name, repr(value))) for at, name, value in strings(text)]
        literals += len(values)
        for at, before, after in given + values:
            if after != before:
                label = _MASK.search(after)
                found.setdefault(f"{path.name}:{at}", label[1] if label else "?")
                if "--list" in sys.argv:
                    secret = before[findings(before)[0].start : findings(before)[0].end] if findings(before) else before
                    print(f"    {path.name}:{at}: {found[f'{path.name}:{at}']}: {secret[:100]!r}")
    labels = ", ".join(f"{count} {label}" for label, count in Counter(found.values()).most_common())
    print(f"{name:24} {lines:9} {literals:9} {len(found):6}  {labels}", flush=True)


def strings(source: str) -> Iterator[tuple[int, str, str | bytes]]:
    """The string literals of a source, each with its line and the name that it is assigned to, if there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    names: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            names[node.value] = " ".join(ast.unparse(each) for each in node.targets)
        elif isinstance(node, ast.keyword):
            names[node.value] = node.arg or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.lineno, names.get(node, ""), node.value


if __name__ == "__main__":
    main()
