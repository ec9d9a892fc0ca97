"""A person and an agent debug one program together, from the agent's launch until the agent is alone again."""

import trio
from trio.testing import MockClock

from tests.editors.bench import open_bench
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.editors.rounds import ROUND_SECONDS
from trio_debugmcp.testing import FakeAdapter


async def test_an_agent_launches_a_person_joins_and_continues_to_a_condition_the_agent_steps_and_stays_alone(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.locals, adapter.frames = {"i": "0"}, [("main", adapter.program, 1)]
    source = {"path": adapter.program}
    async with open_bench(adapter) as bench, trio.open_nursery() as nursery:
        agent = bench.agent
        stop = await agent.call("debug_launch", program=adapter.program, stop_at_entry=True)
        assert (stop["state"], stop["reason"], stop.get("notes")) == ("Paused", "Entry", None)
        async with bench.editor() as editor:
            # The person sees what the agent sees.
            await editor.join()
            assert (await editor.wait_event("stopped"))["reason"] == "entry"
            assert (await editor.top_frame())["line"] == 1
            assert [(each["name"], each["value"]) for each in await editor.locals()] == [("i", "0")]

            # The person sets a breakpoint, which the adapter and the agent have, too, and continues.
            wanted = [{"line": 5, "condition": "i == 3"}]
            [made] = (await editor.ask("setBreakpoints", source=source, breakpoints=wanted))["breakpoints"]
            assert (made["verified"], made["line"]) == (True, 5)
            assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == wanted
            [known] = (await agent.read("debugger://breakpoints"))["breakpoints"]
            assert (known["line"], known["condition"], known["setBy"]) == (5, "i == 3", ["Test Editor"])
            await editor.ask("continue", threadId=1)
            assert (await editor.refused("next", threadId=1)).word == "notStopped"

            # The agent's wait returns with the stop there, and learns who brought the program to it.
            waited: list[tuple[float, dict[str, object]]] = []

            async def wait() -> None:
                answer = await agent.call("debug_wait")
                waited.append((trio.current_time(), answer))

            nursery.start_soon(wait)
            await trio.sleep(7)
            adapter.values, adapter.frames = {"i == 3": "True"}, [("main", adapter.program, 5)]
            adapter.locals = {"i": "3"}
            await adapter.stop("breakpoint", hit=[1])
            stopped = await editor.wait_event("stopped", 2)
            assert (stopped["reason"], stopped["hitBreakpointIds"]) == ("breakpoint", [made["id"]])
            [(at, answer)] = waited
            assert at == trio.current_time() - ROUND_SECONDS
            assert (answer["reason"], answer["locals"]) == ("Breakpoint", {"i": "3"})
            assert str(answer["at"]).endswith("fake_adapter.py:5 in main")
            assert answer["breakpoints"] == [known["id"]]
            assert answer["notes"] == ["a person (Test Editor) set bp-1 at fake_adapter.py:5 if i == 3, continued"]

            # The agent steps, and the person's editor follows.
            before = len(editor.events)
            await agent.call("debug_step", wait=False)
            await editor.wait_event("continued")
            adapter.locals, adapter.frames = {"i": "3"}, [("main", adapter.program, 6)]
            await adapter.stop("step")
            assert (await agent.call("debug_wait"))["reason"] == "Step"
            await editor.wait_event("stopped", 3)
            assert [each["event"] for each in editor.events[before:]] == ["continued", "stopped"]
            assert (await editor.top_frame())["line"] == 6
            await editor.stream.send_all(encode_frame(b'{"seq": 99, "type": "request", "command": "next"}')[:-9])

        # The editor has vanished in the middle of a message: the agent has its program, and the person's breakpoint.
        await trio.sleep(1)
        assert (await agent.call("debug_state"))["state"] == "Paused"
        await agent.call("debug_continue", wait=False)
        await adapter.stop("breakpoint", hit=[1])
        assert (await agent.call("debug_wait"))["breakpoints"] == [known["id"]]
        assert (await agent.read("debugger://breakpoints"))["breakpoints"][0]["setBy"] == ["Test Editor"]
        assert not {"disconnect", "terminate"} & {*adapter.commands()}
        events = (await agent.call("timeline_query", types=["clientJoined", "clientLeft"], full=True))["events"]
        assert [(each["type"], each["payload"]["name"]) for each in events[-2:]] == [
            ("clientJoined", "Test Editor"),
            ("clientLeft", "Test Editor"),
        ]
        await agent.call("debug_disconnect")
