"""The card in a chat: a host of MCP Apps in a real browser, built on ext-apps, and a real program."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.dashboard.agent import CONTROL_TOKEN, Agent
from tests.dashboard.axe import CONTRAST, VIOLATIONS, problems_of
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually, hold_time
from tests.javascript import package
from trio_debugmcp.server.answers.stop_answer import StopData

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Frame, FrameLocator, Page, Route

SHOP = """\
import time


def visit(owner, wanted):
    paid = 0
    for product, count in wanted:
        paid = paid + count
        print(f"{owner} takes {count} {product}")  # each
    return paid


visit("ann", [("tea", 2), ("<b>milk</b>", 3)])
visit("ben", [("tea", 5)])
while not time.sleep(0.02):
    pass
"""

HOST = '<!doctype html><html lang="en"><title>chat</title><body style="margin: 0"><script src="host.js"></script>'

META = "trio-debugmcp/stop"

COLOURS = {"--color-background-primary": "rgb(250, 249, 245)", "--font-sans": "serif", "--unknown": "1px"}


@pytest.fixture(scope="module")
def host_script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The host with all that it imports, as one script."""
    built = tmp_path_factory.mktemp("host") / "host.js"
    subprocess.run(
        [package(".bin/esbuild"), "card_host.mjs", "--bundle", "--log-level=error", f"--outfile={built}"],
        cwd=Path(__file__).parent,
        env={**os.environ, "NODE_PATH": str(package("@modelcontextprotocol").parent)},
        check=True,
        timeout=60,
    )
    return built.read_text()


@contextmanager
def chats(
    agent: Agent, host_script: str, open_page: OpenPage, browser: "BrowserContext"
) -> Iterator[Callable[[], "Page"]]:
    """Open chats that are connected to that server, from a page of the server's origin."""
    address = f"http://127.0.0.1:{agent.port}/chat/"

    def answer(route: "Route") -> None:
        script = route.request.url.endswith(".js")
        route.fulfill(body=host_script if script else HOST, content_type="text/javascript" if script else "text/html")

    def opened() -> "Page":
        page = open_page(address)
        page.evaluate("(token) => chat.connect(token)", CONTROL_TOKEN)
        return page

    browser.route(f"{address}**", answer)
    yield opened
    browser.unroute(f"{address}**")


@pytest.fixture
def chat(agent: Agent, host_script: str, open_page: OpenPage, browser: "BrowserContext") -> Iterator["Page"]:
    """A chat that can launch `shop.py`."""
    (agent.directory / "shop.py").write_text(SHOP)
    with chats(agent, host_script, open_page, browser) as opened:
        yield opened()


@pytest.fixture
def empty_chat(server: Agent, host_script: str, open_page: OpenPage, browser: "BrowserContext") -> Iterator["Page"]:
    """A chat in control of a server that debugs nothing."""
    with chats(server, host_script, open_page, browser) as opened:
        yield opened()


def call(page: "Page", tool: str, arguments: dict[str, Any] | None = None, **looks: Any) -> Any:
    """Call a tool as the model does; the chat shows its card."""
    return page.evaluate("(call) => chat.call(...call)", [tool, arguments or {}, looks])


def behind(page: "Page", tool: str, **arguments: Any) -> Any:
    """Call a tool without a card, as another client would."""
    result = page.evaluate("(call) => chat.client.callTool(call)", {"name": tool, "arguments": arguments})
    return result["structuredContent"]


def pretend(page: "Page", result: dict[str, Any], **looks: Any) -> None:
    """Show a made-up answer."""
    page.evaluate("(call) => chat.pretend(...call)", [{"content": [], **result}, looks])


def show(page: "Page", stop: dict[str, Any], for_card: dict[str, Any] | None = None, **looks: Any) -> None:
    """Show a made-up stop; `for_card`: what the server adds for the card besides."""
    pretend(page, {"_meta": {META: {"stop": stop, **(for_card or {})}}}, **looks)


def as_data(**keys: Any) -> dict[str, Any]:
    """A stop as data with these keys, and with all others as they are without news."""
    data: dict[str, Any] = msgspec.to_builtins(StopData())
    assert keys.keys() <= data.keys()
    return {**data, **keys}


def place_at(line: int, function: str = "visit", file: str = "/src/lib/shop.py") -> dict[str, Any]:
    return {"file": file, "line": line, "column": None, "functionName": function, "moduleName": None}


def local(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value, "type": None, "path": name, "childCount": 0, "digest": None}


def card(page: "Page", number: int) -> "FrameLocator":
    return page.frame_locator(f'iframe[title="card {number}"]')


def frame(page: "Page", number: int) -> "Frame":
    found = page.locator(f'iframe[title="card {number}"]').element_handle().content_frame()
    assert found is not None
    return found


def wait_until_fitting(page: "Page", number: int) -> int:
    """Wait until a card's frame is as high as what the card shows, and return how high."""
    inside, around = frame(page, number), page.locator(f'iframe[title="card {number}"]')

    def heights() -> tuple[int, int]:
        needed = inside.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
        return needed, around.evaluate("(frame) => frame.offsetHeight")

    return eventually(heights, lambda pair: pair[0] == pair[1])[0]


def launched(page: "Page") -> Any:
    return call(page, "debug_launch", {"program": "shop.py", "breakpoints": [{"file": "shop.py", "line": 8}]})


def calls(page: "Page", tool: str) -> list[dict[str, Any]]:
    return [each["arguments"] for each in page.evaluate("chat.calls") if each["name"] == tool]


def button(page: "Page", number: int, name: str) -> Any:
    return card(page, number).get_by_role("button", name=name, exact=True)


def test_a_real_stop_is_drawn_and_a_button_steps_the_program(chat: "Page") -> None:
    from playwright.sync_api import expect

    requests: list[str] = []
    chat.on("request", lambda request: requests.append(request.url))
    launched(chat)
    first = card(chat, 1)
    expect(first.locator("h1")).to_have_text("Paused at a breakpoint")
    expect(first.locator("#where")).to_have_text("shop.py:8 in visit")
    current = first.locator("#excerpt [aria-current=step]")
    expect(current).to_contain_text('print(f"{owner} takes {count} {product}")  # each')
    expect(current.locator(".number")).to_have_text("8")
    expect(first.locator("#excerpt li")).to_have_count(4)
    expect(first.locator("#excerpt .t-keyword")).to_have_text(["for", "in", "return"])
    expect(first.locator("#locals li")).to_have_text(
        ["owner = 'ann'", "wanted = [('tea', 2), ('<b>milk</b>', 3)]", "paid = 2", "product = 'tea'", "count = 2"]
    )
    expect(first.locator("#stack li")).to_have_text(["visit shop.py:8", "<module> shop.py:12"])
    expect(button(chat, 1, "Pause")).to_have_count(0)

    button(chat, 1, "Step over").click()
    expect(first.locator("#where")).to_have_text("shop.py:6 in visit")
    expect(first.locator("h1")).to_have_text("Paused after a step")
    expect(first.locator("#output pre")).to_have_text("ann takes 2 tea\n")
    button(chat, 1, "Continue").click()
    expect(first.locator("#where")).to_have_text("shop.py:8 in visit")
    expect(first.locator("#locals .changed")).to_have_text(
        ["paid = 5 before: 2", "product = '<b>milk</b>' before: 'tea'", "count = 3 before: 2"]
    )
    expect(first.locator("#output")).to_be_hidden()
    button(chat, 1, "Step out").click()
    expect(first.locator("#where")).to_have_text("shop.py:12 in <module>")
    expect(first.locator("#facts")).to_contain_text("returnedvisit = 5")
    assert [each["action"] for each in calls(chat, "card_run")] == ["over", "continue", "out"]
    said = "On the card, the person pressed Step over. Paused after a step: shop.py:6 in visit."
    becomes(lambda: chat.evaluate("chat.contexts[0]"), said)
    assert behind(chat, "debug_state")["notes"] == ["a person (card in the chat) stepped over, continued, stepped out"]

    # With the keyboard: a program that runs is paused, and the focus stays where it was.
    behind(chat, "breakpoint_remove", id="*")
    button(chat, 1, "Continue").focus()
    chat.keyboard.press("Enter")
    expect(first.locator("#busy")).to_have_text("Continue …")
    expect(button(chat, 1, "Continue")).to_have_attribute("aria-disabled", "true")
    button(chat, 1, "Pause").focus()
    chat.keyboard.press("Space")
    expect(first.locator("h1")).to_have_text("Paused on request")
    expect(first.locator("#busy")).to_have_text("")
    button(chat, 1, "Step over").focus()
    chat.keyboard.press("Enter")
    expect(first.locator("h1")).to_have_text("Paused after a step")
    expect(button(chat, 1, "Step over")).to_be_focused()
    assert [url for url in requests if not url.startswith("about:")] == []


@pytest.mark.usefixtures("own_profile")
def test_the_agent_s_next_card_marks_changes_and_the_one_before_says_that_it_is_old(chat: "Page") -> None:
    from playwright.sync_api import expect

    chat.clock.install()
    launched(chat)
    hold_time(chat)
    chat.evaluate("chat.settle()")  # or the card would look while the program runs, and say so
    call(chat, "debug_continue")
    old, new = card(chat, 1), card(chat, 2)
    expect(new.locator("#locals .changed .name")).to_have_text(["paid", "product", "count"])
    chat.clock.fast_forward(6000)
    expect(old.locator("#gone")).to_contain_text("The program has moved on: it is now at shop.py:8 in visit.")
    expect(new.locator("#gone")).to_be_empty()
    expect(button(chat, 1, "Step over")).to_have_attribute("aria-disabled", "true")
    expect(button(chat, 2, "Step over")).to_have_attribute("aria-disabled", "false")
    button(chat, 1, "Show it here").click()
    expect(old.locator("#gone")).to_be_empty()
    expect(old.locator("#output pre")).to_have_text("ann takes 2 tea\n")
    expect(old.locator("#locals .changed .name")).to_have_text(["paid", "product", "count"])
    # Pressed before the card has looked: the server refuses what is for another stop.
    behind(chat, "debug_step")
    button(chat, 1, "Step over").click()
    expect(old.get_by_role("alert")).to_have_text(re.compile("not at this stop any more, so nothing was done"))
    chat.clock.resume()
    chat.clock.fast_forward(6000)
    expect(old.locator("#gone")).to_contain_text("it is now at shop.py:6 in visit")
    behind(chat, "debug_disconnect")
    chat.clock.fast_forward(60_000)
    expect(new.locator("#gone")).to_contain_text("moved on")


def test_the_card_looks_as_its_host_and_is_as_high_as_what_it_shows(empty_chat: "Page") -> None:
    from playwright.sync_api import expect

    chat = empty_chat
    chat.emulate_media(color_scheme="dark")
    show(chat, STOP, theme="light", styles={"variables": COLOURS})
    shown = frame(chat, 1)
    expect(card(chat, 1).locator("#card")).to_have_css("background-color", "rgb(250, 249, 245)")
    looks = "(name) => getComputedStyle(document.body)[name]"
    becomes(lambda: [shown.evaluate(looks, name) for name in ("fontFamily", "colorScheme")], ["serif", "light"])
    assert shown.evaluate("document.documentElement.style.getPropertyValue('--unknown')") == ""
    dark = {"--color-background-primary": "rgb(20, 20, 19)"}
    chat.evaluate("(looks) => chat.setLooks(looks)", {"theme": "dark", "styles": {"variables": dark}})
    expect(card(chat, 1).locator("#card")).to_have_css("background-color", "rgb(20, 20, 19)")
    becomes(lambda: shown.evaluate(looks, "colorScheme"), "dark")
    for _ in range(4):
        show(chat, STOP)  # the last ones are out of sight
    for number in range(1, 6):
        assert wait_until_fitting(chat, number) > 200


def passes(page: "Page", seconds: int, step: int = 3) -> None:
    """Let time pass for the cards, in steps of which each is over when what it has caused is."""
    for _ in range(seconds // step):
        page.clock.run_for(step * 1000)
        page.evaluate("chat.settle()")


@pytest.mark.usefixtures("own_profile")
def test_cards_look_only_while_they_are_seen_and_ever_more_rarely(empty_chat: "Page") -> None:
    chat = empty_chat
    chat.clock.install()
    hold_time(chat)
    chat.evaluate("chat.answers.card_state = {structuredContent: {current: true}, content: []}")
    for number in range(6):
        show(chat, {**STOP, "notes": ["a high card"] * 40}, {"moment": f"s-1 1.5 {number} 1"})
        button(chat, number + 1, "Step over").wait_for()
    chat.screenshot()  # draws a frame, after which each card knows whether it can be seen
    passes(chat, 21)
    looked = calls(chat, "card_state")
    assert {each["stop"] for each in looked} == {"s-1 1.5 0 1"}  # of those below none
    assert 3 <= len(looked) <= 4
    passes(chat, 120, step=30)
    later = len(calls(chat, "card_state"))
    passes(chat, 60, step=12)
    assert 1 <= len(calls(chat, "card_state")) - later <= 2
    chat.evaluate("chat.answers.card_state = {isError: true, content: []}")
    passes(chat, 30, step=30)
    refused = len(calls(chat, "card_state"))
    passes(chat, 60, step=30)
    assert len(calls(chat, "card_state")) == refused  # a host that refuses is not asked again


def answer(page: "Page", tool: str, result: dict[str, Any]) -> None:
    """Let the chat answer the cards itself."""
    page.evaluate("([tool, result]) => (chat.answers[tool] = result)", [tool, {"content": [], **result}])


@pytest.mark.usefixtures("own_profile")
def test_a_card_that_a_person_let_run_waits_for_the_next_stop_and_an_old_one_says_where_it_is(
    empty_chat: "Page",
) -> None:
    from playwright.sync_api import expect

    chat, first = empty_chat, card(empty_chat, 1)
    chat.clock.install()
    hold_time(chat)
    answer(chat, "card_state", {"structuredContent": {"current": True}})
    running = as_data(state="Running", timedOut=True)
    answer(chat, "card_run", {"_meta": {META: {"stop": running}}})
    long = {"type": "long " * 999, "message": None, "breakMode": "always"}
    show(chat, {**STOP, "exception": long}, {"moment": "s-1 1.5 1 1"}, capabilities={"serverTools": {}})
    expect(first.locator("#exception")).to_have_attribute("tabindex", "0")
    button(chat, 1, "Continue").click()
    expect(first.locator("h1")).to_have_text("Running: it has not stopped yet")
    short = {"type": "short", "message": None, "breakMode": "always"}
    following = {**STOP, "exception": short, "location": place_at(25), "locals": [local("count", "2")]}
    answer(chat, "card_state", {"structuredContent": {"now": following, "moment": "s-1 1.5 2 1"}})
    passes(chat, 3)
    expect(first.locator("#where")).to_have_text("shop.py:25 in visit")
    expect(first.locator("#exception:not([tabindex])")).to_have_count(1)
    expect(first.locator(".changed")).to_have_count(0)  # it ran meanwhile: what is compared is one stop with the next
    assert chat.evaluate("chat.contexts") == []  # this host takes none

    # A button that is refused makes the card look at once. Then it is known to be old.
    answer(chat, "card_state", {"structuredContent": {"current": True}})
    passes(chat, 9)
    deeper = {**following, "totalFrames": STOP["totalFrames"] + 1, "locals": [local("count", "3")]}
    other = {**deeper, "sessionId": "s-2", "locals": [local("count", "4")]}
    for now, marks in ((deeper, 0), ({**deeper, "locals": [local("count", "7")]}, 1), (other, 0)):
        answer(chat, "card_state", {"structuredContent": {"now": now, "moment": "s-1 1.5 3 1"}})
        answer(chat, "card_run", {"isError": True, "content": words("nothing was done")})
        button(chat, 1, "Step in").click()
        expect(first.get_by_role("alert")).to_have_text("nothing was done")
        chat.clock.run_for(1100)
        expect(first.locator("#gone")).to_contain_text("moved on")
        button(chat, 1, "Show it here").click()
        expect(first.locator(".changed")).to_have_count(marks)

    # What is said of the present is renewed, until it can change no more.
    for now, says in ((running, "it is running now"), (as_data(state="Disconnected", reason="Exited"), "has ended")):
        answer(chat, "card_state", {"structuredContent": {"now": now}})
        passes(chat, 60, step=30)
        expect(first.locator("#gone")).to_contain_text(says)
    looked = len(calls(chat, "card_state"))
    passes(chat, 60, step=30)
    assert len(calls(chat, "card_state")) == looked
    show(chat, as_data(state="Disconnected", reason="Exited"))
    show(chat, STOP, {"moment": "s-1 1.5 1 1"}, capabilities={})
    chat.evaluate("document.querySelector('iframe').remove(), chat.bridges.shift()")  # the others come into sight
    passes(chat, 30, step=30)
    assert len(calls(chat, "card_state")) == looked


def test_only_the_host_is_listened_to(empty_chat: "Page") -> None:
    from playwright.sync_api import expect

    show(empty_chat, STOP)
    show(empty_chat, STOP)
    forged = {
        "jsonrpc": "2.0",
        "method": "ui/notifications/tool-result",
        "params": {"structuredContent": {"state": "x"}},
    }
    frame(empty_chat, 2).evaluate("(forged) => parent.frames[0].postMessage(forged, '*')", forged)
    empty_chat.evaluate("chat.settle()")
    expect(card(empty_chat, 1).locator("#where")).to_have_text("shop.py:24 in visit")


STOP: dict[str, Any] = as_data(
    state="Paused",
    reason="Breakpoint",
    location=place_at(24),
    frames=[
        {"index": 0, "name": "visit", "location": place_at(24), "isUserCode": True},
        {"index": 1, "name": "main", "location": place_at(31, "main"), "isUserCode": True},
        {"index": 2, "name": "run", "location": place_at(5, "run", "/usr/lib/x.py"), "isUserCode": False},
    ],
    totalFrames=10,
    locals=[local("count", "1"), local("basket", "Basket(owner='ben', lines=[2 items])")],
    totalLocals=5,
    source=[
        {"line": 23, "text": "    basket.put(product, count)", "current": False},
        {"line": 24, "text": "    paid = basket.total()", "current": True},
        {"line": 25, "text": "    print(paid)  # done", "current": False},
    ],
    output=[
        {"seq": 1, "stream": "stdout", "text": "ann pays 11\n", "time": ""},
        {"seq": 2, "stream": "stderr", "text": "a warning\n", "time": ""},
    ],
    outputDropped={"stdout": 20_000, "stderr": 1},
    show=[{"expression": "len(basket.lines)", "value": "2", "type": "int", "error": None}],
    notes=["bp-2 moved from line 40 to 42, where code is"],
    sessionId="s-1",
    processId=7,
)

IN_WORDS: dict[str, Any] = {
    "state": "Paused",
    "reason": "Breakpoint",
    "at": "lib/shop.py:24 in visit",
    "stack": ["main :31", "run /usr/lib/x.py:5 (library)"],
    "locals": {"count": "1"},
    "source": "23   basket.put(product, count)\n24>  paid = basket.total()",
    "notes": ["bp-2 moved from line 40 to 42, where code is"],
    "newer": {"key": ["of a newer server", 1]},
}
"""The answer that a host passes on which drops what the server has added for the card."""

XSS = [
    "<script>document.title = 'hit'</script>",
    "<img src=x onerror=\"document.title = 'hit'\">",
    '"><svg onload="document.title = \'hit\'">',
    "</script><script>document.title = 'hit'</script>",
    "javascript:document.title='hit'",
    "</style><b>",
    "{{7*7}} ${document.title = 'hit'}",
]


def test_whatever_the_program_says_is_text(empty_chat: "Page") -> None:
    from playwright.sync_api import expect

    evil = "\n".join(XSS)
    at = place_at(1, XSS[0], f"{XSS[1]}.py")
    frames = [{"index": number, "name": text, "location": at, "isUserCode": True} for number, text in enumerate(XSS)]
    output = [{"seq": 1, "stream": each, "text": evil, "time": ""} for each in ("stdout", "stderr", "tracepoint", evil)]
    thread = {"id": 1, "name": evil, "state": evil, "isCurrent": True, "location": at, "waitsFor": evil}
    values = [local(f"{text}{number}", text) for number, text in enumerate(XSS)]
    stop = as_data(
        state="Paused",
        reason=evil,
        exception={"type": evil, "message": None, "breakMode": evil},
        causes=[{"way": evil, "exception": evil, "location": at}],
        location=at,
        frames=frames,
        locals=values,
        returned=values,
        source=[{"line": number, "text": text, "current": not number} for number, text in enumerate(XSS)],
        output=output,
        outputDropped={evil: 1},
        show=[{"expression": text, "value": evil, "type": evil, "error": None} for text in XSS],
        notes=XSS,
        threads=[thread],
        dataChanges=[{"breakpoint": evil, "expression": evil, "before": evil, "after": None, "note": evil}],
        listening={"address": evil, "connected": 1, "dialedIn": 1},
        instruction=evil,
        sessionId=evil,
        breakpointIds=XSS,
    )
    changed = {each["name"]: evil for each in values}
    show(empty_chat, stop, {"moment": evil, "changed": changed})
    pretend(empty_chat, {"structuredContent": {"state": "Paused", "at": evil, "exception": evil, evil: XSS}})
    pretend(empty_chat, {"isError": True, "content": words(json.dumps({"error": {"code": "X", "message": evil}}))})
    expect(card(empty_chat, 1).locator("#exception")).to_have_text(evil)
    expect(card(empty_chat, 2).locator("#where")).to_have_text(evil)
    expect(card(empty_chat, 3).get_by_role("alert")).to_have_text(evil)
    for number in (1, 2, 3):
        shown = frame(empty_chat, number)
        assert shown.evaluate("document.querySelectorAll('img, b, svg[onload], main script').length") == 0
        assert shown.title() == "A stop of the program"


def words(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def test_a_host_may_keep_the_text_alone_or_forbid_calls(empty_chat: "Page") -> None:
    from playwright.sync_api import expect

    chat = empty_chat
    pretend(chat, {"content": words(json.dumps(IN_WORDS))}, capabilities={})
    expect(card(chat, 1).locator("#where")).to_have_text("lib/shop.py:24 in visit")
    expect(card(chat, 1).get_by_role("toolbar")).to_be_hidden()
    expect(card(chat, 1).locator("#facts")).to_contain_text("stackmain :31run /usr/lib/x.py:5 (library)localscount = 1")
    expect(card(chat, 1).locator("#facts")).to_contain_text('newerkey = ["of a newer server",1]')
    expect(card(chat, 1).locator("#notes")).to_have_text("bp-2 moved from line 40 to 42, where code is")
    pretend(chat, {"content": words("no JSON")})
    expect(card(chat, 2).get_by_role("alert")).to_have_text("no JSON")
    pretend(chat, {})
    expect(card(chat, 3).get_by_role("alert")).to_have_text("The tool gave no answer that can be shown.")
    show(chat, as_data(state="Disconnected", reason="Exited", exitCode=3))
    expect(card(chat, 4).locator("h1")).to_have_text("The program has ended, with exit code 3")
    for number in (3, 4):
        expect(card(chat, number).get_by_role("toolbar")).to_be_hidden()
    show(chat, STOP, {"control": False})  # of an observer
    expect(card(chat, 5).locator("h1")).to_have_text("Paused at a breakpoint")
    expect(card(chat, 5).get_by_role("toolbar")).to_be_hidden()
    expect(card(chat, 5).locator("#facts")).to_have_text("shownlen(basket.lines) = 2sessions-1process7")
    expect(card(chat, 5).locator("#stack li")).to_have_text(
        ["visit shop.py:24", "main shop.py:31", "run x.py:5 (library)"]
    )
    expect(card(chat, 5).locator("#excerpt li")).to_have_text(
        ["23basket.put(product, count)", "24paid = basket.total()", "25print(paid)  # done"]
    )
    expect(card(chat, 5).locator(".more")).to_have_text(
        ["and 3 more", "and 7 more", "20000 earlier characters left out", "1 earlier character left out"]
    )


@pytest.mark.parametrize("there", ["the same", "elsewhere"])
def test_without_the_number_of_its_stop_a_card_compares_what_it_shows(there: str, empty_chat: "Page") -> None:
    from playwright.sync_api import expect

    chat = empty_chat
    now = {**IN_WORDS, "notes": ["a new one"], "moment": "s-1 1.5 7 1"}
    now |= {} if there == "the same" else {"locals": {}}
    chat.evaluate(
        "(now) => (chat.answers = {card_state: {structuredContent: {now}, content: []}, card_run: {content: []}})", now
    )
    pretend(chat, {"structuredContent": IN_WORDS})
    if there == "elsewhere":
        expect(card(chat, 1).locator("#gone")).to_contain_text("The program has moved on")
        expect(button(chat, 1, "Step over")).to_have_attribute("aria-disabled", "true")
        return
    chat.wait_for_function("chat.calls.length > 0")
    chat.evaluate("chat.settle()")  # the answer has reached the card
    button(chat, 1, "Step over").click()
    chat.wait_for_function("chat.calls.some(({name}) => name === 'card_run')")
    assert calls(chat, "card_run") == [{"action": "over", "stop": "s-1 1.5 7 1", "full": True}]


def test_no_state_of_a_card_has_a_barrier_and_none_is_wider_than_its_frame(empty_chat: "Page") -> None:
    chat = empty_chat
    long = "ValueError: out of stock, " + "very " * 200
    states: list[dict[str, Any]] = [
        {
            **STOP,
            "exception": {"type": "ValueError", "message": long, "breakMode": "unhandled"},
            "reason": "Exception",
            "causes": [{"way": "cause", "exception": "KeyError: 1", "location": place_at(3)}],
        },
        as_data(
            state="Running",
            timedOut=True,
            threads=[
                {
                    "id": 1,
                    "name": "MainThread",
                    "state": "Waiting",
                    "isCurrent": True,
                    "location": place_at(9, "wait"),
                    "waitsFor": "a lock",
                }
            ],
        ),
        as_data(
            state="Disconnected",
            reason="Exited",
            exitCode=1,
            exception={"type": "ValueError", "message": "x", "breakMode": None},
            output=[{"seq": 1, "stream": "stdout", "text": "bye\n", "time": ""}],
        ),
    ]
    for_card = {"moment": "s-9 1.5 1 1", "changed": {"count": "0", "basket": None}}
    shown = [(800, STOP), (320, STOP), *((320, state) for state in states)]
    for width, state in shown:
        show(chat, state, for_card, width=width)
    pretend(chat, {"isError": True, "content": words("no")})
    button(chat, 1, "Show it here").wait_for()  # the server knows of no such stop
    frames = [frame(chat, number + 1) for number in range(len(shown) + 1)]
    for each in frames:
        becomes(partial(each.evaluate, "document.documentElement.scrollWidth <= innerWidth"), True)
    for theme, rules in (("light", VIOLATIONS), ("dark", CONTRAST)):
        chat.evaluate("(theme) => chat.setLooks({theme})", theme)
        chat.evaluate("chat.settle()")
        for each in frames:
            becomes(partial(each.evaluate, "document.documentElement.dataset.theme"), theme)
            assert problems_of(each, rules) == []
