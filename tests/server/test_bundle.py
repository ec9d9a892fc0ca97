"""One self-contained page: the modules of the dashboard in one file, as they are."""

from pathlib import Path

import pytest

from trio_debugmcp.server.bundle import bundled

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
        "// two.js\nconst module0 = (() => {\n"
        "const own = 1;\nconst two = own;\nclass Two {}\nreturn {two, Two};\n})();\n\n"
        "// one.js\nconst module1 = (() => {\nconst {two} = module0;\n\nfunction one() {}\nasync function later() {}\n"
        "return {one, later};\n})();\n\n"
        "// main.js\nconst module2 = (() => {\nconst {one} = module1;\nconst {two: second, Two} = module0;\n\n"
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
        ({"main": "import './one.js';\n", "one": ""}, "main.js: this cannot be put into a page: import './one.js';"),
        ({"main": "export default 1;\n"}, "main.js: this cannot be put into a page: export default 1;"),
        ({"main": "const a = 1;\nexport {a};\n"}, "main.js: this cannot be put into a page: export {a};"),
        ({"main": "import * as x from './one.js';\n", "one": ""}, "cannot be put into a page: import \\* as x"),
        (
            {"main": "import {a} from './one.js';\n", "one": "import {b} from './main.js';\nexport const a = b;\n"},
            "main.js imports itself, by way of others",
        ),
    ],
)
def test_what_is_not_understood_is_refused(files: dict[str, str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=problem):
        bundled(page(tmp_path, **files))


@pytest.mark.parametrize(
    "text", ["@import 'more.css';", "p { background: url(x.png) }", "p::after { content: '</style>' }"]
)
def test_a_style_sheet_that_loads_something_is_refused(text: str, tmp_path: Path) -> None:
    file = page(tmp_path, main="")
    (tmp_path / "looks.css").write_text(text)
    with pytest.raises(ValueError, match=r"looks\.css loads something"):
        bundled(file)
