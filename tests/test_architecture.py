"""The plan of the package holds: imports, rooms and their page (docs/architecture.md), sizes, and where tests stand."""

import ast
import builtins
import io
import re
import subprocess
import sys
import textwrap
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import trio_debugmcp
from tests.source_tree import Function, SourceTree, imports, methods

HOME = Path(trio_debugmcp.__file__).parent
ROOT = HOME.parent
TESTS = ROOT / "tests"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

FLOORS = [
    [
        "errors",
        "clock",
        "own_command",
        "patience",
        "deadlines",
        "coercion",
        "descriptors",
        "owned_directory",
        "ending_signals",
        "home",
        "installation",
        "source_lines",
        "sparse_log",
        "sdk_import",
        "masking",
        "samples",
        "probe",
        "skill",
    ],
    ["engine", "kept"],
    ["launch_json", "dap", "runs", "fleet"],
    ["state", "hosts"],
    ["session", "publish", "transports", "relaying"],
    ["light_client"],
    ["server", "client", "recording", "dashboard"],
    ["replay", "editors"],
    ["server_options"],
    ["app"],
    ["listen"],
    ["testing"],
    ["cli"],
    ["__main__"],
]
"""From the ground up. A room may use its own and those on the floors below, never a neighbour."""

PURE = (
    "state",
    "masking",
    "launch_json",
    "runs",
    "dap.messages",
    "dap.codec",
    "testing.scenario.script_lines",
)

LATE = (
    *("rich", "h11", "wsproto", "trio_websocket", "dotenv", "debugpy"),
    *("trio_debugmcp.client", "trio_debugmcp.dashboard", "trio_debugmcp.hosts"),
    *("trio_debugmcp.recording", "trio_debugmcp.replay", "trio_debugmcp.editors", "trio_debugmcp.testing"),
    *(
        f"trio_debugmcp.transports.{name}"
        for name in (
            *("accept", "admission", "bundle", "gate", "http", "http11"),
            *("kept_socket", "pages", "port", "static", "websocket"),
        )
    ),
)
"""What a start on plain stdio does not import, and hence what may be imported for annotations only."""

LATER_IN = {
    "app": ("mcp", "trio_debugmcp.transports.streams"),
    "cli": ("mcp", *(f"trio_debugmcp.{name}" for name in ("app", "dap", "listen", "server", "server_options"))),
    "client": ("mcp",),
    "session": ("trio_debugmcp.session.opened_runs",),
    "transports": ("mcp", "trio_debugmcp.transports.head", "trio_debugmcp.transports.streams"),
}
"""By room, what it imports later too: a command when it runs, so that `--help` is quick, a client when it is made, a
server with its first client beside shells, what reads recorded runs with the first question about one."""

LONGEST_CHAIN = 30
MOST_LINES = 350
MOST_JAVASCRIPT_LINES = 250
MOST_BODY_LINES = 40
MOST_METHODS = 15
MOST_PUBLIC_METHODS = 15

SUBJECTS = {"data", "faults", "fuzz", "interop", "languages", "programs", "real", "scenarios", "traces", "warm", "why"}
"""Folders of tests that do not stand for a room, see tests/README.md."""

MAKES_STORE = "new Store("
"""What a test that draws parts of the dashboard by itself has in its script: only the page's program has one else."""


SOURCE = SourceTree(ROOT)


def room(name: str) -> str:
    return name.split(".")[1]


# --- Imports ----------------------------------------------------------------------------------------------------------


def test_no_module_imports_one_that_imports_it() -> None:
    graph = {name: set(imported) for name, imported in SOURCE.graph.items()}
    cycles = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            (_, cycle) = error.args
            cycles.append(" -> ".join(reversed(cycle)))
            graph[cycle[1]].discard(cycle[0])  # to look for further ones
        else:
            break
    assert not cycles, "\n".join(cycles)


def test_the_longest_chain_of_imports_is_bounded() -> None:
    chains: dict[str, list[str]] = {}

    def chain(name: str) -> list[str]:
        if name not in chains:
            chains[name] = [name, *max(map(chain, sorted(SOURCE.graph[name])), key=len, default=[])]
        return chains[name]

    longest = max(map(chain, SOURCE.files), key=len)
    assert len(longest) <= LONGEST_CHAIN, "\n  ".join(longest)


def test_rooms_import_downwards_only() -> None:
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    upwards = [
        f"{name} imports {imported}"
        for name in SOURCE.files
        for imported in SOURCE.graph[name]
        if name != "trio_debugmcp" and room(imported) != room(name) and floor[room(imported)] >= floor[room(name)]
    ]
    assert not upwards, "\n".join(upwards)


def test_the_pure_rooms_know_nothing_of_trio() -> None:
    pure = [name for name in SOURCE.files if name.removeprefix("trio_debugmcp.").startswith(PURE)]
    assert len(pure) > len(PURE)
    for name in pure:
        assert not {"trio", "anyio", "socket", "time"} & {
            imported.partition(".")[0] for imported in imports(SOURCE.nodes(name))
        }


def test_only_what_starts_later_is_imported_for_annotations_only() -> None:
    early = [
        f"{name} imports {imported}"
        for name, node in SOURCE.definitions(ast.If)
        if ast.unparse(node.test).endswith("TYPE_CHECKING")
        for imported in imports(ast.walk(node))
        if not imported.startswith((*LATE, *LATER_IN.get(room(name), ())))
    ]
    assert not early, "\n".join(early)


@pytest.mark.real
def test_serving_on_stdio_loads_nothing_that_it_does_not_need() -> None:
    script = (
        "import sys; from trio_debugmcp.cli import main; code = main(['serve'])\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
    loaded = set(ran.stderr.decode().split())
    assert "trio_debugmcp.app" in loaded
    assert not set(LATE) & loaded


@pytest.mark.real
def test_importing_the_client_loads_neither_the_server_of_the_sdk_nor_http() -> None:
    script = "import sys, trio_debugmcp.client; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120, check=True)
    loaded = set(ran.stdout.decode().split())
    assert "trio_debugmcp.client.client" in loaded
    assert not {"mcp.server", "mcp.client.sse", "mcp.client.streamable_http", "httpx", "httpx2"} & loaded


# --- The page ---------------------------------------------------------------------------------------------------------


def rooms_of_the_page() -> dict[str, str]:
    """The table of rooms, as room to sentence."""
    table = PAGE.partition("## Rooms")[2].partition("Rooms within rooms:")[0]
    return dict(re.findall(r"^\| `([\w/.]+?)(?:/|\.py)` \| (.+?) \|$", table, re.MULTILINE))


def test_the_page_names_every_room_from_the_top_floor_down() -> None:
    assert list(rooms_of_the_page()) == [room for floor in reversed(FLOORS) for room in floor]
    subpackages = {folder.name for folder in HOME.iterdir() if folder.is_dir() and folder.name != "__pycache__"}
    modules = {file.stem for file in HOME.glob("*.py")} - {"__init__"}
    assert subpackages | modules == set(rooms_of_the_page())


@pytest.mark.parametrize("room", [room for floor in FLOORS for room in floor if room != "dashboard"])
def test_the_page_has_the_rooms_own_sentence(room: str) -> None:
    docstring = ast.get_docstring(SOURCE.tree(f"trio_debugmcp.{room}"))
    assert docstring
    assert rooms_of_the_page()[room] == docstring.split("\n")[0]


def test_the_page_has_every_room_within_a_room_with_its_own_sentence() -> None:
    table = PAGE.partition("Rooms within rooms:")[2].partition("\n\n`")[0]
    sentences = {
        str(file.parent.relative_to(HOME)): (ast.get_docstring(SOURCE.tree(name)) or "").split("\n")[0]
        for name, file in SOURCE.files.items()
        if file.name == "__init__.py" and name.count(".") > 1
    }
    assert dict(re.findall(r"^\| `([\w/]+)/` \| (.+?) \|$", table, re.MULTILINE)) == sentences


def test_the_rooms_of_the_dashboard_stand_on_its_page() -> None:
    page = (ROOT / "docs" / "dashboard.md").read_text(encoding="utf-8")
    folders = {folder.name for folder in (HOME / "dashboard").iterdir() if any(folder.glob("*.[jc]s*"))}
    assert set(re.findall(r"^\| `(\w+)/` \| .+? \|$", page, re.MULTILINE)) == folders


def test_every_path_of_the_page_exists() -> None:
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]*)+|[\w-]+\.(?:py|md|toml))`", PAGE)
    assert len(paths) > 40
    gone = [path for path in paths if not ((HOME / path).exists() or (ROOT / path).exists())]
    assert not gone, "\n".join(gone)


def test_every_question_is_answered_by_a_path() -> None:
    questions = re.findall(r"^\| .+?\? \| (.+?) \|", PAGE.partition("## Where do I change")[2], re.MULTILINE)
    assert len(questions) >= 12
    assert all(re.match(r"`[\w/]+\.(py|js)`", answer) for answer in questions), questions


# --- Examples ---------------------------------------------------------------------------------------------------------


def indented_blocks(text: str) -> Iterator[str]:
    """The indented paragraphs of a docstring, without their indentation."""
    for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", f"{text}\n", re.MULTILINE):
        yield textwrap.dedent(block).strip("\n")


CODE = r"(?:async )?(?:with|for|def) .*:(?: \.\.\.)?$|match .*:$|case .*:|await |\.\.\.$|"
CODE += r"\w[\w, ]* = \S|[\w.]+\(.*\)(?: *#.*)?$"


def test_examples_in_module_docstrings_are_indented_and_parse() -> None:
    """A formatter dedents a docstring of which every further line is indented."""
    broken = []
    for name in SOURCE.files:
        text = ast.get_docstring(SOURCE.tree(name), clean=False) or ""
        broken += [f"{name}: {line}" for line in text.splitlines()[1:] if re.match(rf"{CODE}|\w+ {{3,}}\w", line)]
        for block in indented_blocks(text):
            if re.match(CODE, block.partition("\n")[0]):
                try:
                    ast.parse(block)
                except SyntaxError as error:
                    broken.append(f"{name}: {error}: {block}")
    assert not broken, "\n".join(broken)


def test_what_a_docstring_lists_exists() -> None:
    """An attribute or a parameter in its module, an error in what that imports: a name of before is of no use."""
    names = {name: _names_in(name) for name in SOURCE.files}
    others = {alias.name for name in SOURCE.files for alias in _imported_from_others(name)} | {*dir(builtins)}
    gone = []
    for name, node in SOURCE.definitions(ast.AST):
        if not isinstance(node, ast.ClassDef | Function):
            continue
        module, text = name.rpartition(".")[0], ast.get_docstring(node) or ""
        gone += [f"{name}: {each}" for each in _listed("Attributes|Args", text) if each not in names[module]]
        for error in _listed("Raises", text):
            if error not in others and not any(error in names[each] for each in _reached(module)):
                gone.append(f"{name}: {error}")
    assert not gone, "\n".join(gone)


def _listed(section: str, text: str) -> list[str]:
    """What a section of a docstring lists, by its names."""
    found = re.findall(rf"^(?:{section}):\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    return [
        name
        for part in found
        for line in re.findall(r"^    (\w+(?:, \w+)*): ", part, re.MULTILINE)
        for name in line.split(", ")
    ]


def _names_in(module: str) -> set[str]:
    fields = ("attr", "id", "arg", "name")  # of attributes, variables, parameters, definitions and imports
    found = [getattr(node, field, None) for node in SOURCE.nodes(module) for field in fields]
    return {name for name in found if isinstance(name, str)}


def _imported_from_others(module: str) -> Iterator[ast.alias]:
    for node in SOURCE.nodes(module):
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("trio_debugmcp"):
            yield from node.names


@cache
def _reached(module: str) -> frozenset[str]:
    """A module and all that it imports, and what that imports."""
    return frozenset({module}).union(*map(_reached, SOURCE.graph[module]))


def test_classes_in_examples_of_module_docstrings_exist() -> None:
    nodes = [node for name in SOURCE.files for node in SOURCE.nodes(name)]
    known = {node.name for node in nodes if isinstance(node, ast.ClassDef)} | {*dir(builtins)}
    known |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    gone = []
    for name in SOURCE.files:
        for block in indented_blocks(ast.get_docstring(SOURCE.tree(name), clean=False) or ""):
            if re.match(CODE, block.partition("\n")[0]):
                used = [node.func for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
                classes = {node.id for node in used if isinstance(node, ast.Name) and node.id[0].isupper()}
                gone += [f"{name}: {class_name}" for class_name in classes - known]
    assert not gone, "\n".join(gone)


OF_USERS = {
    "app.py",
    "child.py",
    "conftest.py",
    "manage.py",
    "server.py",
    "shop.py",
    "test_a.py",
    "test_till.py",
    "test_tokens.py",
    "till.py",
}
"""Files of programs in examples."""


def test_files_that_docstrings_and_comments_name_stand_where_they_are_looked_for() -> None:
    """A name alone is that of a module beside it; another has as much of its path as finds it."""
    names = re.compile(r"(?<![\w/.~-])(\w+(?:/\w+)*\.py)\b")
    files = [str(file) for file in SOURCE.files.values()]

    def stands(path: str, file: Path) -> bool:
        there = (file.parent / path).exists() or (ROOT / path).exists()
        return there or ("/" in path and any(other.endswith(f"/{path}") for other in files))

    gone = []
    for name, file in SOURCE.files.items():
        text = SOURCE.text(name)
        absent = {path for path in names.findall(text) if path.rpartition("/")[2] not in OF_USERS}
        absent = {path for path in absent if not stands(path, file)}
        if absent:  # only then, as tokens of all files take longer than all other checks of them
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and '"""' in token.string[:4]):
                    named = absent & set(names.findall(token.string))
                    gone += [f"{name}, line {token.start[0]}: {path}" for path in sorted(named)]
    assert not gone, "\n".join(gone)


# --- Names ------------------------------------------------------------------------------------------------------------


def test_a_file_name_is_used_once_but_for_a_tool_and_its_answer() -> None:
    places = defaultdict(list)
    for name, file in SOURCE.files.items():
        if file.stem not in ("__init__", "__main__"):
            places[file.stem].append(name)
    shared = {
        stem: names
        for stem, names in places.items()
        if len(names) > 1 and {name.split(".")[2] for name in names} != {"tools", "answers"}
    }
    assert shared == {}


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for name, node in SOURCE.definitions(ast.ClassDef):
        places[node.name].append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


# --- Sizes ------------------------------------------------------------------------------------------------------------


def test_a_long_module_gives_its_reason() -> None:
    """A paragraph of its docstring starts with `Long because`."""
    long = [
        f"{name}: {lines}"
        for name, file in SOURCE.files.items()
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > MOST_LINES
        and not re.search(r"^Long because \w+", ast.get_docstring(SOURCE.tree(name)) or "", re.MULTILINE)
    ]
    assert not long, "\n".join(long)


def functions() -> Iterator[tuple[str, Function]]:
    """The functions of the package and of the scripts."""
    yield from SOURCE.definitions(ast.FunctionDef)
    yield from SOURCE.definitions(ast.AsyncFunctionDef)
    for file in (ROOT / "scripts").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield f"scripts.{file.stem}.{node.name}", node


def test_the_modules_of_the_page_are_short() -> None:
    long = {
        file.name: lines
        for file in (HOME / "dashboard").rglob("*.js")
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > MOST_JAVASCRIPT_LINES
    }
    assert long == {}


def test_functions_are_short() -> None:
    long = []
    for name, node in functions():
        body = node.body[1:] if ast.get_docstring(node) else node.body
        lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
        if lines > MOST_BODY_LINES:
            long.append(f"{name}: {lines}")
    assert not long, "\n".join(long)


def test_classes_have_few_public_methods() -> None:
    """Properties are not counted."""
    large = []
    for name, node in SOURCE.definitions(ast.ClassDef):
        names = {
            method.name
            for method in methods(node)
            if not any("prop" in ast.unparse(decorator) for decorator in method.decorator_list)
        }
        public = [method for method in names if not method.startswith("_")]
        if len(public) > MOST_PUBLIC_METHODS:
            large.append(f"{name}: {len(public)}")
    assert not large, "\n".join(large)


def test_a_class_with_many_methods_gives_its_reason() -> None:
    """Its docstring says `hence so many`."""
    unexplained = [
        f"{name}: {len(methods(node))}"
        for name, node in SOURCE.definitions(ast.ClassDef)
        if len(methods(node)) > MOST_METHODS
        and "hence so many" not in " ".join((ast.get_docstring(node) or "").split())
    ]
    assert not unexplained, "\n".join(unexplained)


# --- Tests ------------------------------------------------------------------------------------------------------------


def test_test_folders_mirror_the_package() -> None:
    folders = {str(file.parent.relative_to(TESTS)) for file in TESTS.rglob("test_*.py")} - {"."}
    unknown = {name for name in folders if name.partition("/")[0] not in SUBJECTS and not (HOME / name).is_dir()}
    assert not unknown, unknown
    rooms = {folder.name for folder in HOME.iterdir() if any(folder.glob("*.py"))} - {"samples"}
    assert not rooms - folders, rooms - folders


def test_the_page_about_tests_has_every_folder() -> None:
    table = "".join(re.findall(r"^\| `.+$", (TESTS / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    folders = {folder.name for folder in TESTS.iterdir() if any(folder.glob("*.*")) and folder.name[0] not in "._"}
    assert not {name for name in folders if f"`{name}`" not in table}


def test_test_files_of_one_name_mirror_modules_of_one_name() -> None:
    places = defaultdict(set)
    for file in TESTS.rglob("test_*.py"):
        module = file.name.removeprefix("test_")
        mirrors = any((HOME / file.parent.relative_to(TESTS)).rglob(module)) if file.parent != TESTS else True
        places[file.name].add((str(file.relative_to(TESTS)), mirrors))
    alike = [
        places[name] for name in places if len(places[name]) > 1 and not all(mirrors for _, mirrors in places[name])
    ]
    assert not alike, "\n".join(" ".join(sorted(name for name, _ in files)) for files in alike)


def test_a_test_of_the_dashboard_that_draws_by_itself_has_a_page_in_which_nothing_else_draws() -> None:
    drawing, running = 0, []
    for file in sorted((TESTS / "dashboard").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        parts = [(part, "\n".join(lines[part.lineno - 1 : part.end_lineno])) for part in ast.parse(text).body]
        scripts = [
            ast.unparse(part.targets[0])
            for part, script in parts
            if isinstance(part, ast.Assign) and MAKES_STORE in script
        ]
        for part, source in parts:
            if isinstance(part, Function) and any(word in source for word in (MAKES_STORE, *scripts)):
                drawing += 1
                running += [] if "still_page" in ast.unparse(part.args) else [f"{file.name}: {part.name}"]
    assert drawing
    assert not running, f"the page's program draws into the same places, take `still_page`: {', '.join(running)}"
