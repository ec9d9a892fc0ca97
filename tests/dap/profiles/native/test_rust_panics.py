"""Panics of Rust: what the stack and the output at a stop say of one."""

import pytest

from trio_debugmcp.dap.profiles.native.rust_panics import PanicFrame, is_panic, panic

RUNTIME = ["__rustc::rust_panic", "std::panicking::rust_panic_with_hook", "core::panicking::panic_fmt"]
MAIN = ["std::sys::backtrace::__rust_begin_short_backtrace<fn(), ()>", "std::panicking::catch_unwind", "main"]


def stack(*names: str, line: int = 29) -> list[PanicFrame]:
    """Frames of which those of `shop` have a source of the user's."""
    return [PanicFrame(name, "/home/me/src/shop.rs" if name.startswith("shop::") else None, line) for name in names]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "\nthread 'main' (117) panicked at src/shop.rs:29:5:\r\nindex out of bounds\r\nnote: run with `RUST_BACK",
            "thread 'main' panicked at src/shop.rs:29:5: index out of bounds",
        ),
        (
            "thread '<unnamed>' panicked at src/shop.rs:29:5:\nit is not equal\n left: 1\nstack backtrace:",
            "thread '<unnamed>' panicked at src/shop.rs:29:5: it is not equal\n left: 1",
        ),
        (
            "thread 'main' panicked at 'bad plum', src/shop.rs:29:5\nnote: run with",
            "thread 'main' panicked at src/shop.rs:29:5: bad plum",
        ),
        (
            "thread 'main' panicked at src/shop.rs:29:5:\nmine\nthread 'b' panicked at src/shop.rs:7:1:\nanother's\n",
            "thread 'main' panicked at src/shop.rs:29:5: mine",
        ),
        ("thread 'main' panicked at src/shop.rs:7:1:\nanother one, long since\n", None),
        ("", None),
    ],
)
def test_the_message_is_what_the_program_wrote_about_a_place_of_the_stack(output: str, message: str | None) -> None:
    seen = panic(stack(*RUNTIME, "shop::sell", "shop::main", *MAIN), output)
    assert (seen.type, seen.message, seen.mode) == ("panic", message, "unhandled")


def test_a_panic_is_caught_if_something_within_the_runtimes_first_function_catches() -> None:
    caught = stack(*RUNTIME, "shop::refuse", "std::panicking::try<(), F>", "shop::main", *MAIN)
    assert panic(caught, "").mode == "always"
    assert panic(stack(*RUNTIME, "shop::refuse", "shop::main"), "").mode == "unhandled"  # as gdb's stacks end


def test_what_is_only_passed_on_has_no_mode() -> None:
    again = stack("rust_panic", "std::panicking::rust_panic_without_hook", "std::panic::resume_unwind", "shop::main")
    assert panic(again, "").mode is None


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("rust_panic", True), ("__rustc::rust_panic", True), ("shop::rust_panics", False), ("shop::my_rust_panic", False)],
)
def test_a_panic_is_known_by_its_function(name: str, is_one: bool) -> None:
    assert is_panic(name) is is_one


def test_without_frames_there_is_none() -> None:
    assert not is_panic("")
