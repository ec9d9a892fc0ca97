"""What a person changes from the page: breakpoints, exceptions, values, what is watched, and the panels."""

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import at_rest, becomes, eventually, hear, two_frames, was_said

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page


def breakpoints(agent: Agent) -> list[str]:
    """The breakpoints, a line each."""
    lines: list[str] = agent.call("breakpoint_list")["breakpoints"]
    return lines


def test_breakpoints_are_edited_refusals_stand_at_their_field_and_nothing_typed_is_lost(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page = control_page
    agent.call("debug_launch", program="app.py", stop_at_entry=True, breakpoints=[{"file": "app.py", "line": 4}])
    dialog = page.locator("dialog")

    # One that an agent has set keeps its id. It opens by a click on its name.
    page.get_by_role("button", name="Edit app.py:4").click()
    expect(dialog).to_contain_text("Breakpoint at app.py:4")
    condition = page.get_by_label("Stop only if")
    expect(condition).to_be_focused()
    condition.fill("number >")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").filter(has_text="not a valid")).to_be_visible()
    expect(condition).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Edit app.py:4")).to_be_focused()
    agent.call("breakpoint_edit", id="bp-1", hit_condition="% 7")
    expect(page.locator("#breakpoints")).to_contain_text("% 7")
    page.get_by_role("button", name="Edit app.py:4").click()
    expect(condition).to_have_value("number >")
    expect(page.get_by_label("Only at these hits")).to_have_value("% 7")  # what was kept is only what was typed
    condition.fill("number > 1")
    page.get_by_label("Only at these hits").fill("often")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Only at these hits")).to_be_focused()
    expect(dialog).to_contain_text("is not a hit condition")
    page.get_by_label("Only at these hits").fill(">= 1")
    page.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert breakpoints(agent) == ["bp-1 app.py:4 if number > 1, hit condition >= 1"]

    # What an agent changes meanwhile is not undone by what a person saves, and is said. F5 loads nothing anew, and a
    # refusal stands at the field that the server names, whatever its words are.
    page.get_by_role("button", name="Edit app.py:4").click()
    hits = page.get_by_label("Only at these hits")
    page.get_by_label("Write, and do not stop").fill("{")
    hits.fill(">= 2")
    agent.call("breakpoint_edit", id="bp-1", condition="number > 2", hit_condition="% 5")
    expect(page.locator("#breakpoints")).to_contain_text("number > 2")
    for key in ("F5", "Control+Shift+F5", "F6", "F10", "F11"):
        page.keyboard.press(key)
    expect(page.get_by_label("Write, and do not stop")).to_have_value("{")
    page.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("status")).to_have_text(
        "It was changed meanwhile. “Stop only if” is now “number > 2”. “Only at these hits” is now “% 5”: "
        "saving replaces it by yours. Save again if that is meant."
    )
    expect(condition).to_have_value("number > 2")
    condition.fill("log message >")
    page.get_by_role("button", name="Save").click()
    expect(condition).to_have_attribute("aria-invalid", "true")
    condition.fill("number > 3")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Write, and do not stop")).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    agent.call("breakpoint_edit", id="bp-1")
    expect(page.locator("#breakpoints")).not_to_contain_text("number > 2")

    # A new one with a message, by the menu of a line, with the keyboard; what is typed is text.
    page.get_by_role("button", name="Breakpoint on line 5").focus()
    page.keyboard.press("Shift+F10")
    menu = page.get_by_role("menu", name="Line 5")
    expect(menu.get_by_role("menuitem", name="Set breakpoint", exact=False).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_label("Write, and do not stop").fill("<img src=x onerror=alert(1)> {total}")
    page.keyboard.press("Enter")
    expect(page.locator("#breakpoints")).to_contain_text("log “<img src=x onerror=alert(1)> {total}”")
    page.locator(".line").nth(4).click(button="right")
    page.get_by_role("menuitem", name="Switch tp-2 off").click()
    expect(page.locator("#breakpoints [data-id=tp-2]")).to_contain_text("disabled")

    # Exceptions: toggles and types.
    exceptions = page.locator(".exceptions > summary")
    expect(exceptions).to_have_text(re.compile("^Exceptions\\s*uncaught$"))
    exceptions.press("Enter")
    uncaught = page.get_by_label("Uncaught (by the launch)")
    expect(uncaught).to_be_checked(indeterminate=True)
    mark = "(node) => getComputedStyle(node, '::before').width"
    becomes(lambda: uncaught.evaluate(mark), "9px")  # an empty box would say that it does not stop there
    page.get_by_label("Uncaught").check()
    expect(page.get_by_label("Uncaught", exact=True)).to_be_checked()
    expect(page.locator("#breakpoints")).to_contain_text("when nothing catches it")
    page.get_by_label("Raised").check()
    expect(exceptions).to_contain_text("raised, uncaught")
    expect(page.locator("#breakpoints")).to_contain_text("where it is raised")
    page.get_by_label("Raised").uncheck()
    page.get_by_label("Type of exception").fill("1x")
    page.keyboard.press("Enter")
    expect(page.locator(".exceptions .problem")).to_contain_text("is not")
    expect(page.get_by_label("Type of exception")).to_have_value("1x")
    page.get_by_label("Type of exception").fill("KeyError")
    page.keyboard.press("Enter")
    expect(page.locator("#breakpoints")).to_contain_text("KeyError")
    page.get_by_label("Uncaught").uncheck()
    expect(page.get_by_label("Uncaught (by the launch)")).to_be_checked(indeterminate=True)
    expect(page.locator("#breakpoints .row")).to_have_count(3)

    # All of them.
    page.get_by_role("button", name="All off").click()
    expect(page.locator("#breakpoints input:checked")).to_have_count(0)
    page.get_by_role("button", name="All on").click()
    expect(page.locator("#breakpoints input:checked")).to_have_count(3)
    page.get_by_role("button", name="Remove all breakpoints").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#breakpoints .row")).to_have_count(3)
    page.get_by_role("button", name="Remove all breakpoints").click()
    page.get_by_role("button", name="Remove all", exact=True).click()
    expect(page.locator("#breakpoints .row")).to_have_count(0)

    # Run to a line.
    page.locator(".line").nth(9).click(button="right")
    page.get_by_role("menuitem", name="Run to this line").click()
    expect(page.locator("#where")).to_have_text(re.compile("^app.py:10"))


SHOP = """\
class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price
        self.note = "<img src=x onerror=alert(1)>" + "n" * 600


def total(items, rate):
    sum_ = 0
    for item in items:
        sum_ += item.price * rate
    return sum_


def main():
    basket = [Item("tea", 4), Item("cup", 9)]
    paid = total(basket, 2)
    print(paid)


main()
"""


def test_expressions_are_evaluated_and_watched_in_the_frame_that_is_shown_and_values_are_set(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page = control_page
    (agent.directory / "app.py").write_text(SHOP)
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 11}])

    # Values at the ends of the lines of the function, and of a name under the pointer or by a key: nothing runs for it.
    calls = len(agent.tool_calls())
    expect(page.locator(".line").nth(7).locator(".aside")).to_have_text(re.compile("rate = 2"))
    expect(page.locator(".line").nth(8).locator(".aside")).to_have_text("sum_ = 0")
    expect(page.locator(".line").nth(11).locator(".aside")).to_have_text("")
    tip = page.locator(".tip")
    letters = at_rest(page.locator(".line.current code"))
    letter = letters["width"] / len("        sum_ += item.price * rate")

    def shown_under_the_pointer() -> list[str]:
        for shift in (0, 1):  # news of the program takes the tip away, until the pointer moves again
            page.mouse.move(letters["x"] + 23 * letter + shift, letters["y"] + 10)
        return tip.all_text_contents()

    becomes(shown_under_the_pointer, ["item.price4"])
    page.keyboard.press("Escape")
    expect(tip).to_have_count(0)
    expect(page.locator(".line.current")).to_have_count(1)
    page.locator(".line.current .gutter").focus()
    page.keyboard.press("v")
    expect(tip.locator("dt")).to_have_text(["sum_", "item.price", "rate"])
    page.keyboard.press("Escape")
    asked_for = {call["tool"] for call in agent.tool_calls()[calls:]}
    of_the_page = {"timeline_query", "process_read_output", "debug_state", "stop_get"}  # read when a session is new
    assert asked_for <= {"evaluate_safe", *of_the_page}, asked_for

    # The page's own search finds what is not drawn.
    page.keyboard.press("/")
    page.keyboard.type("sum_")
    finder = page.locator("#source-tools .finder")
    expect(finder).to_contain_text("1 of 3")
    page.keyboard.press("Enter")
    expect(finder).to_contain_text("2 of 3")
    expect(page.locator(".line.found")).to_contain_text("item.price")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Find in the source")).to_have_value("")

    # Letters and signs that are keys by themselves can be switched off, and this browser remembers it; the others stay.
    keys, dialog = page.get_by_role("button", name="Keys", exact=True), page.get_by_role("dialog", name="Keys")
    keys.click()
    expect(dialog.locator("dt")).to_have_count(11)
    switch = dialog.get_by_label("Letters and signs alone are keys")
    expect(switch).to_be_focused()
    expect(switch).to_be_checked()
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".line.current")).to_have_count(1)

    def press(key: str) -> "Locator":
        page.locator("#locals summary" if key == "h" else ".line.current .gutter").first.focus()
        page.keyboard.press(key)
        return {"v": tip, "h": page.get_by_role("dialog"), "/": page.locator(".find:focus")}[key]

    for key in ("v", "h", "/"):
        shown = press(key)
        two_frames(page)
        expect(shown).to_have_count(0)
    keys.click()
    switch.check()
    page.keyboard.press("Escape")
    for key in ("v", "h", "/"):
        expect(press(key)).to_have_count(1)
        page.keyboard.press("Escape")
    select = "const select = document.createElement('select'); select.id = 'list'; document.body.append(select);"
    page.evaluate(f"() => {{ {select} select.focus(); }}")
    page.keyboard.press("/")
    expect(page.locator("#list")).to_be_focused()
    page.evaluate("document.getElementById('list').remove()")

    asked = page.get_by_label("Expression to evaluate")
    answers = page.locator("#evaluations .answer")
    for number, (expression, answer) in enumerate(
        [("rate + 1", "3"), ("nope", "NameError"), ("'<b>' * 2", "'<b><b>'"), ("print('hi')", "hi")]
    ):
        asked.fill(expression)
        page.keyboard.press("Enter")
        expect(answers.nth(number)).to_contain_text(answer)
    asked.press("ArrowUp")
    asked.press("ArrowUp")
    expect(asked).to_have_value("'<b>' * 2")
    asked.press("ArrowDown")
    asked.press("ArrowDown")
    expect(asked).to_have_value("")
    asked.fill("x = 5")
    asked.press("Shift+Enter")
    page.keyboard.type("x * 100")
    page.keyboard.press("Enter")
    expect(answers.nth(4)).to_have_text("500")
    # The story shows what a person has typed, and not what the page evaluates to draw its watches (see below).
    calls_told = page.locator("#story .call .words")
    expect(calls_told.filter(has_text="rate + 1")).to_have_count(1)

    # In the frame that is shown, also what is watched; the history outlives a reload.
    page.get_by_label("Expression to watch").fill("len(basket)")
    page.keyboard.press("Enter")
    watch = page.locator("#watches [data-path='len(basket)']")
    expect(watch).to_contain_text("NameError")
    page.locator("#stack .row").filter(has_text="main").click()
    expect(watch.locator(".value")).to_have_text("2")
    expect(page.locator("#evaluate-note")).to_have_text("in main")
    expect(calls_told.filter(has_text="len(basket)")).to_have_count(0)
    asked.fill("basket[1].note")
    page.keyboard.press("Enter")
    expect(answers.nth(5)).to_contain_text("<img src=x onerror=alert(1)>nnn")
    answers.nth(5).click()
    dialog = page.locator("dialog")
    expect(dialog.locator("pre")).to_have_text(re.compile("n{600}'$"))
    expect(dialog).to_contain_text("630 characters, all of it")
    page.keyboard.press("Escape")

    # A watch is edited and opened.
    page.get_by_role("button", name="Edit len(basket)").click()
    page.keyboard.type("basket")
    page.keyboard.press("Enter")
    page.locator("#watches summary").filter(has_text="basket").first.click()
    page.locator("#watches summary").filter(has_text="[1]").first.click()
    expect(page.locator("#watches [data-path='basket[1].price']")).to_contain_text("9")

    # A value is set by a double click, refused at its field, and put back.
    page.locator("#watches [data-path='basket[1].price'] .value").dblclick()
    field = page.get_by_label("New value")
    expect(field).to_have_value("9")
    field.fill("9 +")
    field.press("Enter")
    expect(dialog.get_by_role("alert").filter(has_text="is not an expression")).to_be_visible()
    expect(field).to_have_value("9 +")
    field.fill("50")
    field.press("Enter")
    expect(dialog.locator("pre")).to_have_text("50")
    assert agent.call("evaluate", expression="items[1].price")["value"] == "50"
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.locator("pre")).to_have_text("9")
    assert agent.call("evaluate", expression="items[1].price")["value"] == "9"

    page.keyboard.press("Escape")

    # Copied is all of a value, of which a list shows the beginning.
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    page.locator("#watches [data-path='basket[1].note'] .value").dblclick()
    expect(dialog).to_contain_text("630 characters, all of it")
    hear(page)
    dialog.get_by_role("button", name="Copy").click()
    was_said(page, "Copied")
    becomes(lambda: page.evaluate("window.copied"), f"'<img src=x onerror=alert(1)>{'n' * 600}'")
    page.keyboard.press("Escape")
    page.locator("#watches [data-path='basket[1].price'] .value").dblclick()

    # A result is opened with the value of now, which is what Undo puts back; one of another frame or stop is only read.
    page.keyboard.press("Escape")
    asked.fill("basket[0].price")
    page.keyboard.press("Enter")
    expect(answers.nth(6)).to_have_text("4")
    agent.call("variable_set", path="basket[0].price", value="6", frame_index=1)
    answers.nth(6).click()
    expect(dialog.locator("pre")).to_have_text("6")
    expect(field).to_have_value("6")
    field.fill("8")
    field.press("Enter")
    expect(dialog.locator("pre")).to_have_text("8")
    undo = dialog.get_by_role("button", name="Undo")
    expect(undo).to_have_attribute("title", "Set it to 6 again")
    undo.click()
    expect(dialog.locator("pre")).to_have_text("6")
    assert agent.call("evaluate", expression="items[0].price")["value"] == "6"
    page.keyboard.press("Escape")
    asked.fill("basket")
    page.keyboard.press("Enter")
    answers.nth(7).click()
    expect(field).to_be_visible()
    field.fill("[]")
    field.press("Enter")
    expect(dialog.locator("pre")).to_have_text("[]")
    expect(undo).to_be_hidden()  # what it was cannot be evaluated
    page.keyboard.press("Escape")
    page.locator("#stack .row").first.click()
    answers.nth(6).click()
    expect(dialog.locator("pre")).to_have_text("4")
    expect(dialog).to_contain_text("As it was when it was evaluated in main. It cannot be set from here")
    expect(field).to_have_count(0)
    page.keyboard.press("Escape")
    page.locator("#stack .row").filter(has_text="main").click()
    page.locator("#watches [data-path=basket] .value").first.dblclick()
    expect(field).to_be_visible()

    # The agent has stepped meanwhile: the frame that was shown has another number now, or is gone.
    agent.call("debug_step")
    expect(page.locator("#follow")).to_contain_text("1 stop since")
    field.fill("60")
    field.press("Enter")
    expect(dialog.get_by_role("alert").filter(has_text="The program has moved")).to_be_visible()
    assert [each["arguments"]["value"] for each in agent.tool_calls() if each["tool"] == "variable_set"][-1] == "[]"
    page.keyboard.press("Escape")

    # The values of a session that is over are none of the next one.
    agent.call("debug_disconnect")
    agent.call("debug_launch", code="import time\nwhile True:\n    time.sleep(0.1)\n", wait=False, stop_at_entry=False)
    expect(page.locator("#state")).to_have_text("Running")
    expect(page.locator("#watches .value")).to_have_text("…")
    expect(page.locator("#source-title")).to_have_text("Source")  # and its source is none of the program that ended
    expect(page.locator("#story-now")).to_be_hidden()
    page.reload()
    expect(asked).to_be_visible()  # a key does not wait for it
    asked.press("ArrowUp")
    expect(asked).to_have_value("basket")
    asked.fill("1 + 1")
    page.keyboard.press("Enter")
    expect(answers.first).to_have_text("2")


C = """\
int main() {
    unsigned char sign = '|';
    sign++;
    return sign;
}
"""


def test_values_of_c_are_edited_without_their_types_and_a_character_as_its_number(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    if not (shutil.which("gdb") and shutil.which("gcc")):
        pytest.skip("gdb and gcc are not installed")
    page, dialog = control_page, control_page.locator("dialog")
    (agent.directory / "sign.c").write_text(C)
    subprocess.run(["gcc", "-g", "-O0", "sign.c", "-o", "sign"], cwd=agent.directory, check=True)
    agent.call("debug_launch", program="sign", breakpoints=[{"file": "sign.c", "line": 3}])
    sign = page.locator("#locals [data-path=sign] .value")
    expect(sign).to_have_text("124 '|'")
    expect(page.locator("#stop-number")).to_have_text("stop 1")  # else the dialog is of a stop that is not known yet
    sign.dblclick()
    field = page.get_by_label("New value")
    expect(field).to_have_value("124")
    expect(dialog.locator("pre")).to_have_text("124 '|'")  # which is what Copy copies
    expect(dialog).to_contain_text("of type unsigned char")
    field.fill("'A'")
    field.press("Enter")
    expect(dialog.locator("pre")).to_have_text("65 'A'")
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.locator("pre")).to_have_text("124 '|'")
    expect(field).to_have_value("124")
    page.keyboard.press("Escape")


def test_the_link_for_observers_opens_a_page_that_only_watches_and_has_a_picture(
    agent: Agent, control_page: "Page", open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    control_page.get_by_role("button", name="Share").click()
    link = control_page.get_by_label("Link for observers")
    expect(link).to_have_value(agent.url(OBSERVE_TOKEN))
    expect(control_page.get_by_role("img", name="QR code of the link")).to_be_visible()
    # The finder pattern, four quiet modules from the edge.
    expect(control_page.locator(".qr path")).to_have_attribute("d", re.compile("^M4 4h7v1h-7z"))
    assert CONTROL_TOKEN not in control_page.content()
    observer = open_page(link.input_value())
    expect(observer.locator("#role")).to_have_text("Observing")
    expect(observer.get_by_role("button", name="Share")).to_have_count(0)


def test_files_are_found_and_a_lost_connection_is_reported_calmly(agent: Agent, browser: "BrowserContext") -> None:
    from playwright.sync_api import expect

    (agent.directory / "app.py").write_text("import helper\n\nhelper.help_(3)\n")
    (agent.directory / "helper.py").write_text("def help_(n):\n    twice = 2 * n\n    return twice\n")
    page = browser.new_page()
    page.goto(agent.url("").split("#")[0])

    # Without a token there is a field for one, and a wrong one is refused.
    field = page.get_by_label("Token, or URL with a token")
    expect(page.locator("#link")).to_have_text("No token")
    field.fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#link")).to_have_text("Refused")
    field.fill(agent.url(CONTROL_TOKEN))
    page.keyboard.press("Enter")
    expect(page.locator("#link")).to_have_text("Live")
    expect(page).to_have_url(re.compile("/$"))

    # Go to a file that is not on the stack, by a part of its name and a line.
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "helper.py", "line": 2}])
    expect(page.locator("#where")).to_contain_text("helper.py:2")
    page.keyboard.press("Control+p")
    dialog = page.locator("dialog")
    expect(dialog.get_by_role("option")).to_have_count(2)
    page.keyboard.type("app:3")
    expect(dialog.get_by_role("option")).to_have_count(1)
    expect(dialog).to_contain_text("1 file of 2")
    page.keyboard.press("Enter")
    expect(page.locator("#source-title")).to_have_text("app.py")
    expect(page.locator(".line.looked-at")).to_contain_text("helper.help_(3)")
    page.keyboard.press("Escape")
    expect(page.locator("#source-title")).to_have_text("helper.py")

    # The stack is copied whole, with whole paths.
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    hear(page)
    page.get_by_role("button", name="Copy the call stack").click()
    was_said(page, "Copied")
    top = f"help_ {agent.directory / 'helper.py'}:2\n<module> {agent.directory / 'app.py'}:3"
    becomes(lambda: page.evaluate("window.copied"), top)

    # So is a long one, of which an answer has a part.
    deep = agent.directory / "deep.py"
    deep.write_text("def dive(depth):\n    return dive(depth - 1) if depth else 0  # down\n\n\ndive(900)\n")
    agent.call(
        "debug_launch",
        program="deep.py",
        replace=True,
        breakpoints=[{"file": "deep.py", "line": 2, "condition": "not depth"}],
    )
    expect(page.locator("#where")).to_contain_text("deep.py:2")
    expect(page.locator("#stack .row").first).to_contain_text("dive")  # the headline may come before the stack
    copying = "() => new Promise((copied) => { navigator.clipboard.writeText = async (text) => copied(text); %s })"
    found = page.evaluate(copying % "document.querySelector('[aria-label=\"Copy the call stack\"]').click()")
    assert found.splitlines() == [*[f"dive {deep}:2"] * 901, f"<module> {deep}:5"]

    # A session that a client has ended did not end by an exit code of its own; an old file is said to be one.
    agent.call("debug_disconnect")
    expect(page.locator("#where")).to_contain_text("agent ended the session")
    expect(page.locator("#state")).to_have_text("Session ended")
    agent.call("breakpoint_remove", id="*")
    (agent.directory / "other.py").write_text("import time\ntime.sleep(60)\n")
    agent.call("debug_launch", program="other.py", stop_at_entry=True)
    expect(page.locator("#where")).to_contain_text("other.py")
    page.locator(".mark.breakpointHit").first.click()
    expect(page.locator("#source-note")).to_contain_text("of an earlier session")

    # The countdown is for the eye alone: an alert that changes every second would be spoken every second.
    agent.kill()
    expect(page.locator("#trouble")).to_contain_text("Reconnecting…")
    expect(page.locator("#trouble [aria-hidden]")).to_have_text(re.compile(r"^ Next try in \d+ s\.$"))
    page.close()


def test_panels_are_resized_folded_and_filled_and_this_is_remembered_until_it_is_reset(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page = control_page
    page.set_viewport_size({"width": 1280, "height": 800})

    def width(selector: str) -> Any:
        return page.evaluate("(selector) => document.querySelector(selector).getBoundingClientRect().width", selector)

    before = at_rest(page.locator(".column.right"))["width"]
    bar = page.get_by_role("separator", name="Width of the right column")
    bar.focus()
    page.keyboard.press("Shift+ArrowLeft")
    becomes(lambda: round(width(".column.right") - before), 96)
    expect(bar).to_have_attribute("aria-valuenow", str(round(before + 96)))
    page.keyboard.press("Home")
    becomes(lambda: width(".column.right"), 200)
    page.keyboard.press("End")
    eventually(lambda: width(".column.right"), lambda now: now > before + 96)
    eventually(lambda: width(".column.middle"), lambda now: now > 200)  # what is beside it keeps its room

    left = at_rest(page.get_by_role("separator", name="Width of the left column"))
    page.mouse.move(left["x"] + 4, left["y"] + 50)
    page.mouse.down()
    page.mouse.move(184, left["y"] + 50, steps=3)
    page.mouse.up()
    eventually(lambda: width(".column.left"), lambda now: abs(now - 172) <= 4)

    fold = page.get_by_role("button", name="Threads", exact=True)
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.press("Enter")
    expect(page.locator("#threads")).to_be_hidden()
    page.get_by_role("button", name="Fill the page with Output").click()
    expect(page.locator("#source")).to_be_hidden()
    eventually(lambda: width(".panel.output"), lambda now: now > 1200)
    page.get_by_role("button", name="Fill the page with Output").click()

    page.reload()
    expect(page.locator("#link")).to_have_text("Live")
    expect(page.locator("#threads")).to_be_hidden()
    eventually(lambda: width(".column.left"), lambda now: abs(now - 172) <= 4)
    page.get_by_role("button", name="Reset panels").click()
    expect(page.get_by_role("button", name="Reset panels")).to_have_count(0)
    expect(page.get_by_role("button", name="Threads", exact=True)).to_have_attribute("aria-expanded", "true")
    becomes(lambda: width(".column.right"), before)


COLOURS = """\
import time

print("\\x1b[32mgreen <b>\\x1b[0m" + " wide" * 200)
for done in range(101):
    print(f"\\r{done} % done", end="", flush=True)
print()
print("\\x1b]0;title\\x07the \\x1b[1;31mend")
"""


def test_output_has_its_colours_and_the_last_state_of_a_progress_bar_and_is_searched(
    agent: Agent, control_page: "Page"
) -> None:
    from playwright.sync_api import expect

    page = control_page
    (agent.directory / "app.py").write_text(COLOURS)
    agent.call("debug_launch", program="app.py", breakpoints=[{"file": "app.py", "line": 6}])
    output = page.locator("#output")
    expect(output).to_contain_text("100 % done")
    agent.call("debug_continue")
    expect(output).to_contain_text("the end")
    whole = "green <b>" + " wide" * 200 + "\n100 % done\nthe end\n"
    becomes(lambda: output.evaluate("view => view.textContent"), whole)
    expect(output.locator(".ansi")).to_have_text(["green <b>", "end"])

    # Long lines are broken, or not; what is far to the right is found.
    wrap = page.get_by_role("button", name="Wrap")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    becomes(lambda: output.evaluate("view => view.scrollWidth <= view.clientWidth"), True)
    wrap.click()
    becomes(lambda: output.evaluate("view => view.scrollWidth > 3 * view.clientWidth"), True)
    find = page.get_by_label("Find in the output")
    find.fill("WIDE")
    expect(page.locator(".panel.output .finder")).to_contain_text("1 of 200")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".panel.output .finder")).to_contain_text("200 of 200")
    eventually(lambda: output.evaluate("view => view.scrollLeft"), lambda left: left > 500)
    find.fill("nowhere")
    expect(page.locator(".panel.output .finder")).to_contain_text("not found")
    wrap.click()


def test_a_variable_has_a_menu_by_mouse_and_by_keyboard(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / "long.py").write_text("text = 'pen' * 30_000\nitems = [1, 2]\nprint(len(text))\n")
    page = open_page(agent.url(CONTROL_TOKEN))
    agent.call("debug_launch", program="long.py", breakpoints=[{"file": "long.py", "line": 3}])
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    row = page.locator("#locals [data-path=text]")
    row.click(button="right")
    menu = page.get_by_role("menu", name="Variable text")
    expect(menu.get_by_role("menuitem").first).to_be_focused()
    menu.get_by_role("menuitem", name="Copy value").click()
    expect(page.locator("#notice")).to_have_text("Copied the value of text.")
    becomes(lambda: page.evaluate("window.copied"), repr("pen" * 30_000))

    page.locator("#locals [data-path=items] summary").focus()
    page.keyboard.press("Shift+F10")
    names = page.get_by_role("menu", name="Variable items").get_by_role("menuitem")
    expect(names).to_contain_text(["Copy value", "Copy name", "Show all, set…", "Over the stops", "Watch"])
    page.keyboard.press("w")
    page.keyboard.press("Enter")
    expect(page.locator("#watches [data-path=items]")).to_contain_text("[1, 2]")
    expect(page.locator("#locals [data-path=items] summary")).to_be_focused()
    page.keyboard.press("Shift+F10")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)

    observer = open_page(agent.url(OBSERVE_TOKEN))
    observer.locator("#locals [data-path=items]").click(button="right")
    expect(observer.get_by_role("menuitem")).to_contain_text(["Copy value", "Copy name", "Show all", "Over the stops"])
    expect(observer.get_by_role("menuitem", name="Watch")).to_have_count(0)
