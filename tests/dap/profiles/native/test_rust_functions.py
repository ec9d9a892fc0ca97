"""Functions of Rust by a part of their paths, as its source files have them."""

from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles.function_code import FunctionPlace
from trio_debugmcp.dap.profiles.native.native_code import NativeCode
from trio_debugmcp.dap.profiles.native.rust_functions import functions_in, is_of_rust, places, without_generics

STOCK = """\
/* fn none() { */ // fn no() {
pub struct Stock { pub each: fn(u8) -> u8 }

impl<'a, T: Into<Vec<u8>>> fmt::Display for Shelf<'a, T> where T: Clone {
    fn fmt(&self, f: &mut [u8; 4]) -> R { let c = '{'; let s = "}"; fn inner() {} }
}
impl Stock {
    pub(crate) async fn take<'a>(&'a mut self) -> impl Fn(u8) -> u8 where Self: Sized {
        let quoted = r#"fn hidden() { "#;
    }
}
trait Named { fn name(&self) -> String; fn shout(&self) { } }
mod deep { pub mod er { fn r#try() {} } }
fn last() { if x { } }
"""


def test_the_functions_of_a_file_are_found_with_the_blocks_that_they_are_in() -> None:
    assert functions_in(STOCK) == {
        ("Shelf", "fmt"): 5,
        ("Shelf", "fmt", "inner"): 5,
        ("Stock", "take"): 8,
        ("Named", "shout"): 12,
        ("deep", "er", "try"): 13,
        ("last",): 14,
    }
    assert functions_in("}}} fn odd(") == {}


def test_types_between_brackets_are_left_out_of_a_path() -> None:
    assert without_generics("largest::<Vec<f64>>") == "largest"
    assert without_generics("Shelf<T>::fmt") == "Shelf::fmt"
    assert without_generics("a::b") == "a::b"


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    (tmp_path / "Cargo.toml").touch()
    for name, text in {
        "src/main.rs": "fn main() {}\nfn last() {}\n",
        "src/store/mod.rs": STOCK,
        "src/cart.rs": "impl Cart {\n    fn take() {}\n}\n",
        "target/made.rs": "fn made() {}\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_a_part_of_a_path_leads_to_the_line_of_the_function_anywhere_in_its_crate(crate: Path) -> None:
    code, near = NativeCode(), [str(crate / "target" / "debug")]
    store = str(crate / "src" / "store" / "mod.rs")
    assert code.function_place("Stock::take", [], near) == FunctionPlace(store, 8)
    assert code.function_place("crate::store::Stock::take", [], near) == FunctionPlace(store, 8)
    assert code.function_place("er::try", [], near) == FunctionPlace(store, 13)
    assert code.function_place("made", [], near) is None
    # Its whole name, which the debugger knows, and a name that is the runtime's as well.
    assert code.function_place("shop::store::Stock::take", [], near) is None
    assert code.function_place("main", [], near) is None


def test_a_name_that_several_functions_have_is_none_of_them_and_all_are_named(crate: Path) -> None:
    code, near = NativeCode(), [str(crate)]
    assert code.function_place("take", [], near) is None
    assert [found.qualname for _, found in code.find_functions("take", [], near, alike=True)] == [
        "cart::Cart::take",
        "store::Stock::take",
    ]
    assert [found.qualname for _, found in code.find_functions("Stock::tak", [], near, alike=True)] == [
        "cart::Cart::take",
        "store::Stock::take",
    ]


def test_outside_of_a_crate_only_the_files_there_are_looked_through(crate: Path) -> None:
    (crate / "Cargo.toml").unlink()
    assert places("last", [str(crate)]) == []
    assert [line for _, _, line in places("last", [str(crate / "src")])] == [2]


def test_only_programs_of_rust_are_looked_for_in_source(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    assert not is_of_rust(str(tmp_path / "text"))
    assert not is_of_rust(str(tmp_path / "nosuch"))
    assert not is_of_rust(None)


def test_what_is_built_and_packages_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text("")
    for folder in ("src", "target", "node_modules", ".cargo"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lib.rs").write_text("fn add() {\n}\n")
    assert [file for _, file, _ in places("add", [str(tmp_path)])] == [str(tmp_path / "src" / "lib.rs")]
