"""The modules of a page in one script, and in one self-contained page, as they are."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.javascript import package
from trio_debugmcp.transports.bundle import bundled, read_bundle, uncommented
from trio_debugmcp.transports.pages import DASHBOARD

PAGE = """\
<!doctype html>
<html>
  <head>
    <link rel="stylesheet" href="looks.css">
    <script type="module" src="parts/main.js"></script>
  </head>
</html>
"""


def page(directory: Path, **files: str) -> Path:
    (directory / "parts").mkdir()
    (directory / "page.html").write_text(PAGE)
    (directory / "looks.css").write_text("p { color: red; }\n")
    for name, text in files.items():
        (directory / "parts" / f"{name}.js").write_text(text)
    return directory / "page.html"


def test_styles_and_modules_are_put_in_each_once_and_after_what_it_imports(tmp_path: Path) -> None:
    main = (
        "import {one} from './one.js';\nimport {\n  two as second,\n  Two,\n} from './two.js';\n\none(second, Two);\n"
    )
    one = "import {two} from './two.js';\n\nexport function one() {}\nexport async function later() {}\n"
    two = "const own = 1;\nexport const two = own;\nexport class Two {}\n"
    html = bundled(page(tmp_path, main=main, one=one, two=two))
    assert html == (
        "<!doctype html>\n<html>\n  <head>\n<style>\np { color: red; }\n</style>\n"
        '<script type="module">\n'
        "// parts/two.js\nconst module0 = (() => {\n"
        "const own = 1;\nconst two = own;\nclass Two {}\nreturn {two, Two};\n})();\n"
        "// parts/one.js\nconst module1 = (() => {\n"
        "const {two} = module0;\n\nfunction one() {}\nasync function later() {}\n"
        "return {one, later};\n})();\n"
        "// parts/main.js\nconst module2 = (() => {\n"
        "const {one} = module1;\nconst {two: second, Two} = module0;\n\n\n\n\n"
        "one(second, Two);\nreturn {};\n})();\n"
        "</script>\n  </head>\n</html>\n"
    )


def test_a_script_does_not_end_its_element_before_its_end(tmp_path: Path) -> None:
    html = bundled(page(tmp_path, main="const end = '</script><b>' + '</SCRIPT >';\n"))
    assert html.lower().count("</script") == 1
    assert r"const end = '<\/script><b>' + '<\/SCRIPT >';" in html


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"main": "import './one.js';\n", "one": ""}, "this cannot be put into one script: import './one.js';"),
        ({"main": "export default 1;\n"}, "main.js: this cannot be put into one script: export default 1;"),
        ({"main": "const a = 1;\nexport {a};\n"}, "main.js: this cannot be put into one script: export {a};"),
        ({"main": "export let a = 1;\n"}, "main.js: this cannot be put into one script: export let a = 1;"),
        (
            {"main": "import {a, b as c} from './one.js';\n", "one": "export const a = 1;\n"},
            "parts/main.js: parts/one.js does not export b",
        ),
        ({"main": "import * as x from './one.js';\n", "one": ""}, "cannot be put into one script: import \\* as x"),
        (
            {"main": "import {a} from './one.js';\n", "one": "import {b} from './main.js';\nexport const a = b;\n"},
            "main.js imports itself, by way of others",
        ),
    ],
)
def test_what_is_not_understood_is_refused(files: dict[str, str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=problem):
        bundled(page(tmp_path, **files))


def test_a_page_without_a_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>")
    with pytest.raises(ValueError, match=r"page\.html loads no module, or several"):
        read_bundle(tmp_path / "page.html")


def test_the_page_loads_one_style_sheet_and_one_script_in_the_place_of_all(tmp_path: Path) -> None:
    file = page(tmp_path, main="1;")
    file.write_text(PAGE.replace("    <script", '    <link rel="stylesheet" href="more.css">\n    <script'))
    (tmp_path / "more.css").write_text("b { margin: 0; }\n")
    bundle = read_bundle(file)
    html = bundle.html("STYLE\n", "SCRIPT\n")
    assert html == "<!doctype html>\n<html>\n  <head>\nSTYLE\nSCRIPT\n  </head>\n</html>\n"
    assert bundle.style == "p { color: red; }\nb { margin: 0; }\n"
    assert bundle.script == "// parts/main.js\nconst module0 = (() => {\n1;\nreturn {};\n})();\n"


def test_the_source_map_leads_from_each_line_to_the_same_line_of_its_source() -> None:
    bundle = read_bundle(DASHBOARD / "index.html")
    lines = bundle.script.splitlines()
    texts = {name: (DASHBOARD / name).read_text() for name in json.loads(bundle.source_map)["sources"]}
    sources = {
        name: (text if name.startswith("vendor/") else uncommented(text)).splitlines() for name, text in texts.items()
    }
    mapped = {(source, number): lines[at] for at, source, number in mappings(bundle.source_map)}
    assert set(mapped) == {(name, number) for name, text in sources.items() for number in range(len(text))}
    in_an_import = False
    for (name, number), line in mapped.items():
        original = sources[name][number]
        in_an_import = in_an_import or original.startswith("import {")
        if not in_an_import:
            assert original.removeprefix("export ") == line, f"{name}:{number + 1}"
        in_an_import = in_an_import and "} from " not in original


def test_lines_of_comment_are_left_out_and_what_comes_from_elsewhere_keeps_its_notices(tmp_path: Path) -> None:
    main = "// What it is.\n\n/** One. */\n/**\n * More.\n */\n/** @type {any} */ (x).y = 'a // b'; // why\n"
    file = page(tmp_path, main=main)
    script = "\n\n\n\n\n\n/** @type {any} */ (x).y = 'a // b'; // why\n"
    assert read_bundle(file).script == f"// parts/main.js\nconst module0 = (() => {{\n{script}return {{}};\n}})();\n"
    assert "under the licence in uplot.LICENSE.txt" in read_bundle(DASHBOARD / "index.html").script


@pytest.mark.real
def test_without_its_comments_every_module_is_the_same_to_a_compiler(tmp_path: Path) -> None:
    modules = [file for file in DASHBOARD.rglob("*.js") if file.parent.name != "vendor"]
    for file in modules:
        copy = tmp_path / "without" / file.relative_to(DASHBOARD)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(uncommented(file.read_text()))
    compiled = [
        minified(DASHBOARD, modules, tmp_path / "a"),
        minified(
            tmp_path / "without",
            [tmp_path / "without" / file.relative_to(DASHBOARD) for file in modules],
            tmp_path / "b",
        ),
    ]
    assert len(compiled[0]) == len(modules)
    assert compiled[0] == compiled[1]


def minified(home: Path, modules: list[Path], out: Path) -> dict[str, str]:
    """Each module as esbuild makes it, by its path: without comments and spaces."""
    command: list[str | Path] = [
        package(".bin/esbuild"),
        *modules,
        "--minify-whitespace",
        "--log-level=error",
        f"--outbase={home}",
        f"--outdir={out}",
    ]
    subprocess.run(command, check=True)
    return {str(file.relative_to(out)): file.read_text() for file in out.rglob("*.js")}


def mappings(source_map: str) -> Iterator[tuple[int, str, int]]:
    """Line of the script, source, and line of it, for each line of the script that is of a source."""
    parsed = json.loads(source_map)
    source = number = 0
    for at, segment in enumerate(parsed["mappings"].split(";")):
        if segment:
            column, to_source, to_number, to_column = differences(segment)
            assert (column, to_column) == (0, 0)
            source += to_source
            number += to_number
            yield at, parsed["sources"][source], number


def differences(segment: str) -> Iterator[int]:
    """Decode base64 VLQ."""
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    value = shift = 0
    for digit in map(digits.index, segment):
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            yield -(value >> 1) if value & 1 else value >> 1
            value = shift = 0


@pytest.mark.parametrize(
    "text", ["@import 'more.css';", "p { background: url(x.png) }", "p::after { content: '</style>' }"]
)
def test_a_style_sheet_that_loads_something_is_refused(text: str, tmp_path: Path) -> None:
    file = page(tmp_path, main="")
    (tmp_path / "looks.css").write_text(text)
    with pytest.raises(ValueError, match=r"looks\.css loads something"):
        bundled(file)
