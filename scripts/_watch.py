"""Measures what editors that watch cost the agent's step: `scripts/bench editors`.

The agent steps 20 times a second on stdio, with no editor and with 20, which only receive, in turns. Printed are the
time of a step and the processor time of the server for it, and both as a ratio. The processor time is the one to
compare: the editors run in this process, on the same processors as the server. Then nothing happens, and the
server's processor time is printed with and without the editors.
"""

import json
import os
import re
import statistics
import subprocess
import sys
from contextlib import AsyncExitStack

import trio
from _load import PROGRAM, computed, step

from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.testing import connect_process

EDITORS = 20
TURNS = 3
SECONDS = 6
IDLE_SECONDS = 5
FACTOR = 1.2
"""Of a step alone that it may take beside the editors, in time and in processor time."""

MOST_IDLE_MILLISECONDS = 10.0
"""Of processor time in a second in which nothing happens, for the editors: one tick of the clock that measures it."""
TOKENS = {"control": "watch-control", "observe": "watch-observe"}


async def serve() -> tuple[trio.Process, int]:
    """Start a server with a door for editors; return its process, and the port."""
    tokens = ["--token", TOKENS["control"], "--observe-token", TOKENS["observe"]]
    argv = [sys.executable, "-m", "trio_debugmcp", "serve", "--dap", "0", *tokens]
    process = await trio.lowlevel.open_process(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    said = b""
    while not (found := re.search(rb"dap: [\d.]+:(\d+)", said)):
        said += bytes(await process.stderr.receive_some())  # type: ignore[union-attr]
    return process, int(found[1])


async def join(port: int, token: str) -> trio.SocketStream:
    """Connect an editor, and join the session."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    requests = [
        ("initialize", {"adapterID": "trio-debugmcp", "clientName": "Watcher"}),
        ("attach", {"token": token}),
    ]
    for number, (command, arguments) in enumerate(requests, 1):
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        await stream.send_all(encode_frame(json.dumps(message).encode()))
    said = b""
    while b'"event":"initialized"' not in said:
        said += bytes(await stream.receive_some())
    done = {"seq": 3, "type": "request", "command": "configurationDone", "arguments": {}}
    await stream.send_all(encode_frame(json.dumps(done).encode()))
    return stream


async def watch(stream: trio.SocketStream, stops: list[int]) -> None:
    """Receive, and count the stops."""
    while data := bytes(await stream.receive_some()):
        stops.append(data.count(b'"event":"stopped"'))


async def watching(role: str) -> bool:
    """Measure with editors of this role, and print it; return whether it costs too much."""
    process, port = await serve()
    took: dict[bool, list[float]] = {False: [], True: []}
    used: dict[bool, float] = {False: 0.0, True: 0.0}
    idle: dict[bool, float] = {False: 0.0, True: 0.0}
    stops: list[int] = []
    async with connect_process(process) as agent:
        await agent.call("debug_launch", program=str(PROGRAM))
        await step(agent, 1)
        for turn in range(2 * TURNS):
            watched = turn % 2 == 1
            async with AsyncExitStack() as connections, trio.open_nursery() as nursery:
                for _ in range(EDITORS if watched else 0):
                    stream = await connections.enter_async_context(await join(port, TOKENS[role]))
                    nursery.start_soon(watch, stream, stops)
                await trio.sleep(1)
                before = computed(process.pid)
                each, _ = await step(agent, SECONDS)
                took[watched] += each
                used[watched] += computed(process.pid) - before
                if turn >= 2 * TURNS - 2:
                    await trio.sleep(1)
                    before = computed(process.pid)
                    await trio.sleep(IDLE_SECONDS)
                    idle[watched] = (computed(process.pid) - before) * 1000 / IDLE_SECONDS
                nursery.cancel_scope.cancel()
    process.kill()
    await process.wait()
    alone, beside = (statistics.median(took[each]) for each in (False, True))
    cpu_alone, cpu_beside = (used[each] / len(took[each]) * 1000 for each in (False, True))
    seen = sum(stops) / EDITORS / len(took[True])
    print(f"{EDITORS} editors that {role}                      alone   watched   ratio")
    print(f"a step, ms (median)                {alone:10.2f}{beside:10.2f}{beside / alone:8.2f}")
    print(f"processor time of a step, ms       {cpu_alone:10.2f}{cpu_beside:10.2f}{cpu_beside / cpu_alone:8.2f}")
    print(f"idle, processor time in 1 s, ms    {idle[False]:10.2f}{idle[True]:10.2f}")
    print(f"stops that an editor received, of each step        {seen:6.2f}")
    costs = idle[True] - idle[False] > MOST_IDLE_MILLISECONDS
    return beside > alone * FACTOR or cpu_beside > cpu_alone * FACTOR or costs
