"""What runs inside the program: on every interpreter of the machine, in the Python of 3.8, importing little."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from trio_debugmcp.probe import loader, packing

ROOT = Path(__file__).parents[2]
INSIDE = sorted((ROOT / "trio_debugmcp" / "probe" / "inside").rglob("*.py"))
CHECKS = sorted(file.stem for file in (Path(__file__).parent / "checks").glob("[!_]*.py"))

OLDEST = (3, 8)

TYPES = "typing"
"""Taken out of the sources before they are put into a program."""


def interpreters() -> dict[str, str]:
    """The running interpreter, and those of pyenv that debugpy supports and that are other versions, by version."""
    pythons = {
        file.parents[1].name: str(file) for file in Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python")
    }
    numbers = {version: tuple(map(int, version.split(".")[:2])) for version in pythons}
    found = {
        version: pythons[version]
        for version in sorted(pythons, key=lambda version: numbers[version])
        if numbers[version] >= OLDEST and version != sys.version.split()[0]
    }
    return {**found, f"{sys.version.split()[0]} (running)": sys.executable}


INTERPRETERS = interpreters()

ENDS = [*list(INTERPRETERS)[:1], *list(INTERPRETERS)[-2:]]
"""The oldest, the newest and the running one: those between are tried nightly."""

_BETWEEN = pytest.mark.nightly("the interpreters between the oldest and the newest: a minute")

VERSIONS = [pytest.param(version, marks=() if version in ENDS else _BETWEEN, id=version) for version in INTERPRETERS]


def test_the_interpreters_that_are_tried(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\nprobe, tried on: {', '.join(INTERPRETERS)}\n")
    assert INTERPRETERS


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with what is put into programs: the loader, and the sources without types."""
    file = tmp_path_factory.mktemp("packed") / "probe.json"
    file.write_text(json.dumps({"loader": packing.loader(), "sources": packing.sources()}), encoding="utf-8")
    return file


@pytest.mark.real
@pytest.mark.parametrize("version", VERSIONS)
def test_the_checks_pass_on_every_interpreter(version: str, packed: Path) -> None:
    packages = str(Path(trio.__file__).parents[1])
    ran = subprocess.run(
        [INTERPRETERS[version], "-m", "tests.probe.checks", *CHECKS],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "TRIO_PATH": packages, "PROBE_PACKED": str(packed)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" checks of ") == len(CHECKS)


@pytest.mark.parametrize("file", INSIDE, ids=lambda file: file.stem)
def test_the_syntax_is_that_of_the_oldest_python(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=OLDEST)
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Match | ast.TryStar | ast.NamedExpr)
        assert not (isinstance(node, ast.With) and len(node.items) > 1)
    for annotation in annotations(tree):  # these are evaluated when the function is defined
        for part in ast.walk(annotation):
            assert not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr)), ast.unparse(annotation)
            generic = part.value if isinstance(part, ast.Subscript) else None
            assert not (isinstance(generic, ast.Name) and generic.id in {"list", "dict", "tuple", "set", "type"})


def annotations(tree: ast.AST) -> list[ast.expr]:
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
    return [each for each in found if each is not None]


@pytest.mark.parametrize("file", INSIDE, ids=lambda file: file.stem)
def test_only_siblings_and_what_is_kept_from_the_beginning_are_imported(file: Path) -> None:
    for name in imported(ast.parse(file.read_text(encoding="utf-8"))):
        assert name in {*loader.TAKEN, TYPES} or name.startswith(packing.PACKAGE), name


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            assert node.level == 0
            yield node.module


def test_no_types_are_needed_to_run_it() -> None:
    for name, source in packing.sources().items():
        assert TYPES not in imported(ast.parse(source)), name
