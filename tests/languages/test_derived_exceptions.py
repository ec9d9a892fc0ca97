"""An exception breakpoint stops at what is derived from its type, also where the adapter only names that."""

from pathlib import Path

import pytest

from tests.languages.conftest import need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named

RUBY = """\
module Shop
  class Failure < StandardError; end
  class OutOfStock < Failure; end
end
begin
  raise Shop::OutOfStock, "plum"
rescue Shop::Failure
end
"""

JAVA = """\
public class Till {
    static class Failure extends IllegalStateException { Failure(String said) { super(said); } }
    static class OutOfStock extends Failure { OutOfStock(String said) { super(said); } }
    public static void main(String[] args) {
        try {
            throw new OutOfStock("plum");
        } catch (Failure failure) { }
    }
}
"""


@pytest.mark.parametrize(
    ("adapter", "name", "text", "types", "library"),
    [
        ("rdbg", "till.rb", RUBY, ["Shop::Failure", "Failure", "StandardError"], "KeyError"),
        ("java", "Till.java", JAVA, ["Till.Failure", "Failure", "java.lang.RuntimeException", "Exception"], "Error"),
    ],
)
async def test_a_breakpoint_on_an_ancestor_stops_where_what_is_derived_from_it_is_raised(
    debugging: Connect, tmp_path: Path, adapter: str, name: str, text: str, types: list[str], library: str
) -> None:
    profile = profile_named(adapter)
    assert profile is not None
    need(adapter, profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    program = tmp_path / name
    program.write_text(text)
    async with debugging() as client:
        wanted = [{"exception": kind} for kind in [*types, library]]
        stop = await client.call("debug_launch", program=str(program), stop_at_entry=False, breakpoints=wanted)
        assert stop["state"] == "Paused"
        assert f"{name}:6" in stop["at"]
        assert stop["breakpoints"] == [f"ex-{number}" for number in range(1, len(types) + 1)]
        assert (await client.call("debug_continue"))["state"] == "Disconnected"
        await client.call("breakpoint_remove", id="*")
        await client.call("breakpoint_set_exception", exception_type=types[1], include_subtypes=False)
        end = await client.call("debug_launch", program=str(program), stop_at_entry=False)
        assert end["state"] == "Disconnected"
