"""Programs of two languages at once: Python and C++, each with its breakpoints, its output and its end."""

from pathlib import Path

from tests.languages.conftest import at, need, place
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named

SCRIPT = """\
total = 0
for number in range(3):
    total += number
print("python", total)
"""


async def test_a_breakpoint_in_each_language_stops_its_own_program(
    debugging: Connect, native_program: str, tmp_path: Path
) -> None:
    profile = profile_named("gdb")
    assert profile is not None
    need("gdb", profile.locate(), f"{profile.absence()}; {profile.install_hint}")
    script = tmp_path / "sums.py"
    script.write_text(SCRIPT)
    async with debugging() as client:
        native = await client.call("debug_launch", program=native_program, adapter="gdb", stop_at_entry=True)
        python = await client.call("debug_launch", program=str(script), new_session=True)
        assert (native["session"], native["reason"], python["session"], python["at"]) == (
            "s-1",
            "Entry",
            "s-2",
            f"{script}:1 in <module>",
        )

        # Neither adapter gets a condition in the other's language, which it would refuse.
        await client.call("breakpoint_set", **at("add"), condition="total > 0 && sum > total")
        await client.call("breakpoint_set", file=str(script), line=3, condition="number == 2 and total")
        assert (await client.call("breakpoint_list"))["breakpoints"] == [
            f"bp-1 {place('add')} if total > 0 && sum > total",
            f"bp-2 {script}:3 if number == 2 and total",
        ]
        stop = await client.call("debug_continue", session_id="s-1")
        assert (stop["breakpoints"], stop["session"], stop["locals"]["total"]) == (["bp-1"], "s-1", "2")
        stop = await client.call("debug_continue", session_id="s-2")
        assert (stop["breakpoints"], stop["session"], stop["locals"]) == (
            ["bp-2"],
            "s-2",
            {"total": "1", "number": "2"},
        )
        for session, expression, value in (("s-1", "total * 2", "4"), ("s-2", "total * 3", "3")):
            assert (await client.call("evaluate", expression=expression, session_id=session))["value"] == value

        # The end of one leaves the other at its stop.
        ended = await client.call("debug_continue", session_id="s-2")
        assert (ended["state"], ended["stdout"], ended["session"]) == ("Disconnected", "python 3\n", "s-2")
        state = await client.call("debug_state")
        assert (state["state"], state["breakpoints"]) == ("Paused", ["bp-1"])
        read = await client.call("process_read_output", session_id="s-2")
        assert "python 3" in str(read["entries"])
        assert (await client.call("debug_disconnect"))["ended"] is True
