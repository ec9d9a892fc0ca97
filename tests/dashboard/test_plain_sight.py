"""What is on the page looks like what it is: signs that lie, long names, what an agent writes, a refused token."""

from typing import TYPE_CHECKING

from tests.dashboard.agent import CONTROL_TOKEN, OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import OpenPage
from tests.dashboard.eventually import becomes, eventually
from tests.dashboard.looks import OUT_OF_SIGHT
from tests.dashboard.test_accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

FILE = "a_module_whose_file_name_is_long_as_well.py"

SIGNS = """\
def handle_checkout_of(access, b\u0430sket):
    greeting = "\u0645\u0631\u062d\u0628\u0627"
    if access != "user\u202e \u2066# only admin\u2069 \u2066":
        greeting = greeting * 3
    return greeting


for access in ("x", "y"):
    print(handle_checkout_of(access, [1]), "\u202eend")
"""

ASKED = "I found **24 pens**:\n\n- `0.9` is *my* guess\n- or <b>1</b>\n\n```\nx = [1](javascript:1)\n```\nWhich?"

BESIDE = """() => {
  const [note, field] = ['#evaluate-note', '#evaluate-panel textarea'].map((each) =>
    document.querySelector(each).getBoundingClientRect());
  return [innerWidth, note.height > 0 && note.height < 24 && note.right <= field.left];
}"""
"""How wide the page is, and whether the place of an evaluation is one line beside the field."""

TOPS = "(selectors) => selectors.map((each) => document.querySelector(each).getBoundingClientRect().top)"


def test_signs_that_are_not_seen_are_marks_and_names_are_read_whole(agent: Agent, open_page: OpenPage) -> None:
    from playwright.sync_api import expect

    (agent.directory / FILE).write_text(SIGNS)
    page = open_page(agent.url(CONTROL_TOKEN))
    page.set_viewport_size({"width": 1440, "height": 900})
    agent.call("debug_launch", program=FILE, stop_at_entry=False, breakpoints=[{"file": FILE, "line": 5}])
    line = page.locator("#source .line")
    expect(line.nth(2).locator(".sign")).to_have_text(["[U+202E]", "[U+2066]", "[U+2069]", "[U+2066]"])
    assert "\u202e" not in page.locator("#source").inner_text()
    mixed = line.nth(0).locator(".mixed")
    expect(mixed).to_have_text("b\u0430sket")
    expect(mixed).to_have_attribute("title", "Letters of two scripts: \u0430 is U+0430")
    agent.call("debug_continue")
    expect(page.locator("#output")).to_contain_text("[U+202E]end")
    # Beside a value from right to left, what follows keeps its place.
    expect(line.nth(4).locator(".aside bdi")).to_have_count(2)

    # The function's name is the last that is cut, the file's name the first.
    top = page.locator("#stack .row").first
    cut = "(node) => node.scrollWidth > node.clientWidth"
    becomes(lambda: [top.locator(part).evaluate(cut) for part in (".name", ".file")], [False, True])
    expect(top.locator(".number")).to_be_visible()

    # A row with the pointer has a button beside it, not in it.
    page.locator("#locals [data-path=basket], #locals summary").first.hover()
    expect(page.locator(".locals .over-stops")).to_be_visible()
    assert violations(page, "a row with the pointer", (1440,)) == []
    page.locator(".locals .over-stops").click()
    expect(page.get_by_role("dialog")).to_contain_text("over")
    page.keyboard.press("Escape")

    # It stays beside its row when the rows are drawn anew under a finger that is gone.
    page.mouse.move(0, 0)
    page.locator("#locals [data-path=access]").dispatch_event("pointerover")
    expect(page.locator(".locals .over-stops")).to_be_visible()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("body")).to_have_attribute("data-past", "true")
    expect(page.locator("#locals .pointed")).to_contain_text("access")
    page.set_viewport_size({"width": 320, "height": 844})
    becomes(lambda: page.evaluate(OUT_OF_SIGHT, "main"), [])


def test_on_a_phone_the_line_is_in_the_upper_third_above_the_values_in_the_past_as_well(
    agent: Agent, open_page: OpenPage
) -> None:
    from playwright.sync_api import expect

    lines = [f"value_{number} = {number}" for number in range(1, 61)]
    (agent.directory / "long.py").write_text("\n".join(lines) + "\n")
    page = open_page(agent.url(CONTROL_TOKEN))
    page.set_viewport_size({"width": 390, "height": 844})
    panels = [".source", ".locals", ".panel.story"]
    stops = (9, 30)
    agent.call("debug_launch", program="long.py", breakpoints=[{"file": "long.py", "line": line} for line in stops])
    agent.call("debug_continue")
    for line, place in zip(reversed(stops), ("current", "was-current"), strict=True):
        row = page.locator(f".line.{place}", has_text=f"value_{line} =")
        eventually(row.bounding_box, lambda box: box is not None and 139 < box["y"] < 844 / 3)
        eventually(lambda: page.evaluate(TOPS, panels), lambda tops: tops == sorted(tops) and tops[1] < 600)
        page.keyboard.press("Shift+ArrowLeft")
        expect(page.locator("body")).to_have_attribute("data-past", "true")


def test_what_an_agent_asks_is_read_as_it_was_meant(agent: Agent, control_page: "Page") -> None:
    from playwright.sync_api import expect

    expect(control_page.get_by_label("Message to agent")).to_be_visible()
    asked = agent.begin_call("ask_person", question=ASKED, choices=["0.9", "1"])
    question = control_page.locator("#question")
    expect(question.locator("strong")).to_have_text("24 pens")
    expect(question.locator("li")).to_have_text(["0.9 is my guess", "or <b>1</b>"])
    expect(question.locator("li code")).to_have_text("0.9")
    expect(question.locator("pre")).to_have_text("x = [1](javascript:1)")
    expect(question.locator("a, b, img")).to_have_count(0)
    assert violations(control_page, "a question", (320, 1024)) == []
    control_page.get_by_role("button", name="0.9", exact=True).click()
    assert agent.answer(asked)["structuredContent"]["answer"] == "0.9"


def test_a_refused_token_is_said_once_in_a_card(agent: Agent, own_profile: None, browser: "BrowserContext") -> None:
    from playwright.sync_api import expect

    page = browser.new_page()
    page.clock.install()
    opened: list[str] = []
    page.on("websocket", lambda socket: opened.append(socket.url))
    page.goto(agent.url("wrong"))
    expect(page.locator("#link")).to_have_text("Refused")
    expect(page.get_by_role("alert")).to_contain_text("refuses this page")
    expect(page.locator("#source-title")).to_be_hidden()
    expect(page.locator("#controls")).to_be_hidden()
    page.clock.run_for(120_000)
    assert len(opened) == 1
    page.get_by_label("Token, or URL with a token").fill(agent.url(OBSERVE_TOKEN))
    page.keyboard.press("Enter")
    expect(page.locator("#link")).to_have_text("Live")
    expect(page.locator("#source-title")).to_be_visible()
    page.close()


def test_of_many_processes_the_one_that_is_shown_is_in_sight(still_page: "Page") -> None:
    still_page.set_viewport_size({"width": 1440, "height": 900})
    heights, seen = still_page.evaluate(
        """async () => {
          const {createProcesses} = await import('/program/processes_panel.js');
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const store = new Store(initialState());
          createProcesses(store, () => {});
          const process = (number) => ({
            sessionId: `s-${number}`, processId: number, processName: `work-${number}.py`, state: 'Running',
            pauseReason: null, currentLocation: null, parentSessionId: null,
          });
          const sessions = Array.from({length: 20}, (_, index) => process(index + 1));
          store.update({active: true, sessions: {sessions, focus: 's-18'}, session: sessions[17]});
          await new Promise(requestAnimationFrame);
          const list = document.getElementById('children');
          const chosen = list.querySelector('[aria-selected=true]');
          const [box, row] = [list, chosen].map((node) => node.getBoundingClientRect());
          const heights = [...list.children].map((node) => node.getBoundingClientRect().height);
          return [heights, row.top >= box.top && row.bottom <= box.bottom + 1];
        }"""
    )
    assert max(heights) < 28
    assert seen


def test_what_tells_processes_apart_is_whole_and_the_name_of_their_program_gives_way(still_page: "Page") -> None:
    still_page.set_viewport_size({"width": 1280, "height": 900})
    found = still_page.evaluate(
        """async () => {
          const {createProcesses} = await import('/program/processes_panel.js');
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const store = new Store(initialState());
          createProcesses(store, () => {}, async () => {});
          const process = (number, labels) => ({
            sessionId: `s-${number}`, processId: number, processName: '/job/train_the_model.py', state: 'Running',
            pauseReason: null, currentLocation: null, parentSessionId: number === 1 ? null : 's-1', labels,
          });
          const sessions = [process(1), process(2, {name: 'worker-0'}), process(3, {rank: '12'}), process(4)];
          const processor = Object.fromEntries(sessions.map(({sessionId}) => [sessionId, 100]));
          store.update({active: true, sessions: {sessions, focus: 's-1'}, session: sessions[0], processor});
          await new Promise(requestAnimationFrame);
          return [...document.querySelectorAll('#children .name')].map((name) => {
            const label = name.querySelector('.label');
            if (!label) return [name.textContent];
            const [inside, outside] = [label, name.parentElement].map((each) => each.getBoundingClientRect());
            const whole = label.scrollWidth <= label.clientWidth + 1 && inside.right <= outside.right + 1;
            return [name.textContent, label.textContent, whole];
          });
        }"""
    )
    assert found == [
        ["train_the_model.py"],
        ["train_the_model.py worker-0", "worker-0", True],
        ["train_the_model.py rank 12", "rank 12", True],
        ["train_the_model.py 2"],
    ]


def test_the_place_of_an_evaluation_stands_beside_its_field_however_long_it_is(still_page: "Page") -> None:
    still_page.evaluate(
        """async () => {
          const {keepArranged} = await import('/view/arrange.js');
          const {createEvaluate} = await import('/values/evaluate.js');
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const store = new Store({...initialState(), role: 'control', active: true});
          keepArranged();
          createEvaluate(store, {});
          const list = [{name: 'test_total_with_discount_of_all_that_is_sold', location: {}}];
          store.update({stack: {stale: false}, frames: {index: 0, list}});
        }"""
    )
    for width in (1280, 390, 320):
        still_page.set_viewport_size({"width": width, "height": 844})
        becomes(lambda: still_page.evaluate(BESIDE), [width, True])
    note = still_page.locator("#evaluate-note")
    assert note.get_attribute("title") == "in test_total_with_discount_of_all_that_is_sold"


def test_what_is_empty_says_so_or_what_it_is_for(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {HistoryView} = await import('/runs/run_history.js');
          const {Store} = await import('/store.js');
          const history = new HistoryView(new Store({past: null}), {moments: {shown: null}}, () => {});
          history.opened();
          const printed = getComputedStyle(document.getElementById('output'), '::before').content;
          return [history.node.querySelector('[role=status]').textContent, printed];
        }"""
    )
    named = "Name a variable, an attribute of a class, a function with (), or a line as file:line."
    assert found == [named, '"Nothing printed."']


def test_of_a_thousand_threads_and_ten_thousand_tasks_some_are_drawn_and_the_rest_is_offered_or_counted(
    still_page: "Page",
) -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(
        """async () => {
          const {createThreads} = await import('/program/threads.js');
          const {createTasks} = await import('/program/tasks.js');
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const first = initialState();
          const store = new Store({...first, frames: {...first.frames, threadId: 900}});
          createThreads(store, {selectThread: (id) => store.update({frames: {...store.state.frames, threadId: id}})});
          createTasks(store, {showPlace() {}});
          const location = {file: '/a/b.py', line: 1};
          const thread = (_, id) => ({id, name: `w-${id}`, state: 'Suspended', location, waitsFor: null});
          store.update({threads: {threads: Array.from({length: 1000}, thread), stale: false}});
          const frames = (line) => [{name: 'f', isUserCode: true, location: {file: '/a/b.py', line}}];
          const task = (_, line) => ({
            name: `t-${line}`, library: 'asyncio', depth: 0, state: 'Waiting', waitsFor: null, threadId: 1,
            frames: frames(line),
          });
          const tasks = Array.from({length: 10000}, task);
          window.nowOfTest = {threads: [], total: 0, deadlocks: [], tasks, totalTasks: tasks.length};
          window.storeOfTest = store;
        }"""
    )
    rows = page.locator("#threads .row")
    expect(rows).to_have_count(202)
    expect(rows.nth(200)).to_contain_text("w-900")
    expect(rows.nth(200)).to_have_attribute("aria-selected", "true")
    expect(rows.last).to_have_text("799 more, show 200")
    rows.last.press("Enter")
    expect(rows).to_have_count(402)
    expect(page.locator("#threads .row:focus")).to_contain_text("w-200")
    page.locator("#threads .row", has_text="w-300").press("Enter")
    expect(page.locator("#threads [aria-selected=true]")).to_contain_text("w-300")
    expect(rows).to_have_count(401)  # the one that was chosen is among these
    page.evaluate("window.storeOfTest.update({now: window.nowOfTest})")
    expect(page.locator("#tasks .row")).to_have_count(301)
    expect(page.locator("#tasks .row").last).to_have_text("9700 more rows")
