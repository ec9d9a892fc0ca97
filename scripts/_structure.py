"""Measures the structure of the package's source. Run by scripts/structure."""

import argparse
import ast
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from tests.source_tree import Function, SourceTree, methods

FAN_OUT = 8
METHODS = 15

Findings: TypeAlias = list[str]
Measure: TypeAlias = Callable[[SourceTree], tuple[str, Findings]]
"""From a tree to the figure, and to what it consists of."""


def lines(source: SourceTree) -> tuple[str, Findings]:
    return str(sum(len(source.text(name).splitlines()) for name in source.files)), []


def modules(source: SourceTree) -> tuple[str, Findings]:
    return str(len(source.files)), []


def shared_file_names(source: SourceTree) -> tuple[str, Findings]:
    """Without pairs of a tool and its answer."""
    places = defaultdict(list)
    for name, file in source.files.items():
        if file.stem not in ("__init__", "__main__"):
            places[file.stem].append(name)
    return _twice({stem: names for stem, names in places.items() if not _is_pair(names)})


def _is_pair(names: list[str]) -> bool:
    return len(names) == 2 and all(name.startswith("trio_debugmcp.server.") for name in names)


def shared_class_names(source: SourceTree) -> tuple[str, Findings]:
    places = defaultdict(list)
    for name, node in source.definitions(ast.ClassDef):
        places[node.name].append(name)
    return _twice(places)


def _twice(places: dict[str, list[str]]) -> tuple[str, Findings]:
    shared = [f"{name}: {', '.join(names)}" for name, names in places.items() if len(names) > 1]
    return str(len(shared)), shared


def longest_chain(source: SourceTree) -> tuple[str, Findings]:
    """Modules each of which imports the next."""
    chains: dict[str, Findings] = {}

    def chain(name: str) -> Findings:
        if name not in chains:
            chains[name] = [name, *max(map(chain, sorted(source.graph[name])), key=len, default=[])]
        return chains[name]

    longest = max(map(chain, source.files), key=len)
    return str(len(longest)), longest


def fan_out(source: SourceTree) -> tuple[str, Findings]:
    """Modules of the package that a module imports: the ninth of ten modules has at most so many."""
    counts = sorted(len(imported) for imported in source.graph.values())
    large = [f"{len(imported)} {name}" for name, imported in source.graph.items() if len(imported) > FAN_OUT]
    return str(counts[len(counts) * 9 // 10]), sorted(large, key=lambda line: -int(line.partition(" ")[0]))


def large_classes(source: SourceTree) -> tuple[str, Findings]:
    large = [
        f"{len(methods(node))} {name}"
        for name, node in source.definitions(ast.ClassDef)
        if len(methods(node)) > METHODS
    ]
    return str(len(large)), large


def functions_with_each(source: SourceTree) -> tuple[str, Findings]:
    """Functions with a local variable `each`, which says its role in a sentence, and not what it is."""
    functions = [(name, node) for name, node in source.definitions(ast.AST) if isinstance(node, Function)]
    such = [name for name, node in functions if "each" in _stored(ast.walk(node))]
    return f"{100 * len(such) / len(functions):.1f} %", such


def _stored(among: Iterable[ast.AST]) -> set[str]:
    return {node.id for node in among if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


MEASURES: dict[str, Measure] = {
    "lines of Python": lines,
    "modules": modules,
    "file names used twice": shared_file_names,
    "class names used twice": shared_class_names,
    "longest chain of imports": longest_chain,
    "fan-out of nine in ten modules, at most": fan_out,
    f"classes with more than {METHODS} methods": large_classes,
    "functions with a local `each`": functions_with_each,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/structure", description=__doc__)
    parser.add_argument("directory", metavar="DIRECTORY", nargs="?", type=Path, help="another checkout")
    parser.add_argument("--list", action="store_true", help="name what the figures consist of")
    options = parser.parse_args()
    roots = [Path(), *([options.directory] if options.directory else [])]
    trees = {str(root.resolve().name): SourceTree(root) for root in roots}
    width = max(map(len, MEASURES))
    print(f"{'':{width}}", *(f"{root:>10}" for root in trees))
    for title, measure in MEASURES.items():
        results = [measure(source) for source in trees.values()]
        print(f"{title:{width}}", *(f"{figure:>10}" for figure, _ in results))
        if options.list:
            print(*(f"    {finding}" for finding in results[0][1]), sep="\n")


if __name__ == "__main__":
    main()
