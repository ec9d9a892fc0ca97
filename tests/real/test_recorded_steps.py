"""Steps back in a recorded session whose adapter cannot make them: the record is shown, and the program stays."""

from pathlib import Path

import pytest

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import oldest_first
from tests.real.test_recorded_programs import NEW, SHOP, on
from tests.server.scene import failure


@pytest.mark.parametrize("python", oldest_first(NEW))
async def test_a_step_back_shows_the_record_and_steps_forth_lead_to_the_present_again(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    async with debugging() as client:
        places = [{"file": str(file), "line": 19}]
        await client.call("debug_launch", program=str(file), record=True, breakpoints=places, **on(python))
        back = await client.call("debug_step", mode="back", show=["first", "len(sys.argv)"])
        assert (back["state"], back["at"], back["ran"]) == ("Recorded", "shop.py:18 in <module>", "first=10")
        assert back["show"]["len(sys.argv)"].startswith("<of a recorded moment")
        (note,) = back["notes"]
        assert note.startswith("shown from run-1, nothing is undone: the program is still at shop.py:19 in <module>. ")
        assert "debug_state" in note.rpartition(";")[2]
        assert (await client.call("debug_step", mode="in"))["at"] == "shop.py:14 in serve"
        assert (await client.call("debug_step", count=2))["at"] == "shop.py:16 in serve"
        out = await client.call("debug_step", mode="out")
        assert (out["state"], out["at"]) == ("Paused", f"{file}:19 in <module>"), "there is no line between"
        assert "back in the present: nothing has run meanwhile" in str(out["notes"])
        assert (await client.call("evaluate", expression="first"))["value"] == "10"
        over = await client.call("debug_step")
        assert (over["state"], over["at"]) == ("Paused", f"{file}:20 in <module>"), "the program itself"
        back = await client.call("debug_step", mode="back", count=2)
        assert back["at"] == "shop.py:18 in <module>"
        assert (await client.call("debug_state"))["at"] == f"{file}:20 in <module>"
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 10), "debug_state had led back"


async def test_the_way_back_ends_at_breakpoints_and_says_which_were_not_looked_for(
    debugging: Connect, tmp_path: Path
) -> None:
    file, python = tmp_path / "shop.py", next(iter(NEW.values()))
    file.write_text(SHOP)
    async with debugging() as client:
        places = [{"file": str(file), "line": 20}]
        await client.call("debug_launch", program=str(file), record=True, breakpoints=places, **on(python))
        await client.call("breakpoint_set", file=str(file), line=10, condition="price == 6")
        await client.call("breakpoint_set", function="fill")
        back = await client.call("debug_continue", reverse=True)
        assert (back["breakpoints"], back["at"]) == (["bp-2"], "shop.py:10 in total")
        assert (back["locals"]["price"], back["stack"]) == ("6", ["serve :15", "<module> :19"])
        assert back["notes"][0] == "not looked for, as only lines and conditions are: fn-3"
        again = await client.call("debug_continue", reverse=True)
        assert again["stack"] == ["serve :15", "<module> :18"]
        first = await client.call("debug_continue", reverse=True)
        assert (first["at"], first["notes"][0]) == (
            "shop.py:1 in <module>",
            "no breakpoint was hit before: the record begins here",
        )
        assert (await client.call("debug_continue"))["number"] == again["number"]
        await client.call("debug_continue")
        present = await client.call("debug_continue")
        assert (present["state"], present["at"]) == ("Paused", f"{file}:20 in <module>")
        error = await failure(client, "debug_step", mode="back", granularity="instruction")
        assert (error.code, "is one of a line" in error.message) == ("INVALID_PARAMETER", True)


async def test_a_program_that_is_not_recorded_is_still_refused_with_how_it_could_be(
    debugging: Connect, tmp_path: Path
) -> None:
    file, python = tmp_path / "shop.py", next(iter(NEW.values()))
    file.write_text(SHOP)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), **on(python))
        for tool, wanted in (("debug_step", {"mode": "back"}), ("debug_continue", {"reverse": True})):
            error = await failure(client, tool, **wanted)
            assert error.code == "NOT_SUPPORTED"
            assert "debug_launch(record=true) keeps the run, and steps back through that" in error.message
