"""`scripts/screenshots`: pictures of the page in all its states, of a real program, in Chromium.

Plain and synchronous, as tests/dashboard is: an agent on standard input and output debugs the sample program, and what
a person would see of it is photographed, light and dark.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import CHROMIUM, CHROMIUM_OPTIONS
from tests.dashboard.test_card_in_a_chat import HOST
from tests.dashboard.test_running import DEADLOCK
from tests.runs.recorded_programs import python

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route, ViewportSize

ROOT = Path(__file__).parent.parent
JAVASCRIPT = ROOT / "tests" / "javascript" / "node_modules"

SHOP = ROOT / "trio_debugmcp" / "samples" / "shop.py"

WIDE: "ViewportSize" = {"width": 1280, "height": 800}
TALL: "ViewportSize" = {"width": 1280, "height": 960}
PHONE: "ViewportSize" = {"width": 390, "height": 844}
CHAT: "ViewportSize" = {"width": 720, "height": 560}

SETTLE_MILLISECONDS = 400
"""For transitions to end, and for the last notifications, which wait for a quiet window of 0.3 s."""


FAILING = """\
PRICES = {"apple": 3, "bread": 4}


def price(item, count):
    return PRICES[item] * count


def total(wanted):
    return sum(price(item, count) for item, count in wanted.items())


print("apples:", total({"apple": 2}))
print("breakfast:", total({"bread": 1, "butter": 2}))
"""

ENDLESS = """\
import time

while True:
    print("waiting for customers")
    time.sleep(0.5)
"""

TILL = """\
def price(item, count):
    return len(item) * count


def total(basket):
    paid = 0
    for each in basket:
        paid += price(each["item"], each["count"])
    return paid


baskets = [
    [{"item": "tea", "count": 2}, {"item": "cake", "count": 1}],
    [{"item": "coffee", "count": 3}, {"item": "milk", "count": 1}, {"item": "bread", "count": 2}],
]
total(baskets[1])
till = 40.0
for hour in range(12):
    paid = total(baskets[hour % 2]) * (1 + hour % 5)
    till += paid - 30
    print(f"{hour} o'clock: {till}")
"""
"""Its numbers go up and down, as those of a shop do."""


class Pictures:
    """Where pictures go, and the browser that they are taken in."""

    def __init__(self, directory: Path, context: "BrowserContext") -> None:
        self.directory = directory
        self.context = context
        directory.mkdir(parents=True, exist_ok=True)

    def take(self, page: "Page", name: str) -> None:
        """Take two pictures of what a page shows."""
        page.evaluate("document.activeElement?.blur()")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(SETTLE_MILLISECONDS)
            page.screenshot(path=self.directory / f"{name}-{theme}.png")
        print(name, flush=True)

    @contextmanager
    def page(self, url: str, size: "ViewportSize" = WIDE) -> Iterator["Page"]:
        """Open a page of that size for the length of the block."""
        page = self.context.new_page()
        page.set_viewport_size(size)
        page.goto(url)
        yield page
        page.close()


def take_all(pictures: Pictures, agent: Agent) -> None:
    """Take a program from its start to its end, and pictures on the way."""
    from playwright.sync_api import expect

    with pictures.page(agent.url(CONTROL_TOKEN)) as page:
        expect(page.locator("#link")).to_have_text("Live")
        pictures.take(page, "empty")
        agent.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        agent.call("debug_launch", program="shop.py", breakpoints=[{"file": "shop.py", "line": 14}])
        expect(page.locator("#where")).to_contain_text("shop.py:14")
        for tool in ("debug_continue", "debug_step", "debug_continue"):
            page.wait_for_timeout(300)  # as long as an agent would look at it, for a timeline that can be read
            agent.call(tool)
        agent.call("evaluate", expression="fill_cart.__defaults__")
        expect(page.locator("#story .call").first).to_contain_text("evaluate")
        pictures.take(page, "paused")
        with pictures.page(agent.url(CONTROL_TOKEN), PHONE) as phone:
            expect(phone.locator("#where")).to_contain_text("shop.py")
            pictures.take(phone, "phone")
        with pictures.page(agent.url(OBSERVE_TOKEN)) as observer:
            expect(observer.locator("#where")).to_contain_text("shop.py")
            pictures.take(observer, "observer")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#past")).to_be_visible()
        pictures.take(page, "history")
        page.keyboard.press("Escape")
        take_held(pictures, page, agent)
        take_ends(pictures, page, agent)


def take_ends(pictures: Pictures, page: "Page", agent: Agent) -> None:
    """Let the program end, another fail and a third one run, and kill the server."""
    from playwright.sync_api import expect

    agent.call("breakpoint_remove", id="*")
    agent.call("debug_continue")
    expect(page.locator("#state")).to_contain_text("ended")
    pictures.take(page, "ended")
    (agent.directory / "prices.py").write_text(FAILING)
    agent.call("debug_launch", program="prices.py", stop_at_entry=False)
    expect(page.locator("#state")).to_contain_text("KeyError")
    pictures.take(page, "exception")
    (agent.directory / "server.py").write_text(ENDLESS)
    agent.call("debug_launch", program="server.py", stop_at_entry=False, wait=False, replace=True)
    expect(page.locator("#state")).to_have_text("Running")
    page.wait_for_timeout(1500)
    pictures.take(page, "running")
    agent.kill()
    expect(page.locator("#trouble")).to_be_visible()
    pictures.take(page, "lost")


def take_held(pictures: Pictures, page: "Page", agent: Agent) -> None:
    """Hold the session while the agent wants to step, and hand it back."""
    from playwright.sync_api import expect

    people = page.locator("#people")
    people.get_by_role("button", name="Hold").click()
    waiting = agent.begin("tools/call", name="debug_step", arguments={})
    expect(people).to_contain_text("agent waits in debug_step")
    pictures.take(page, "held")
    people.get_by_role("button", name="Hand back").click()
    agent.answer(waiting)


def take_run(pictures: Pictures, agent: Agent) -> None:
    """Record the shop, and take pictures of why Bob pays 13, and of the calls, also as a flame."""
    from playwright.sync_api import expect

    options = {"python": [python(3, 13)]}
    agent.call("debug_launch", program="shop.py", record=True, stop_at_entry=False, adapter_options=options)
    with pictures.page(agent.url(OBSERVE_TOKEN), TALL) as page:
        page.locator("#runs li").click()
        panel = page.locator("#run-panel")
        expect(page.locator("#past .where")).to_contain_text("shop.py:22")
        panel.get_by_role("textbox").fill("amount")
        page.keyboard.press("Enter")
        panel.locator(".because").filter(has_text="entered").first.locator(".brief").click()
        expect(panel.get_by_role("button", name="Why this")).to_be_visible()
        pictures.take(page, "run-why")
        panel.get_by_role("tab", name="Calls").click()
        expect(panel.get_by_role("treeitem")).to_have_count(3)
        panel.get_by_role("treeitem").last.click()
        page.keyboard.press("ArrowRight")
        expect(panel.get_by_role("treeitem")).to_have_count(5)
        pictures.take(page, "run-calls")
        panel.get_by_role("tab", name="Flame").click()
        flame = panel.get_by_role("listbox", name="Calls as a flame")
        expect(flame).to_be_visible()
        flame.press("ArrowDown")
        pictures.take(page, "run-flame")


def take_values(pictures: Pictures, agent: Agent) -> None:
    """Stop in each turn of a loop, and take pictures of a traced call, of records, and of a number over the stops."""
    from playwright.sync_api import expect

    (agent.directory / "till.py").write_text(TILL)
    stops = [{"file": "till.py", "line": 20}]
    agent.call("debug_launch", program="till.py", stop_at_entry=True, breakpoints=stops)
    agent.call("trace_function", function="total", say="What does **total** do with a basket of three?")
    with pictures.page(agent.url(CONTROL_TOKEN), TALL) as page:
        page.locator("#story .call", has_text="trace_function").locator("button.brief").click()
        page.get_by_role("button", name="Flame", exact=True).press("Enter")
        page.get_by_role("listbox", name="as a flame").press("ArrowDown")
        page.locator(".panel.story .fill").click()
        pictures.take(page, "traced")
    for _ in range(12):
        agent.call("debug_continue")
    with pictures.page(agent.url(CONTROL_TOKEN), TALL) as page:
        page.locator("#locals [data-path=till]").press("h")
        page.get_by_label("Another variable beside it").fill("paid")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").locator("thead th")).to_have_count(5)
        pictures.take(page, "values")
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Calls").click()
        page.locator("#locals [data-path=baskets] > summary").press("ArrowRight")
        page.locator("#locals [data-path='baskets[1]'] > summary").press("F2")
        expect(page.get_by_role("region", name="as a table")).to_be_visible()
        pictures.take(page, "table")


def take_deadlock(pictures: Pictures, agent: Agent) -> None:
    """Take a picture of three threads that wait for each other."""
    (agent.directory / "locks.py").write_text(DEADLOCK)
    agent.call("debug_launch", program="locks.py", stop_at_entry=False, wait=False)
    with pictures.page(agent.url(CONTROL_TOKEN), TALL) as page:
        page.get_by_role("img", name="Dead-lock: ").wait_for()
        page.get_by_role("tab", name="Tracks").click()
        pictures.take(page, "deadlock")


def take_card(pictures: Pictures, agent: Agent) -> None:
    """Take a picture of a card in a chat."""
    built = agent.directory / "host.js"
    subprocess.run(
        [JAVASCRIPT / ".bin/esbuild", "card_host.mjs", "--bundle", "--log-level=error", f"--outfile={built}"],
        cwd=ROOT / "tests" / "dashboard",
        env={**os.environ, "NODE_PATH": str(JAVASCRIPT)},
        check=True,
    )
    script = built.read_text()

    def answer(route: "Route") -> None:
        wanted = route.request.url.endswith(".js")
        route.fulfill(body=script if wanted else HOST, content_type="text/javascript" if wanted else "text/html")

    address = f"http://127.0.0.1:{agent.port}/chat/"
    pictures.context.route(f"{address}**", answer)
    with pictures.page(address, CHAT) as page:
        page.evaluate("(token) => chat.connect(token)", CONTROL_TOKEN)
        launch = {"program": "shop.py", "breakpoints": [{"file": "shop.py", "line": 14}]}
        page.evaluate("(launch) => chat.client.callTool({name: 'debug_launch', arguments: launch})", launch)
        page.evaluate("chat.client.callTool({name: 'debug_step', arguments: {}})")
        page.evaluate("chat.call('debug_continue', {}, {width: 720})")
        frame = page.frame_locator("iframe")
        frame.locator("#excerpt").wait_for()
        for theme in ("light", "dark"):
            page.evaluate("(theme) => chat.setLooks({theme})", theme)
            page.wait_for_timeout(SETTLE_MILLISECONDS)
            page.locator("iframe").screenshot(path=pictures.directory / f"card-{theme}.png")
    print("card")


def main() -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots"
    with (
        tempfile.TemporaryDirectory() as profile,
        tempfile.TemporaryDirectory(prefix="shop-") as work,
        sync_playwright() as playwright,
    ):
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=CHROMIUM_OPTIONS, viewport=WIDE
        )
        context.set_default_timeout(20_000)
        pictures = Pictures(directory, context)
        for take in (take_all, take_run, take_values, take_deadlock, take_card):
            (Path(work) / "shop.py").write_text(SHOP.read_text())
            agent = Agent(Path(work))
            try:
                take(pictures, agent)
            finally:
                agent.disconnect()
        context.close()


if __name__ == "__main__":
    main()
