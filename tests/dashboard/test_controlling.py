"""What a person with the control token can do: buttons, keys, the gutter, watches."""

import re
from functools import partial
from typing import TYPE_CHECKING

from tests.dashboard.agent import Agent
from tests.dashboard.eventually import becomes, eventually, two_frames

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_buttons_step_continue_pause_restart_and_stop(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page = control_page
    where, state = page.locator("#where"), page.locator("#state")

    def press(name: str) -> None:
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_have_attribute("aria-disabled", "false")
        button.click()

    def confirm(name: str) -> None:
        press(name)
        page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()

    expect(page.locator("#role")).to_have_text("In control")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(where).to_contain_text("app.py:1")
    press("Step over")
    expect(where).to_contain_text("app.py:9")
    press("Step in")
    expect(where).to_have_text("app.py:2 in count")
    press("Step out")
    expect(where).to_contain_text(re.compile(r"app\.py:(9|10)"))
    confirm("Restart")
    expect(where).to_contain_text("app.py:1")
    press("Continue")
    expect(state).to_have_text("Paused: ValueError")
    confirm("Restart")
    expect(where).to_contain_text("app.py:1")
    confirm("Stop")
    expect(state).to_have_text(re.compile("ended"))
    assert agent.call("debug_state")["state"] == "Disconnected"


def test_pause_stops_a_running_program(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text("import time\nwhile True:\n    time.sleep(0.05)\n")
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    agent.call("debug_continue", wait=False)
    expect(control_page.locator("#state")).to_have_text("Running")
    control_page.keyboard.press("F6")
    expect(control_page.locator("#state")).to_have_text("Paused on request")
    # One that has not stopped yet has no source to show, and the page says why.
    agent.call("debug_launch", program="app.py", stop_at_entry=False, wait=False, replace=True)
    expect(control_page.locator("#state")).to_have_text("Running")
    expect(control_page.locator("#empty")).to_contain_text("It has not stopped yet")
    expect(control_page.locator("#empty")).to_contain_text("Pause stops it where it is")
    control_page.keyboard.press("F6")
    expect(control_page.locator("#empty")).to_be_hidden()
    expect(control_page.locator(".line.current")).to_have_count(1)


def test_the_keys_control_the_program_except_while_the_user_types(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page, where = control_page, control_page.locator("#where")
    agent.call("debug_launch", program="app.py", stop_at_entry=True, breakpoints=[{"file": "app.py", "line": 6}])
    expect(where).to_contain_text("app.py:1")
    page.get_by_label("Expression to watch").focus()
    page.keyboard.press("F10")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("F10")
    expect(where).to_contain_text("app.py:9")
    page.keyboard.press("F11")
    expect(where).to_contain_text("app.py:2")
    page.keyboard.press("F5")
    expect(where).to_contain_text("app.py:6")
    page.keyboard.press("Shift+F11")
    expect(where).to_contain_text(re.compile(r"app\.py:(9|10)"))
    calls = [call for call in agent.tool_calls() if call["client"] == "dashboard" and call["tool"] == "debug_step"]
    assert len(calls) == 3


def test_a_click_in_the_gutter_sets_a_breakpoint_and_another_removes_it(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page = control_page
    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    gutter = page.get_by_role("button", name="Breakpoint on line 6", exact=True)
    gutter.click()
    expect(gutter).to_have_attribute("aria-pressed", "true")
    expect(gutter).to_have_attribute("data-breakpoint", "breakpoint bound")
    assert agent.call("breakpoint_list")["breakpoints"] == ["bp-1 app.py:6"]
    assert agent.call("debug_continue")["at"] == "app.py:6 in count"

    page.get_by_role("checkbox", name="app.py:6 is on").click()
    expect(gutter).to_have_attribute("data-breakpoint", "breakpoint disabled")
    gutter.click()
    expect(gutter).to_have_attribute("aria-pressed", "false")
    assert agent.call("breakpoint_list")["breakpoints"] == []


def test_a_watch_is_evaluated_at_every_stop_and_its_changes_are_marked(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page = control_page
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 4}])
    expect(page.locator("#where")).to_contain_text("app.py:4")
    for expression in ("number * 100", "nonsense"):
        page.get_by_label("Expression to watch").fill(expression)
        page.keyboard.press("Enter")
    watch = page.locator("#watches [data-path='number * 100']")
    expect(watch.locator(".value")).to_have_text("0")
    expect(page.locator("#watches [data-path=nonsense]")).to_contain_text("nonsense")
    expect(page.locator("#watches .error")).to_contain_text("NameError")
    agent.call("debug_continue")
    expect(watch.locator(".value")).to_have_text("100")
    expect(watch).to_have_attribute("data-changed", "true")
    page.get_by_role("button", name="Stop watching nonsense").click()
    expect(page.locator("#watches .variable")).to_have_count(1)


def test_a_frame_can_be_chosen_and_a_variable_opened(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    page = control_page
    (agent.directory / "app.py").write_text("def f(basket):\n    pass\n\nshop = {'tea': [4, 5]}\nf(shop)\n")
    agent.call("debug_launch", program="app.py", stop_at_entry=False, breakpoints=[{"file": "app.py", "line": 2}])
    page.locator("#locals summary").filter(has_text="basket").click()
    page.locator("#locals .inside summary").filter(has_text="tea").click()
    expect(page.locator("#locals .inside .inside .variable").first).to_contain_text("4")

    page.locator("#stack .row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".line.looked-at")).to_contain_text("f(shop)")
    expect(page.locator("#locals [data-path=shop]")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#locals [data-path=basket]")).to_have_count(1)


def test_the_page_shows_what_the_server_refuses(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    agent.call("debug_launch", program="app.py", stop_at_entry=True)
    expect(control_page.locator(".line.current")).to_have_count(1)
    (agent.directory / "app.py").unlink()
    control_page.get_by_role("button", name="Breakpoint on line 6", exact=True).click()
    expect(control_page.locator("#notice")).to_contain_text("There is no file")


OF_THE_DOT = """
(dot) => {
  const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255);
  const light = (colour) => parts(colour)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, index) => sum + each * [0.2126, 0.7152, 0.0722][index], 0);
  const contrast = (...colours) => {
    const [one, other] = colours.map(light).sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
  };
  const {backgroundColor: fill, outlineColor: outline} = getComputedStyle(dot);
  const around = getComputedStyle(dot.closest('.gutter')).backgroundColor;
  return Math.max(contrast(fill, around), Math.min(contrast(fill, outline), contrast(outline, around)));
}
"""
"""The contrast by which a breakpoint's dot is seen: with what is around it, or of its outline with both."""

IN_SIGHT = """
(node) => {
  const box = node.getBoundingClientRect();
  const within = (view) => {
    if (!view) return true;
    const {top, bottom} = view.getBoundingClientRect();
    const cuts = getComputedStyle(view).overflowY !== 'visible';
    return (!cuts || (box.top >= top - 1 && box.bottom <= bottom + 1)) && within(view.parentElement);
  };
  return box.height > 0 && box.bottom <= innerHeight && within(node.parentElement);
}
"""
"""Whether nothing around an element cuts it off, without scrolling."""

WHOLE = "all => all.every((each) => each.scrollWidth <= each.clientWidth)"

HOW_MANY_TOPS = "all => new Set(all.map((each) => each.getBoundingClientRect().top)).size"

IN_THE_SOURCE = """
() => {
  const [view, line] = ['#source', '.line.current'].map((each) => document.querySelector(each).getBoundingClientRect());
  return view.top - 1 <= line.top && line.top <= view.bottom - 19;
}
"""


def test_the_current_line_and_the_fields_are_in_sight_at_every_size_of_the_window(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page = control_page
    functions = "".join(f"def f{number}():\n    return {number}\n" for number in range(40))
    (agent.directory / "long.py").write_text(f"{functions}numbers = list(range(40))\nprint(numbers)\n")
    page.set_viewport_size({"width": 1440, "height": 900})
    agent.call("debug_launch", program="long.py", breakpoints=[{"file": "long.py", "line": 82}])
    current = page.locator(".line.current")
    expect(current.locator(".number")).to_have_text("82")

    # A smaller window has other columns; what is moved in the document, and is lower, keeps its line.
    for width, height in ((780, 493), (1440, 900), (390, 700), (1024, 600), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        two_frames(page)
        expect(current).to_have_count(1)
        becomes(lambda: page.evaluate(IN_THE_SOURCE), True)
        if width != 390:
            becomes(lambda: current.evaluate(IN_SIGHT), True)
        else:  # a phone's bar is one row, headings are whole, and what has no room above is at the end
            eventually(page.locator(".bar").bounding_box, lambda bar: bar is not None and bar["height"] < 48)
            becomes(lambda: page.locator("#story .chapter .what").evaluate_all(WHOLE), True)
        expect(page.get_by_role("button", name="Keys", exact=True)).to_have_count(1)
        if width == 780:
            buttons = page.locator(".panel.story > header").locator(".fold, .fill")
            becomes(partial(buttons.evaluate_all, HOW_MANY_TOPS), 1)  # the buttons of a header stand in one row
    # Where the person has scrolled to, the window shrinks and grows without the page's hand in it.
    page.locator("#source").evaluate("view => view.scrollTo({top: 200})")
    two_frames(page)
    page.set_viewport_size({"width": 780, "height": 700})
    two_frames(page)
    becomes(lambda: page.locator("#source").evaluate("view => view.scrollTop"), 200)

    # With values to see everywhere, the right column gives each panel room: one scrolls inside, not all together.
    for expression in ("numbers", "numbers[1:]", "len(numbers)"):
        page.get_by_label("Expression to watch").fill(expression)
        page.keyboard.press("Enter")
        page.get_by_label("Expression to evaluate").fill(expression)
        page.keyboard.press("Enter")
    expect(page.locator("#watches .watch")).to_have_count(3)
    expect(page.locator("#evaluations .answer")).to_have_count(3)
    for width, height in ((1440, 900), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        two_frames(page)
        becomes(lambda: page.locator(".column.right").evaluate("view => view.scrollHeight <= view.clientHeight"), True)
        fields = [page.get_by_label(label) for label in ("Expression to watch", "Expression to evaluate")]
        for each in (*fields, page.locator("#evaluations .answer").last):
            becomes(partial(each.evaluate, IN_SIGHT), True)

    # The frame of the focus goes around the letters of a breakpoint, and a checkbox has the page's own colours.
    name = page.locator("#breakpoints .plain")
    name.focus()
    left = "node => node.getBoundingClientRect().left"
    eventually(lambda: name.locator(".name").evaluate(left) - name.evaluate(left), lambda room: room >= 4)
    page.emulate_media(color_scheme="dark")
    page.locator(".exceptions > summary").press("Enter")
    box, off = page.locator("#breakpoints input"), page.get_by_label("Raised")
    for each, colour in ((box, "rgb(123, 164, 255)"), (off, "rgb(22, 27, 34)")):
        expect(each).to_have_css("appearance", "none")
        expect(each).to_have_css("background-color", colour)
        expect(page.locator(".panel.source")).not_to_have_css("background-color", colour)

    # A breakpoint on the current line is seen, in each scheme; also where an exception was raised.
    dot = current.locator(".dot")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        eventually(lambda: dot.evaluate(OF_THE_DOT), lambda contrast: contrast >= 3)
        page.evaluate("document.body.dataset.reason = 'exception'")
        eventually(lambda: dot.evaluate(OF_THE_DOT), lambda contrast: contrast >= 3)
        page.evaluate("document.body.dataset.reason = ''")
    page.set_viewport_size({"width": 1280, "height": 800})
