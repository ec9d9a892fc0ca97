"""Child processes of the program are sessions of their own: breakpoints reach them, a stop there takes the focus."""

from tests.real.conftest import Connect, at, line_of, program

SESSION = "debugger://session"


async def test_a_breakpoint_in_a_childs_code_stops_there_and_the_program_runs_to_its_end(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("child.py", "doubled ="))
        stop = (await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False))["stop"]
        assert stop["reason"] == "Breakpoint"
        assert stop["location"]["file"] == program("child.py")
        assert stop["location"]["line"] == line_of("child.py", "doubled =")
        assert (await client.call("evaluate", expression="word"))["value"] == "'x'"

        child = await client.read(SESSION)
        assert child["processName"] == "child.py"
        parent = await client.call("debug_state", session_id=child["parentSessionId"])
        assert parent["state"] == "Running"
        (listed,) = parent["children"]
        assert listed["sessionId"] == child["sessionId"]
        assert listed["processId"] == child["processId"]
        assert (listed["state"], listed["pauseReason"]) == ("Paused", "Breakpoint")

        end = await client.call("debug_continue")
        assert (end["reason"], end["exitCode"]) == ("Exited", 0)


async def test_workers_of_a_pool_stop_one_after_the_other_and_keep_the_focus_meanwhile(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("parent.py", "squared ="))
        stop = (await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False))["stop"]
        numbers = []
        while stop["state"] == "Paused":
            assert stop["location"]["functionName"] == "work"
            (number,) = (await client.call("variables_get", filter="number"))["variables"]
            again = await client.call("debug_state")
            assert again["sessionId"] == stop["sessionId"], "another worker's stop does not take the focus"
            numbers.append(int(number["value"]))
            stop = await client.call("debug_continue")
        assert sorted(numbers) == list(range(8))
        assert stop["exitCode"] == 0


async def test_a_disconnect_ends_the_children_too(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("child.py", "doubled ="))
        await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False)
        await client.call("debug_disconnect")
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        (kept,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert kept["state"] == "Pending"
