"""Programs that an exception ends at which their adapter does not stop: the end says what would."""

from pathlib import Path

import pytest

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed

RUBY = "class OutOfStock < StandardError; end\ndef price(name)\n  raise OutOfStock, name\nend\nputs price('plum')\n"

PERL = "sub price {\n    return 1 / ($_[0] - 3);\n}\nprint price(3);\n"


@pytest.mark.parametrize(
    ("adapter", "name", "text", "said", "wanted"),
    [
        ("rdbg", "shop.rb", RUBY, "OutOfStock ended the program without a stop", {"exception": "OutOfStock"}),
        ("perl-ls", "shop.pl", PERL, "shop.pl:2: Illegal division by zero. As perl-ls", {"line": 2}),
    ],
)
async def test_an_exception_that_ends_a_program_is_noted_with_the_breakpoint_that_stops_there(
    debugging: Connect, tmp_path: Path, adapter: str, name: str, text: str, said: str, wanted: dict[str, str]
) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    need(adapter, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    program = tmp_path / name
    program.write_text(text)
    async with debugging() as client:
        end = await client.call("debug_launch", program=str(program), stop_at_entry=False)
        assert end["state"] == "Disconnected"
        assert any(said in note for note in end["notes"])
        breakpoints = [wanted if "exception" in wanted else {"file": str(program), **wanted}]
        stop = await client.call("debug_launch", program=str(program), stop_at_entry=False, breakpoints=breakpoints)
        assert stop["state"] == "Paused"


async def test_a_program_of_perl_that_warns_last_and_exits_has_not_died(debugging: Connect, tmp_path: Path) -> None:
    profile = profile_named("perl-ls")
    assert profile is not None
    need("perl-ls", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    program = tmp_path / "shop.pl"
    program.write_text('my $n = 2;\nwarn "low stock" if $n < 3;\nexit 3;\n')
    async with debugging() as client:
        end = await client.call("debug_launch", program=str(program), stop_at_entry=False)
        assert (end["state"], end["exitCode"], end.get("notes")) == ("Disconnected", 3, None)
        with pytest.raises(ToolFailed, match="has exited with 3"):
            await client.call("exception_get_context")
