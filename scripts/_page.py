"""`scripts/page`: what the page costs in Chromium while an agent steps. Plain and synchronous, as tests/dashboard is.

An agent on standard input and output debugs a program; one page with control shows it. CPU is the renderer's, from
/proc, as wall-clock times say little on a shared machine; script time and heap are Chromium's own numbers. Machines
differ, and the same one from day to day: a fixed piece of work is timed in the same page, and the bounds grow by what
that takes longer than where they were set.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _page_meter import Meter, profiled, slowness

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.conftest import CHROMIUM, CHROMIUM_OPTIONS

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

PROGRAM = """\
def work(item, history):
    total = item * 2
    text = f"item {item}: {total}"
    history = [*history[-20:], total]
    return text, history


def filled(count):
    for number in range(count):
        number
    return count


filled(EVENTS)
history = []
item = 0
while True:
    item += 1
    text, history = work(item, history)
    if item % 50 == 0:
        print(text)
"""

MOST_SCRIPT_MS = 8
"""Of script for a step with all events on the timeline, and for a call with as many calls in the story."""

MOST_CPU = 0.12
"""Of a core, in the mean over all minutes."""

MOST_OPENING_SECONDS = 1.0
"""From the address to the word *Paused*, on loopback."""

MOST_FAR_SECONDS = 2.0
FAR = {"offline": False, "latency": 60, "downloadThroughput": 20e6 / 8, "uploadThroughput": 20e6 / 8}
"""From another place, at 60 ms and 20 Mbit/s, as Chromium plays it."""

MOST_REQUESTS = 6

OPENINGS = 5
"""The first of a browser has to start what the others find."""

MOST_GROWTH = 1.25
"""Of the heap, the nodes and the server's memory, in the second half of the time: what is kept is bounded, and full by
then."""

ENOUGH_OF_THE_RATE = 0.9
"""Of the steps that were asked for: below it, the other numbers are those of an easier task."""

SCRIPT_STEPS = 40
STEP_SECONDS = 0.5
"""Between the steps whose script time is measured: each is drawn by itself."""

SAMPLE_SECONDS = 15.0


def _costs(page: "Page", meter: Meter, name: str, act: Callable[[], object]) -> float:
    """Return the milliseconds of script that one of these takes."""
    page.wait_for_timeout(2000)

    def many() -> None:
        for _ in range(SCRIPT_STEPS):
            act()
            page.wait_for_timeout(STEP_SECONDS * 1000)

    before = meter.read()
    many()
    after = meter.read()

    def each(name: str) -> float:
        return (after[name] - before[name]) / SCRIPT_STEPS * 1000

    print(
        f"{name}: {each('ScriptDuration'):.1f} ms of script, {each('TaskDuration'):.1f} ms of all tasks, "
        f"{each('LayoutDuration') + each('RecalcStyleDuration'):.1f} ms of style and layout"
    )
    profiled(meter, many)
    return each("ScriptDuration")


class Opening(NamedTuple):
    """What a first visit takes: seconds until the page says *Paused*, also from afar, and its requests."""

    seconds: float
    far: float
    requests: int


def _opening(context: "BrowserContext", folder: Path) -> Opening:
    """Open the page of a paused program, as users get it, with nothing in the cache; return the best of some."""
    agent = Agent(folder)
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 2}])
    url = agent.url(CONTROL_TOKEN)
    seconds, requests = min(_opened(context, url) for _ in range(OPENINGS))
    far, _ = min(_opened(context, url, FAR) for _ in range(OPENINGS))
    print(f"opening: {seconds:.2f} s to Paused, {far:.2f} s from afar, {requests} requests")
    agent.disconnect()
    return Opening(seconds, far, requests)


def _opened(context: "BrowserContext", url: str, line: Mapping[str, object] | None = None) -> tuple[float, int]:
    """Open the page, over that line; return the seconds and the requests."""
    from playwright.sync_api import expect

    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    if line is not None:
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", dict(line))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    began = time.monotonic()
    page.goto(url)
    expect(page.locator("#state")).to_contain_text("Paused")
    seconds = time.monotonic() - began
    page.close()
    return seconds, len(requests)


def _resident_bytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _growth(samples: list[float]) -> float:
    late = samples[len(samples) // 2 :]
    return max(late) / late[0]


class Steady(NamedTuple):
    """What a long time of steps has shown: parts of a core, steps a second, and growth in the second half."""

    cpu: float
    rate: float
    heap: float
    nodes: float
    server: float


def _call_costs(agent: Agent, page: "Page", meter: Meter, calls: int) -> float:
    """Return the milliseconds of script that one more call takes when the story has so many."""
    for number in range(calls):
        agent.call("evaluate", expression=f"item + {number}")
        if number % 100 == 0:
            page.wait_for_timeout(1)
    page.wait_for_timeout(2000)
    print("in the story:", page.inner_text("#story-note"))
    return _costs(page, meter, "a call", lambda: agent.call("evaluate", expression="item + 1"))


def _steady(agent: Agent, page: "Page", meter: Meter, minutes: float, rate: float) -> Steady:
    """Step at a rate for minutes; return what that took of page and server."""
    server = agent.server_process()
    heaps, first = [meter.heap()], meter.read()
    nodes, resident = [first["Nodes"]], [_resident_bytes(server)]
    start = time.monotonic()
    steps, sampled = 0, start
    while (now := time.monotonic()) < start + minutes * 60:
        agent.call("debug_step")
        steps += 1
        # Not only to wait: playwright's connection is served in here.
        page.wait_for_timeout(max(1.0, (start + steps / rate - time.monotonic()) * 1000))
        if now - sampled >= SAMPLE_SECONDS:
            sampled = now
            heaps.append(meter.heap())
            found = meter.read()
            nodes.append(found["Nodes"])
            resident.append(_resident_bytes(server))
            cpu = (found["cpu"] - first["cpu"]) / (now - start)
            print(
                f"{now - start:5.0f} s: {steps / (now - start):4.1f} steps/s, {cpu:5.1%} of a core, "
                f"heap {heaps[-1] / 1e6:.1f} MB, {nodes[-1]:.0f} nodes, server {resident[-1] / 1e6:.0f} MB, "
                f"{page.inner_text('#timeline-note')}",
                flush=True,
            )
    seconds = time.monotonic() - start
    cpu = (meter.read()["cpu"] - first["cpu"]) / seconds
    return Steady(cpu, steps / seconds, _growth(heaps), _growth(nodes), _growth(resident))


class Costs(NamedTuple):
    """Milliseconds of script of a step, and of a call; `slow`: how many times slower the machine is now."""

    step: float
    call: float
    slow: float


def _verdict(opening: Opening, costs: Costs, steady: Steady, wanted: float) -> int:
    """Print what is promised, and what was measured; return the exit status."""
    script, cpu, seconds = MOST_SCRIPT_MS * costs.slow, MOST_CPU * costs.slow, MOST_OPENING_SECONDS * costs.slow
    far = MOST_FAR_SECONDS * costs.slow
    print(
        f"opened in {opening.seconds:.2f} s (at most {seconds:.2f}), in {opening.far:.2f} from afar ({far:.2f}),",
        end=" ",
    )
    print(f"by {opening.requests} requests (at most {MOST_REQUESTS}),")
    print(f"{costs.step:.1f} ms of script a step, {costs.call:.1f} ms a call (at most {script:.1f} each),")
    print(f"{steady.cpu:.1%} of a core (at most {cpu:.0%}) at {steady.rate:.1f} steps a second,")
    print(f"at most {MOST_GROWTH} of what it was after half of the time: heap {steady.heap:.2f}, ", end="")
    print(f"nodes {steady.nodes:.2f}, memory of the server {steady.server:.2f}")
    enough = steady.rate >= ENOUGH_OF_THE_RATE * wanted
    if not enough:
        load = os.getloadavg()[0]
        print(f"NOT PROVEN: {wanted:g} steps a second were asked for, and this machine (load {load:.1f}) made fewer.")
    within = max(costs.step, costs.call) <= script and steady.cpu <= cpu
    opened = opening.seconds <= seconds and opening.far <= far and opening.requests <= MOST_REQUESTS
    flat = max(steady.heap, steady.nodes, steady.server) <= MOST_GROWTH
    return 0 if opened and within and flat and enough else 1


def main() -> int:
    """Run, and return the exit status."""
    from playwright.sync_api import expect, sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=20)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="page-cost-") as folder,
        tempfile.TemporaryDirectory(prefix=f"page-cost-{os.getpid()}-") as profile,
        sync_playwright() as playwright,
    ):
        program = Path(folder) / "app.py"
        program.write_text(PROGRAM.replace("EVENTS", str(options.events)))
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=CHROMIUM_OPTIONS, viewport={"width": 1440, "height": 900}
        )
        opening = _opening(context, Path(folder))
        agent = Agent(Path(folder), options=["--page-sources"])  # the profile tells files apart
        agent.call("tracepoint_set", file="app.py", line=10, log_message="{number}")
        page = context.new_page()
        page.goto(agent.url(CONTROL_TOKEN))
        agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 18}])
        meter = Meter(page)
        agent.call("breakpoint_remove", id="*")
        expect(page.locator("#timeline-note")).to_have_text(re.compile(r"^\d{4,} events$"), timeout=60_000)
        print("events on the timeline:", page.inner_text("#timeline-note"))
        slow = slowness(page)
        script = _costs(page, meter, "a step", lambda: agent.call("debug_step"))
        called = _call_costs(agent, page, meter, options.calls)
        steady = _steady(agent, page, meter, options.minutes, options.rate)
        agent.disconnect()
        context.close()
    return _verdict(opening, Costs(script, called, slow), steady, options.rate)


if __name__ == "__main__":
    sys.exit(main())
