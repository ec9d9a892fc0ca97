"""Functions in JavaScript and TypeScript, and the statement that a call of each begins with."""

import time
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.javascript.function_files import (
    functions_alike,
    functions_in,
    functions_named,
    left_out,
)


def found(text: str) -> dict[str, tuple[int, str]]:
    """Return functions by their names: the line of each first statement, and the text from there on."""
    lines = text.split("\n")
    return {
        each.qualname: (each.first, lines[each.first - 1][(each.column or 1) - 1 :].strip())
        for each in functions_in(text)
    }


@pytest.mark.parametrize(
    ("text", "name", "begins"),
    [
        ("function board(n) {\n  // of\n  return n;\n}", "board", (3, "return n;")),
        ("async function* rows(a = {}, { b } = a) { yield b; }", "rows", (1, "yield b; }")),
        ("const price = (a) => {\n  return a;\n};", "price", (2, "return a;")),
        ("export const twice = x => x * 2;", "twice", (1, "x * 2;")),
        ("const late = (a) =>\n  a + 1;", "late", (2, "a + 1;")),
        ("class A {\n  async b(c) { return c; }\n}", "A.b", (2, "return c; }")),
        ("class A<T extends { d: C }> extends B {\n get c(): { d: T } {\n return 1;\n  }\n}", "A.c", (3, "return 1;")),
        ("class A {\n  #d = async () => {\n    await 1;\n  };\n}", "A.#d", (3, "await 1;")),
        ("const api = {\n  list(q) {\n    return q;\n  },\n};", "api.list", (3, "return q;")),
        ("const api = { find: function (q) { return q; } };", "api.find", (1, "return q; } };")),
        ("Till.prototype.open = function () { return 1; };", "Till.open", (1, "return 1; };")),
        ("module.exports.open = () => 1;", "open", (1, "1;")),
        ("export const add = (a: number, b: number): number => a + b;", "add", (1, "a + b;")),
        ("const load: Loader<string> = async <T,>(a: T) => {\n  return a;\n};", "load", (2, "return a;")),
        ("function of(a: any): Promise<{ b: string }> {\n  return a;\n}", "of", (2, "return a;")),
        ("function is(a: unknown): a is { b: string } { return true; }", "is", (1, "return true; }")),
        ("function f() {\n  'use strict';\n  function g() { return 1; }\n\n  return g();\n}", "f", (5, "return g();")),
        ("function f() {\n}", "f", (2, "}")),
        ("function f() {\n  `${1}`.trim();\n}", "f", (2, "`${1}`.trim();")),
        ("const re = /[{(]'/;\nfunction f() {\n  return re;\n}", "f", (3, "return re;")),
        ("const text = '{'; // {\nfunction f() {\n  return text;\n}", "f", (3, "return text;")),
    ],
)  # fmt: skip
def test_a_call_begins_with_the_first_statement_of_a_body(text: str, name: str, begins: tuple[int, str]) -> None:
    assert found(text)[name] == begins


def test_what_has_no_body_or_no_name_is_left_out() -> None:
    text = (
        "interface Line { price(a: number): number; count: number }\n"
        "declare function ext(a: string): void;\n"
        "function over(a: string): string;\n"
        "function over(a: any) {\n  return a;\n}\n"
        "if (over(1)) { over(2); }\n"
        "for (const a of b) { over(a); }\n"
        "while (over(3)) {}\n"
        "app.get('/x', async (req, res) => { res.send(1); });\n"
        "const half = 4 / over(2) / 1;\n"
    )
    assert found(text) == {"over": (5, "return a;")}


@pytest.mark.parametrize(
    "text",
    [
        "interface Store {\n  add: (x: number) => void;\n}\n",
        "interface Store<T> extends Base<T> {\n  add: (x: number) => void;\n}\n",
        "interface Store {\n  inner: { add: (x: number) => void };\n}\n",
        "type Add = { add: (x: number) => number };\n",
        "type Add<T> = { inner: { add: (x: T) => number } };\n",
        "class Other {\n  add: (x: number) => void;\n}\n",
        "function run(add: (x: number) => void) {\n  return add(1);\n}\n",
        "function run(store: { add: (x: number) => void }) {\n  return store.add(1);\n}\n",
        "let store: { add: (x: number) => void };\n",
        "let add: (x: number) => void;\n",
        "const f = ok ? add : (x) => {\n  return 1;\n};\n",
        "const f = { a: ok ? add : (x) => 1 };\n",
        "run(ok ? add : (x) => 1);\n",
        "const f = { a: ok(2) ? some(1) + add : (x) => 1 };\n",
    ],
)
def test_a_type_and_a_choice_are_not_functions(text: str) -> None:
    own = "function add(x) {\n  return x;\n}\n"
    assert [each.line for each in functions_in(text + own) if each.name == "add"] == [text.count("\n") + 1]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("const store = { add: (x) => 1 };", "store.add"),
        ("const store = { a: ok ? 1 : 2, add: async (x) => 1 };", "store.add"),
        ("const store = { inner: { add: function (x) { return 1; } } };", "store.inner.add"),
        ("run({ add: (x) => 1 });", "add"),
        ("run(ok ? a : { add: (x) => 1 });", "add"),
        ("class Store {\n  add: Adder = (x) => 1;\n}", "Store.add"),
        ("class Store {\n  add: (x: number) => number = (x) => 1;\n}", "Store.add"),
        ("export const add: (x: number) => number = (x) => 1;", "add"),
        ("const a = <p>Don't {all.map((x) => {\n return 1; })}</p>;\nfunction add() { return 1; }", "add"),
    ],
)
def test_a_member_that_is_a_function_is_found(text: str, name: str) -> None:
    assert name in [each.qualname for each in functions_in(text)]


@pytest.mark.parametrize("part", ['\\"', "\\'", "=/[", "=/a", "=/[a]", "`\\", "a(){", "function f(){return 1};", "{a:"])
def test_the_time_to_read_a_text_grows_as_it_does(part: str) -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        functions_in.__wrapped__(part * (length // len(part)))
        return time.process_time() - began

    seconds(1000)
    assert seconds(160_000) < 60 * max(seconds(10_000), 0.005)  # of the length 16 times, of its square 256


def test_a_function_deep_in_others_is_left_out() -> None:
    found = functions_in("a(){" * 1000 + "}" * 1000)
    assert len(found) == 50


def test_brackets_that_nothing_closes_hide_no_other_function() -> None:
    assert "f" in found("const a = (\nfunction f() { return 1; }\n")
    assert "f" in found("const a = b) };\nfunction f() { return 1; }\n")
    assert functions_in("(" * 10_000 + "}" * 10_000) == ()


def test_a_function_is_found_in_the_files_of_its_program_outside_of_others_first(tmp_path: Path) -> None:
    texts = {
        "package.json": "{}",
        "src/app.ts": "main();\nfunction main() {\n  new Cart().add();\n}\n",
        "src/lib/cart.ts": "export class Cart {\n  constructor(private a = 1) {}\n  add() {\n    return 1;\n  }\n}\n",
        "src/lib/sums.js": "const sums = { by: { add() { return 2; } } };\nexport const add = (a) => a;\n",
        "dist/app.js": "function main() {\n  cart.add();\n}\n//# sourceMappingURL=app.js.map",
        "dist/only.js": "function built() {\n  return 1;\n}\n//# sourceMappingURL=only.js.map",
        "node_modules/other/index.js": "function hidden() {}\nfunction main() {}\n",
        "types.d.ts": "declare class Cart {}",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def places(name: str) -> list[str]:
        program = str(tmp_path / "dist" / "app.js")
        found = functions_named(name, [program], [str(tmp_path / "dist")])
        return [f"{Path(file).relative_to(tmp_path)}:{each.first} {each.qualname}" for file, each in found]

    assert places("main") == ["src/app.ts:3 main"]
    assert places("Cart.add") == ["src/lib/cart.ts:4 Cart.add"]
    assert places("Cart") == ["src/lib/cart.ts:2 Cart.constructor"]
    assert places("sums.add") == ["src/lib/sums.js:2 add"]
    assert places("add") == ["src/lib/sums.js:2 add", "src/lib/cart.ts:4 Cart.add", "src/lib/sums.js:1 sums.by.add"]
    assert places("built") == ["dist/only.js:2 built"]
    assert places("hidden") == places("dd") == []
    alike = functions_alike("mian", [], [str(tmp_path)])
    assert [(Path(file).name, each.qualname) for file, each in alike] == [("app.ts", "main")]


def test_a_function_of_the_program_itself_is_before_those_of_files_near_it(tmp_path: Path) -> None:
    (tmp_path / "app.js").write_text("class Cart {\n  add() {\n    return 1;\n  }\n}\n")
    (tmp_path / "a.js").write_text("function add() {\n  return 2;\n}\n")
    found = functions_named("add", [str(tmp_path / "app.js")], [str(tmp_path)])
    assert [each.qualname for _, each in found] == ["Cart.add", "add"]


def test_of_many_files_the_first_are_looked_through_and_a_search_says_so(tmp_path: Path) -> None:
    for number in range(501):
        (tmp_path / f"f{number:03}.js").write_text("function add() { return 1; }\n")
    near = [str(tmp_path)]
    assert len(functions_named("add", [], near)) == 500
    assert left_out([], near) == "only 500 files of the program were looked through, which has more"
    (tmp_path / "f500.js").unlink()
    assert left_out([], near) == ""
    for number in range(9):
        (tmp_path / f"f{number:03}.js").write_text(" " * 1024 * 1024)
    assert left_out([], near) == "only 8 files of the program were looked through, which has more"


def test_a_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "app.js"
    for text, line in (("function add() { return 1; }", 1), ("\nfunction add() { return 1; }", 2)):
        file.write_text(text)
        assert [each.line for _, each in functions_named("add", [str(file)], [])] == [line]
