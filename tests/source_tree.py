"""The package's source as modules, imports and definitions, for `test_architecture.py` and `scripts/structure`.

source = SourceTree(Path("."))
source.graph["trio_debugmcp.app"]  # what it imports of the package
"""

import ast
import gc
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def imports(among: Iterable[ast.AST]) -> Iterator[str]:
    """Full names of what is imported anywhere among them: in functions, and for annotations."""
    for node in among:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def methods(node: ast.ClassDef) -> list[Function]:
    """The methods of a class, without overloads, which only say what types one takes."""
    members = [member for member in node.body if isinstance(member, Function)]
    return [member for member in members if "overload" not in map(ast.unparse, member.decorator_list)]


class SourceTree:
    """The modules of the package in a checkout, by their full names."""

    def __init__(self, root: Path) -> None:
        self.files = {
            ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file
            for file in sorted((root / "trio_debugmcp").rglob("*.py"))
        }
        self._nodes: dict[str, list[ast.AST]] = {}

    def text(self, name: str) -> str:
        return self.files[name].read_text(encoding="utf-8")

    def tree(self, name: str) -> ast.Module:
        module = self.nodes(name)[0]
        assert isinstance(module, ast.Module)
        return module

    def nodes(self, name: str) -> list[ast.AST]:
        """Everything in a module, itself first. Kept, as a walk takes longer than all checks of it."""
        if name not in self._nodes:
            gc.disable()  # it would walk through all trees again and again
            self._nodes[name] = [*ast.walk(ast.parse(self.text(name)))]
            gc.freeze()
            gc.enable()
        return self._nodes[name]

    def definitions(self, kind: type[Node]) -> Iterator[tuple[str, Node]]:
        """The nodes of a kind in the whole package, each with its full name."""
        for name in self.files:
            for node in self.nodes(name):
                if isinstance(node, kind):
                    yield f"{name}.{getattr(node, 'name', '')}", node

    @cached_property
    def graph(self) -> dict[str, frozenset[str]]:
        """The modules of the package that each module imports from."""
        return {
            name: frozenset(
                imported if imported in self.files else imported.rpartition(".")[0]
                for imported in imports(self.nodes(name))
                if imported.startswith("trio_debugmcp.") and imported != "trio_debugmcp.__version__"
            )
            - {name}
            for name in self.files
        }
