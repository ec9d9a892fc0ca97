"""Whatever a program, an agent, a person or an editor says is text on the page, in every field that carries it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.editor import editor_beside

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import BrowserContext

IMAGE = '<img src=x onerror="window.__xss=1">'
SVG = '"><svg onload=window.__xss=1>'
HOSTILE = [
    IMAGE,
    SVG,
    "<script>window.__xss=1</script>",
    "</script></style></textarea></title><iframe srcdoc='<script>parent.__xss=1</script>'></iframe>",
    "' autofocus onfocus='window.__xss=1",
    "javascript:window.__xss=1",
    "<a href=javascript:window.__xss=1>x</a><base href=//x.test><meta http-equiv=refresh content=0>",
    "&lt;b&gt;&amp;&#60;i&#62;",
    "${window.__xss=1} {{constructor.constructor('window.__xss=1')()}} `",
    "]]><!--><details open ontoggle=window.__xss=1>",
    "\u202egnp.exe\u2066\u200f",
]
ALL = " ".join(HOSTILE)


def seen(text: str) -> str:
    """Return a text as the page shows it: what is not seen is a mark."""
    return text.replace("\u202e", "[U+202E]").replace("\u2066", "[U+2066]").replace("\u200f", "[U+200F]")


SEEN = seen(ALL)

PROGRAM = """\
import sys, threading
HOSTILE = TEXTS
ALL = " ".join(HOSTILE)
class Evil:
    def __init__(self, text):
        self.text = text
    def __repr__(self):
        return self.text
Broken = type(HOSTILE[0], (Exception,), {"__module__": "__main__"})
def work(text, table, evil):
    for each in table:
        told = each, evil
    raise Broken(ALL)
work.__code__ = work.__code__.replace(co_name=HOSTILE[0])
threading.current_thread().name = HOSTILE[1] + HOSTILE[0]
globals().update(dict.fromkeys(HOSTILE, ALL))
print(ALL)
told = input(HOSTILE[1])
print(ALL, file=sys.stderr)
work(ALL, {text: Evil(text) for text in HOSTILE}, Evil(ALL))
"""

WATCHER = """
window.troubles = [];
addEventListener('error', ({message}) => troubles.push(message));
addEventListener('securitypolicyviolation', (event) => troubles.push(`${event.violatedDirective} ${event.sample}`));
const ODD = `img, script, iframe, object, embed, a[href]:not(.skip), base, meta, style, link,
  details:not(.variable, .exceptions)`;
const own = (node) => node.closest('head') || node.matches('h1 > img[src^="icon-"]');
const watch = (node) => {
  if (!(node instanceof Element)) return;
  for (const each of [node, ...node.querySelectorAll('*')]) {
    const odd = each.matches(ODD);
    const runs = each.getAttributeNames().some((name) => name.startsWith('on'));
    if ((odd || runs) && !own(each)) troubles.push(each.outerHTML.slice(0, 300));
  }
};
new MutationObserver((changes) => changes.forEach(({addedNodes}) => addedNodes.forEach(watch)))
  .observe(document, {childList: true, subtree: true});
"""
"""Looks at every element that the page ever gets: what data must not make, and what could run by itself."""


OPENS_EVENTS = """async () => {
  for (const mark of document.querySelectorAll('#timeline .mark:not([class*=stopped])')) {
    if (!mark.isConnected) continue; // while time passes, marks become one
    mark.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    await new Promise((resolve) => setTimeout(resolve));
  }
}"""


@pytest.fixture
def hostile_agent(tmp_path: "Path") -> Iterator[Agent]:
    """An agent with a hostile name, whose program has one, too."""
    (tmp_path / f"{IMAGE}.py").write_text(PROGRAM.replace("TEXTS", repr(HOSTILE)))
    agent = Agent(tmp_path, options=["--dap", "127.0.0.1:0"], name=f"{SVG}{IMAGE}")
    yield agent
    agent.disconnect()


@pytest.mark.usefixtures("own_profile")
def test_nothing_that_a_program_an_agent_a_person_or_an_editor_says_is_more_than_text(
    hostile_agent: Agent, browser: "BrowserContext", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    agent, name = hostile_agent, f"{IMAGE}.py"
    raising, looping = (1 + PROGRAM[: PROGRAM.index(each)].count("\n") for each in ("    raise", "        told ="))
    browser.add_init_script(WATCHER)
    page, observer = open_page(agent.url(CONTROL_TOKEN)), open_page(agent.url(OBSERVE_TOKEN))
    dialog, strip = page.get_by_role("dialog"), page.locator("#people")

    # The program: its file, arguments, output, prompt; and what an agent says of its breakpoints.
    condition, log = f"text != {SVG + IMAGE!r}", ALL.replace("{", "{{").replace("}", "}}")
    agent.call("breakpoint_set", file=name, line=raising, condition=condition, hit_condition=">= 1")
    agent.call("tracepoint_set", file=name, line=looping, log_message=f"{log} {{each}}")
    agent.call("breakpoint_set_exception", exception_type=IMAGE, break_on_first_chance=True)
    agent.call("debug_launch", program=name, args=HOSTILE, stop_at_entry=False, wait=False)
    for each in (page, observer):
        expect(each.locator("#output .piece.stdout").first).to_contain_text(SEEN, use_inner_text=False)
        expect(each.locator("#facts")).to_contain_text(f"{name} {SEEN}")
    for words in (condition, f"log “{seen(log)} {{each}}”", IMAGE):
        expect(page.locator("#breakpoints")).to_contain_text(words)

    # What is typed for it; values, their names, a frame, a thread, the source; what a tracepoint wrote.
    field = page.get_by_label("Input for the program")
    field.fill(ALL)
    field.press("Enter")
    expect(page.locator("#where")).to_contain_text(f"{name}:{raising} in {IMAGE}")
    for each in (page, observer):
        expect(each.locator("#output .piece.input")).to_contain_text(IMAGE[:15])
        expect(each.locator("#locals [data-path=text] .value")).to_contain_text(IMAGE)
        expect(each.locator("#locals [data-path=evil] .value")).to_contain_text(ALL[:150])
        expect(each.locator("#stack .row").first).to_contain_text(IMAGE)
        expect(each.locator("#threads")).to_contain_text(SVG + IMAGE)
        expect(each.locator("#source .line").nth(1)).to_contain_text(SVG)
        expect(each.locator("#clients")).to_contain_text(f"{SVG}{IMAGE}")
        expect(each.locator("#output .piece.stderr")).to_contain_text(SEEN, use_inner_text=False)
    page.locator("#locals summary").filter(has_text="table").click()
    inside = page.locator("#locals .inside")
    expect(inside.locator(".variable")).to_have_count(len(HOSTILE))
    expect(inside.locator(".variable .value")).to_have_text([*HOSTILE[:-1], SEEN.split(" ")[-1]])
    page.locator("#locals details[data-path=table] > summary").focus()
    page.keyboard.press("F2")
    records = dialog.get_by_role("region", name="table as a table")
    expect(records.get_by_role("cell")).to_contain_text([*HOSTILE[:4], *HOSTILE[5:8]])  # the others have escapes
    expect(records.get_by_role("rowheader").first).to_contain_text("<img")
    page.keyboard.press("Escape")
    page.locator("#stack .row").nth(1).click()
    expect(page.locator("#locals .name").filter(has_text=IMAGE).first).to_be_visible()
    page.keyboard.press("Escape")

    # Watches, evaluations, and a value in its dialog.
    for text, shown in ((f"{SVG + IMAGE!r} * 2", (SVG + IMAGE) * 2), (IMAGE, "SyntaxError"), ("evil", ALL[:150])):
        page.get_by_label("Expression to watch").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator("#watches")).to_contain_text(text)
        expect(page.locator("#watches .watch").last).to_contain_text(shown)
        page.get_by_label("Expression to evaluate").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator("#evaluations .asked").last).to_have_text(text)
        expect(page.locator("#evaluations .answer").last).to_contain_text(shown)
    page.get_by_label("Expression to evaluate").fill("raise Broken(ALL)")
    page.keyboard.press("Enter")
    expect(page.locator("#evaluations .answer").last).to_contain_text(SEEN)
    page.locator("#evaluations .answer").last.click()
    expect(dialog.locator("pre")).to_contain_text(SEEN)
    page.keyboard.press("Escape")
    page.locator("#locals [data-path=evil] .value").first.dblclick()
    expect(dialog.locator("pre")).to_contain_text(SEEN)
    page.get_by_label("New value").fill(IMAGE)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").filter(visible=True)).not_to_be_empty()
    page.keyboard.press("Escape")

    # The editor of a breakpoint, and what the server refuses; files; the link.
    page.get_by_role("button", name=f"Edit {name}:{raising}").click()
    expect(page.get_by_label("Stop only if")).to_have_value(condition)
    page.get_by_label("Stop only if").fill(ALL)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").filter(visible=True)).to_contain_text("not a valid")
    page.get_by_label("Stop only if").fill("")
    page.get_by_label("Only at these hits").fill(ALL)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").filter(visible=True)).to_contain_text(IMAGE)
    page.keyboard.press("Escape")
    page.locator(".exceptions > summary").press("Enter")
    page.get_by_label("Type of exception").fill(ALL)
    page.keyboard.press("Enter")
    expect(page.locator(".exceptions .problem")).to_contain_text(IMAGE)
    page.get_by_role("button", name="Go to file").click()
    page.keyboard.type("onerror")
    expect(dialog.get_by_role("option").first).to_contain_text(name)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_label("Link for observers")).to_have_value(agent.url(OBSERVE_TOKEN))
    page.keyboard.press("Escape")
    page.locator("#source-tools").get_by_label("Find in the source").fill(IMAGE)
    expect(page.locator("#source-tools .finder")).to_contain_text("of")
    page.locator("#story-filter").fill(IMAGE)
    page.locator("#story-filter").fill("")

    # Between the person and the agent, whose calls and failures are in the story.
    strip.get_by_role("button", name="Hold").click()
    expect(strip).to_contain_text("You have held the session")
    step = agent.begin_call("debug_step")
    expect(strip).to_contain_text(f"{SVG}{IMAGE} waits in debug_step")
    asked = agent.begin_call("ask_person", question=ALL, choices=HOSTILE[:4])
    for each in (page, observer):
        expect(each.get_by_label("A question of an agent")).to_contain_text(SEEN)
    expect(strip.locator(".choices button")).to_have_text(HOSTILE[:4])
    strip.get_by_placeholder("Or another answer…").fill(ALL)
    page.keyboard.press("Enter")
    assert agent.answer(asked)["structuredContent"]["answer"] == ALL
    strip.get_by_label("Message to").fill(ALL)
    strip.get_by_role("button", name="Send").click()
    expect(strip.locator(".sent")).to_contain_text(f"“{ALL[:60]}")
    strip.get_by_label("Message to").fill(SVG)
    strip.get_by_role("button", name="Hand back").click()
    assert any(SVG in note for note in agent.answer(step)["structuredContent"]["notes"])
    agent.request("tools/call", name=IMAGE, arguments={SVG: ALL})
    agent.request("tools/call", name="evaluate", arguments={"expression": IMAGE, IMAGE: ALL})
    agent.call("evaluate", expression=f"[{ALL!r}, Evil(ALL)]")
    with editor_beside(agent, f"{IMAGE}{SVG}") as editor:
        editor.ask("evaluate", expression=f"{ALL!r}", context="repl")
        expect(page.locator("#clients")).to_contain_text(f"{IMAGE}{SVG}")
        expect(page.locator("#story .who").filter(has_text=f"{IMAGE}{SVG}").first).to_be_visible()

    # The exception; the story, each call and each event opened; the notice of what is refused.
    agent.call("debug_continue")
    for each in (page, observer):
        expect(each.locator("#state")).to_contain_text(IMAGE)
        expect(each.locator("#message")).to_contain_text(SEEN)
        for text in (f"{SVG}{IMAGE}", f"evaluate expression: {IMAGE}", "ask_person", SVG):
            expect(each.locator("#story")).to_contain_text(text)
    page.evaluate("document.querySelectorAll('#story [data-row][aria-expanded=false]').forEach((row) => row.click())")
    expect(page.locator("#story .entry dd").filter(has_text=IMAGE).first).to_be_visible()
    page.keyboard.press("Escape")
    page.evaluate(OPENS_EVENTS)
    expect(page.locator("#event")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")

    # The past, and the values over the stops.
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#past .where")).to_contain_text(name)
    page.keyboard.press("ArrowLeft")  # at the first stop the table was opened; at the second it may be too late for it
    expect(page.locator("#past .words")).to_contain_text("Stop 1 of ")
    expect(page.locator("#locals [data-path=evil] .value")).to_contain_text(IMAGE)
    expect(page.locator(".line.was-current")).to_have_count(1)
    page.locator("#locals [data-path=table] summary").first.focus()
    page.keyboard.press("h")
    expect(dialog.locator("tbody .value").first).to_contain_text(IMAGE)
    expect(dialog.locator("tbody")).to_contain_text(name)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    agent.call("debug_disconnect")
    for each in (page, observer):
        expect(each.locator("#state")).to_contain_text("ended")
        assert each.evaluate("[window.__xss, troubles]") == [None, []]
    page.evaluate("document.body.append(document.createElement('img'))")
    assert len(page.evaluate("troubles")) == 1  # what is looked for would be found
