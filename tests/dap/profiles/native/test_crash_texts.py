"""Addresses of code in what a crash has written."""

import pytest

from trio_debugmcp.dap.profiles.native.crash_texts import CodeAddress, CodePlace, addresses_in, gdb_command, places_in

GLIBC = """*** stack smashing detected ***: terminated
./shop(+0x1173)[0x55bd7ee60173]
./shop(main+0xe) [0x55bd7ee601b9]
/opt/a b/shop() [0x401173]
"""

SANITIZER = """==9038==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55ef9891b1c2)
    #0 0x55ef9891b1c2  (/srv/shop+0x11c2) (BuildId: 0a1b)
    #1 0x55ef9891b181 in add (/srv/shop+0x1181)
"""


def test_a_line_of_glibc_has_the_file_and_where_a_call_returns_to() -> None:
    assert addresses_in(GLIBC) == [
        CodeAddress("./shop(+0x1173)[0x55bd7ee60173]", "./shop", 0x1173, called=True),
        CodeAddress("./shop(main+0xe) [0x55bd7ee601b9]", "./shop", 0xE, "main", called=True),
        CodeAddress("/opt/a b/shop() [0x401173]", "/opt/a b/shop", 0x401173, called=True),
    ]


def test_a_line_of_a_sanitizer_has_the_call_and_its_other_numbers_are_left_out() -> None:
    assert addresses_in(SANITIZER) == [
        CodeAddress("/srv/shop+0x11c2", "/srv/shop", 0x11C2),
        CodeAddress("/srv/shop+0x1181", "/srv/shop", 0x1181),
    ]


def test_an_address_may_stand_alone() -> None:
    assert addresses_in("#1  0x000055555555513d in add ()") == [CodeAddress("0x000055555555513d", None, 0x55555555513D)]


@pytest.mark.parametrize("text", ["Basket", "*_0x12", "fig 0x", "std::map<int, int>::operator[]", "a.0x1", ""])
def test_a_name_is_not_taken_for_one(text: str) -> None:
    assert addresses_in(text) == []


def test_nothing_of_a_text_is_code_for_gdb() -> None:
    (hostile,) = addresses_in("""./shop(x'+$_shell("id")+'y+0x1) [0x2]""") or addresses_in("./shop() [0x2]")
    assert not hostile.symbol
    command = gdb_command("gdb", "./shop", [hostile])
    assert command[-1].count("\n") == 0  # one command


def test_what_gdb_says_is_read_in_its_order() -> None:
    written = 'warning: x\n@{"functions": ["add", "main"], "file": "/x/shop.c", "line": 6}\n@{}\n'
    assert places_in(written) == [CodePlace(("add", "main"), "/x/shop.c", 6), CodePlace()]
