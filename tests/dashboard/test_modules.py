"""The page's pure modules, in the browser that runs them."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dashboard.agent import OBSERVE_TOKEN, Agent
from tests.dashboard.conftest import opening
from tests.dashboard.eventually import becomes
from tests.dashboard.profiles import fresh_profile
from tests.javascript import package

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def page(server: Agent, chromium: "Browser") -> Iterator["Page"]:
    """One page for all tests that only import modules into it: to load it takes longer than what most of them do.

    A test that changes what is on it has a `still_page` of its own.
    """
    with fresh_profile(chromium) as context, opening(context) as opened:
        yield opened(server.url(OBSERVE_TOKEN), runs=False)


def test_comments_strings_and_keywords_are_distinguished_and_no_character_is_lost(page: "Page") -> None:
    kinds = page.evaluate(
        """async () => {
          const {highlighted} = await import('/source/highlight.js');
          const found = (text, path) => highlighted(text, path).map((line) => line.map(({kind, text}) => [kind, text]));
          const text = 'x = "a#b"  # "c"\\ndef f(y): return \\'\\'\\'two\\nlines\\'\\'\\'\\n';
          return {
            python: found(text, 'a.py'),
            same: highlighted(text, 'a.py').map((line) => line.map(({text}) => text).join('')).join('\\n') === text,
            c: found('/* if */ return `a ${b}`; // x', 'a.ts'),
            plain: found('if "x"', 'notes.txt'),
            open: found('s = "never closed', 'a.py'),
          };
        }"""
    )
    assert kinds["same"]
    first, second, third, last = kinds["python"]
    assert first == [[None, "x = "], ["string", '"a#b"'], [None, "  "], ["comment", '# "c"']]
    assert ["keyword", "def"] in second
    assert ["call", "f"] in second
    assert ["string", "'''two"] in second
    assert third == [["string", "lines'''"]]
    assert last == []
    assert [kind for kind, _ in kinds["c"][0] if kind] == ["comment", "keyword", "string", "string", "comment"]
    assert kinds["plain"] == [[[None, 'if "x"']]]
    assert kinds["open"] == [[[None, 's = "never closed']]]


def test_signs_that_are_not_seen_are_marks_wherever_text_is_drawn(page: "Page") -> None:
    found = page.evaluate(
        r"""async () => {
          const {visible, piecesOf} = await import('/view/signs.js');
          const {el, setText, svg} = await import('/view/dom.js');
          const {saidAsNodes} = await import('/view/said.js');
          const {storyOf} = await import('/story/story.js');
          const node = el('p');
          setText(node, 'a\u202eb');
          const family = '\u{1f469}\u200d\u{1f469}';
          const html = (text) => saidAsNodes(text).map((each) => each.outerHTML).join('');
          const payload = {call: 1, tool: 'card_run', client: 'x', arguments: {action: 'over', stop: 's-1 17 3 2'}};
          const event = {eventId: 1, type: 'toolStarted', timestamp: '2026-01-01T00:00:00Z', payload};
          const [entry] = storyOf([event])[0].entries;
          const arabic = '\u0645\u0631\u062d\u0628\u0627';
          const texts =
            ['plain\n\t', '\u202e', 'a\u200bb\ufeff', '\x00\x1b', family, 'a\u200db', '\u{e0041}', arabic];
          const said = [
            '**a** `b`', '2. x\n3. y', 'a_b_c *', '<i>x</i> ![a](b) [c](d)', '# Title #', '```\n**x**', 'a  \nb',
          ];
          return {
            visible: texts.map(visible),
            same: visible(family) === family,
            drawn: [el('p', {}, '\u2066x').textContent, svg('text', {}, '\u2066y').textContent, node.textContent],
            pieces: piecesOf('b\u0430sket = \u0431\u0430 + \u200b1').map(({kind, text}) => [kind, text]),
            said: said.map(html),
            pressed: [entry.title, entry.words, entry.facts],
          };
        }"""
    )
    assert found["visible"] == [
        "plain\n\t",
        "[U+202E]",
        "a[U+200B]b[U+FEFF]",
        "[U+0000][U+001B]",
        "\U0001f469\u200d\U0001f469",
        "a[U+200D]b",
        "[U+E0041]",
        "\u0645\u0631\u062d\u0628\u0627",
    ]
    assert found["drawn"] == ["[U+2066]x", "[U+2066]y", "a[U+202E]b"]
    assert found["pieces"] == [
        ["mixed", "b\u0430sket"],
        [None, " = \u0431\u0430 + "],
        ["sign", "[U+200B]"],
        [None, "1"],
    ]
    assert found["said"] == [
        "<p><strong>a</strong> <code>b</code></p>",
        '<ol start="2"><li>x</li><li>y</li></ol>',
        "<p>a_b_c *</p>",
        "<p>&lt;i&gt;x&lt;/i&gt; ![a](b) [c](d)</p>",
        "<p><strong>Title</strong></p>",
        "<pre>**x**</pre>",
        "<p>a  <br>b</p>",
    ]
    assert found["pressed"] == ["card_run", "Step over", [["pressed", "Step over"]]]


def test_tasks_that_are_alike_are_one_row_and_a_dead_lock_is_in_the_order_of_waiting(page: "Page") -> None:
    rows, rings = page.evaluate(
        """async () => {
          const {rowsOf} = await import('/program/tasks.js');
          const {deadlocksOf, ringInWords} = await import('/program/deadlock.js');
          const task = (name, depth, line) => ({
            name, depth, state: 'waiting', waitsFor: 'x', threadId: 1,
            frames: [{name: 'f', isUserCode: true, location: {file: '/a.py', line}}],
          });
          const rows = rowsOf([
            task('init', 0, 1), task('main', 1, 2), task('w-1', 2, 3), task('w-2', 2, 3), task('boss', 2, 3),
            task('w-3', 3, 3), task('w-4', 2, 3), task('w-5', 2, 4), task('next', 1, 2), task('w-6', 2, 3),
          ]);
          const thread = (id, name, held) => ({id, name, waitsFor: held && `lock, probably held by thread ${held} x`});
          const many = Array.from({length: 20}, (_, index) => thread(100 + index, `t${index}`, 100 + (index + 1) % 20));
          const ring = [thread(2, 'ab', 4), thread(3, 'ca', 2), thread(4, 'bc', 3)];
          const threads = [thread(1, 'Main'), ...ring, thread(5, null), ...many];
          const deadlocks = [[2, 3, 4], [5], many.map(({id}) => id), [999]];
          return [
            rows.map(({task, names}) => [task.depth, names.join(' ')]),
            deadlocksOf({threads, deadlocks}).map(ringInWords),
          ];
        }"""
    )
    assert rows == [
        [0, "init"],
        [1, "main"],
        [2, "w-1 w-2 w-4"],
        [2, "boss"],
        [3, "w-3"],
        [2, "w-5"],
        [1, "next"],
        [2, "w-6"],
    ]
    assert rings == [
        "ab → bc → ca → ab",
        "Thread 5 → Thread 5",
        "t0 → t1 → t2 → t3 → t4 → t5 → t6 → t7 → 12 more → t0",
    ]


LANGUAGES = [
    ("a.rs", "fn pick<'a>(x: &'a str, c: char) { say('c'); }", ["fn", "'c'"], ["'a>(x: &'"]),
    ("a.cpp", "int n = 1'000'000; map<int> object; match(type);", ["1'000'000"], ["map", "object", "match", "type"]),
    ("A.java", 'String s = """\n a "b" if\n """; int x = 1;', ['"""', ' a "b" if', ' """', "int"], ["if"]),
    ("a.go", "func f(in int, is string) object { return `raw` }", ["func", "return", "`raw`"], ["in", "is", "object"]),
    ("a.js", """const r = /"[a]'/g; q("x"); let y = 1;""", ["const", """/"[a]'/g""", '"x"', "let"], []),
    ("a.jsx", "return <p>it's {x}</p>;\nlet y = 1;", ["return", "let"], ["'s {x}</p>;"]),
    ("a.sh", "echo $((1 # 2)) # real", ["1", "2", "# real"], ["# 2)) # real"]),
    ("a.rb", "=begin\n def x\n=end\ndef y", ["=begin", " def x", "=end", "def"], []),
    ("a.py", "f'a {x!r} b' + print(1)", ["f'a ", " b'", "1", "print"], ["{x!r}"]),
    (
        "a.f90",
        "print *, 'a ! b' ! it's\n  if (x > 1.5d0) stop",
        ["'a ! b'", "! it's", "if", "1.5d0", "stop"],
        ["! b' ! it's"],
    ),
    ("a.adb", 'if X = 16#FF# then -- "no"\n Put ("a");', ["if", "16#FF#", "then", '-- "no"', '"a"'], ['"no"']),
    ("a.d", '/+ a /+ b +/ if +/ int x; auto s = `a"b`;', ["/+ a /+ b +/ if +/", "int", "auto", '`a"b`'], ["if"]),
    ("a.lpr", "{ begin } if x = 'it''s' then writeln(1);", ["{ begin }", "if", "'it''s'", "then"], ["begin"]),
    ("a.dart", "var s = 'a ${b.c} if'; // it's", ["var", "'a ", " if'", "// it's"], ["if"]),
    ("a.robot", "*** Test Cases ***\nSums\n    # if\n    Log    ${x}", ["# if"], ["if"]),
    ("a.html", "<p title=\"a\">it's</p>\n<script>let y = 'b';</script>", ["let", "'b'"], ["'s</p>"]),
    ("a.c++", "int n = 1;", ["int", "1"], []),
    ("CMakeLists.txt", 'set(x "a ${y}") # c', ["set", '"a ${y}"', "# c"], []),
]
"""A file's name, a text, what is coloured in it, and what is not."""


@pytest.mark.parametrize(("file", "text", "coloured", "plain"), LANGUAGES, ids=[row[0] for row in LANGUAGES])
def test_each_language_has_its_own_colours(
    file: str, text: str, coloured: list[str], plain: list[str], page: "Page"
) -> None:
    lines = page.evaluate(
        "async ([text, file]) => (await import('/source/highlight.js')).highlighted(text, file)", [text, file]
    )
    assert "\n".join("".join(token["text"] for token in line) for line in lines) == text
    tokens = {token["text"] for line in lines for token in line if token["kind"] not in (None, "call")}
    called = {token["text"] for line in lines for token in line if token["kind"] == "call"}
    assert set(coloured) <= tokens | called
    assert not tokens & set(plain)


def test_a_long_file_is_coloured_in_parts_as_they_are_drawn(page: "Page") -> None:
    sizes, same, kinds = page.evaluate(
        """async () => {
          const {ColouredLines} = await import('/source/highlight.js');
          const {Prism} = await import('/vendor/prism.js');
          const sizes = [];
          const tokenize = Prism.tokenize;
          Prism.tokenize = (text, grammar) => { sizes.push(text.length); return tokenize(text, grammar); };
          const quotes = '"'.repeat(3);
          const one = ['def f(x):', `    ${quotes}A`, `    text.${quotes}`, '    return x', ''];
          const lines = [...Array.from({length: 5000}, () => one).flat(), 'x'.repeat(1e6), '"' + 'y'.repeat(1e6)];
          const coloured = new ColouredLines(lines, 'a.py', 2000);
          const first = coloured.at(12_001);
          const some = sizes.length;
          const all = lines.map((_, index) => coloured.at(index));
          Prism.tokenize = tokenize;
          const kinds = [first, all[0], all[24_995]].map((line) => line.find(({kind}) => kind).text);
          const texts = all.map((line) => line.map(({text}) => text).join(''));
          const same = texts.every((text, index) => text === lines[index].slice(0, 2000));
          return [[some, Math.max(...sizes), sizes.length], same, kinds];
        }"""
    )
    assert sizes[0] < 20  # of a part; Prism calls itself for what is in a token
    assert sizes[1] <= 26_000
    assert same
    assert kinds == ['"""A', "def", "def"]


def test_what_is_vendored_is_the_package_as_it_came() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "_vendored.py"))["vendored"](package("prismjs").parent)
    vendor = ROOT / "trio_debugmcp" / "dashboard" / "vendor"
    assert {name: (vendor / name).read_text() for name in made} == made


def test_long_silences_are_drawn_short_and_time_never_runs_backwards(page: "Page") -> None:
    scale = page.evaluate(
        """async () => {
          const {TimeScale} = await import('/view/scale.js');
          const scale = new TimeScale();
          for (const moment of [0, 1, 2, 602, 603]) scale.add(moment);
          const x = [0, 1, 2, 300, 602, 603].map((moment) => scale.x(moment));
          return {x, breaks: scale.breaks, end: scale.end, room: scale.room, empty: new TimeScale().x(5)};
        }"""
    )
    assert scale["x"] == sorted(scale["x"])
    assert scale["x"][0] == 0
    assert scale["x"][-1] == scale["end"]
    assert scale["end"] <= scale["room"] <= 1.1 * scale["end"]
    assert scale["x"][4] - scale["x"][2] < scale["x"][1] - scale["x"][0]  # ten minutes are shorter than that second
    assert [each["seconds"] for each in scale["breaks"]] == [600]
    assert scale["empty"] == 0


def test_the_timeline_stands_still_while_events_come_and_is_the_same_as_one_that_is_drawn_anew(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {Course, Clusters} = await import('/timeline/course.js');
          const types = ['stopped', 'stepped', 'toolCalled', 'output', 'continued'];
          const event = (eventId) => ({
            eventId, type: types[eventId % 5], timestamp: new Date(eventId * 50).toISOString(),
            payload: {tool: 'debug_step', milliseconds: 10, text: ''},
          });
          const [growing, merged] = [new Course(), new Clusters()];
          let [events, anew] = [[], 0];
          for (let number = 1; number <= 4000; number += 1) {
            events = [...events, event(number)].slice(-2000); // as many are kept
            const {version} = growing;
            growing.take(events);
            anew += growing.version - version;
            merged.take(growing, 0.5);
          }
          const fresh = new Course();
          fresh.take(events);
          const idsOf = (all) => all.flatMap(({events}) => events.map(({eventId}) => eventId));
          const keys = (clusters, course) => idsOf(clusters.take(course, 0.5));
          const seen = keys(merged, growing).filter((id) => id >= events[0].eventId).sort((a, b) => a - b);
          return {
            anew, kept: growing.count, fresh: fresh.count, seen: seen.length, first: seen[0],
            all: keys(new Clusters(), fresh).length, bands: growing.bands.paused.length - fresh.bands.paused.length,
          };
        }"""
    )
    assert found["kept"] == found["fresh"] == found["seen"] == found["all"] == 2000
    assert found["first"] == 2001
    assert found["anew"] <= 5, "of 4000 events, 2000 of which fell off the front"
    assert 0 <= found["bands"] <= 100


def test_the_clock_times_of_the_timeline_differ_however_near_they_are(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {ticks} = await import('/timeline/bands.js');
          const every = (milliseconds) => ticks(
            [...Array(40).keys()].map((index) => ({timestamp: new Date(index * milliseconds).toISOString()})),
            (index) => index * 30, 0, 1112, 1112);
          return [100, 7, 2000].map((milliseconds) => every(milliseconds).map(({x, text}) => [x, text]));
        }"""
    )
    for times in found:
        texts = [text for _, text in times]
        assert len(set(texts)) == len(texts) > 5, texts
        assert times[-1][0] <= 1112 - 6 * len(texts[-1]), "its end is cut off"
    assert [all("." in text for _, text in times) for times in found] == [True, True, False]


def test_many_notifications_during_a_read_cause_one_more_read(page: "Page") -> None:
    reads = page.evaluate(
        """async () => {
          const {coalesced} = await import('/connection/mirror.js');
          let reads = 0;
          let release = [];
          const read = coalesced(() => { reads += 1; return new Promise((resolve) => release.push(resolve)); });
          const done = read();
          for (let count = 0; count < 50; count += 1) read();
          release.shift()();
          await new Promise(requestAnimationFrame);
          release.shift()();
          await done;
          const after = reads;
          read();
          return [after, reads];
        }"""
    )
    assert reads == [2, 3]


def test_a_read_that_had_no_answer_is_said_as_any_refusal_and_does_not_end_those_that_follow(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {coalesced} = await import('/connection/mirror.js');
          const {isAnswer, McpClient} = await import('/connection/mcp.js');
          const silent = Object.assign(new EventTarget(), {readyState: WebSocket.OPEN, send() {}});
          const client = new McpClient(silent, {});
          let reads = 0;
          const read = coalesced(() => { reads += 1; return client.request('resources/read', {}, 0.001); });
          const errors = [];
          for (let time = 0; time < 2; time += 1) await read().catch((error) => errors.push(error));
          return [reads, errors.map(isAnswer), errors.map(({message}) => message)];
        }"""
    )
    assert found == [2, [True, True], ["The server did not answer resources/read within 0.001 s."] * 2]


def test_what_is_known_of_a_piece_of_output_stays_when_the_resource_has_its_end_only(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {earlierIn, joined} = await import('/output/console.js');
          const entry = (seq, text, time = 't') => ({seq, stream: 'stdout', text, time});
          const output = (...entries) => ({entries, nextSeq: entries.at(-1).seq + 1, dropped: 4});
          const texts = ({entries}) => entries.map(({text}) => text).join('|');
          const known = joined({entries: [], nextSeq: 0, dropped: 0}, output(entry(5, 'five'), entry(6, 'six')));
          const [cut, whole] = [output(entry(6, '…x'), entry(7, 'seven')), output(entry(6, 'six'), entry(7, 'seven'))];
          const alone = output(entry(5, '…e'));
          return {
            joined: [cut, whole].map((payload) => texts(joined(known, payload))),
            grown: texts(joined(cut, whole)),
            other: texts(joined(known, output(entry(6, '…b', 'later'), entry(7, 'c', 'later')))),
            earlier: [known, cut, alone, {...alone, whole: true}].map(earlierIn),
          };
        }"""
    )
    assert found == {
        "joined": ["five|six|seven", "five|six|seven"],
        "grown": "six|seven",
        "other": "five|…b|c",
        "earlier": [0, 2, 1, 0],
    }


def test_a_value_can_be_copied_when_all_of_it_is_there(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {showValue} = await import('/values/value_view.js');
          const {Store} = await import('/store.js');
          const store = new Store({role: 'observer', stack: null, frames: {list: []}});
          const seen = [];
          const look = () => {
            const button = document.querySelector('dialog[open] .under button');
            seen.push([button.textContent, button.disabled]);
          };
          const settled = async (end) => {
            let arrive;
            const load = () => new Promise((resolve, reject) => { arrive = {resolve, reject}; });
            showValue({title: 'x', shown: 'cut… (+9 characters)', load}, store, {});
            look();
            end(arrive);
            await new Promise((resolve) => setTimeout(resolve));
            look();
            document.querySelector('dialog[open]').close();
          };
          await settled(({resolve}) => resolve({value: 'whole', type: null}));
          await settled(({resolve}) => resolve({value: 'some… (+9 characters)', type: null}));
          await settled(({reject}) => reject(new Error('gone')));
          showValue({title: 'x', shown: 'known'}, store, {});
          look();
          return seen;
        }"""
    )
    waiting, part = ["Copy", True], ["Copy this part", False]
    assert found == [waiting, ["Copy", False], waiting, part, waiting, part, ["Copy", False]]


def test_what_is_typed_just_when_the_value_arrives_takes_its_place(still_page: "Page") -> None:
    still_page.evaluate(
        """async () => {
          const {showValue} = await import('/values/value_view.js');
          const {Store} = await import('/store.js');
          const program = {stack: {stale: false}, frames: {list: []}, session: null, events: []};
          const store = new Store({role: 'control', ...program});
          const load = () => new Promise((resolve) => { window.arrive = resolve; });
          showValue({title: 'x', path: 'x', load}, store, {});
        }"""
    )
    field = still_page.get_by_label("New value")
    field.focus()
    still_page.evaluate("() => window.arrive({value: '[1, 2]', type: 'list'})")
    assert field.input_value() == "[1, 2]"
    still_page.keyboard.insert_text("[]")
    assert field.input_value() == "[]"


def test_the_place_of_an_evaluation_is_where_the_program_is_also_while_the_past_is_shown(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {createEvaluate} = await import('/values/evaluate.js');
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const store = new Store({...initialState(), active: true, past: {stop: 1}});
          createEvaluate(store, {});
          const said = () => document.getElementById('evaluate-note').textContent;
          const before = said();
          store.update({session: {state: 'Paused', currentLocation: {functionName: 'total'}}});
          await new Promise(requestAnimationFrame);
          return [before, said()];
        }"""
    )
    assert found == ["in the main module", "in total, where the program is"]


def test_the_pages_of_a_resource_are_read_as_one_and_again_if_it_changes_meanwhile(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {readWhole} = await import('/connection/pages.js');
          let revision = 1;
          const reads = [];
          const readText = async (uri) => {
            reads.push(uri);
            if (reads.length === 2) revision = 2;
            const pages = {
              a: {threads: [1], tasks: [], threadsLeftOut: 2, tasksLeftOut: 1, next: 'b'},
              b: {threads: [2, 3], tasks: [], tasksLeftOut: 1, next: 'c'},
              c: {threads: [], tasks: [4]},
            };
            return JSON.stringify({...pages[uri], revision});
          };
          return [await readWhole(readText, 'a'), reads];
        }"""
    )
    assert found == [{"threads": [1, 2, 3], "tasks": [4], "revision": 2}, [*"ab", *"abc"]]


def test_answers_of_tools_are_shown_in_the_words_of_the_page(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const answers = await import('/answers.js');
          const ended = {
            state: 'Disconnected', reason: 'Exited', exitCode: null, endReason: null, exception: null, location: null,
            frames: [],
          };
          const shop = {file: '/src/shop.py', line: 2, functionName: 'pay'};
          return {
            page: answers.variablesOf({variables: [{name: 'n'}], total: 3}).total,
            values: [
              {value: '1', type: 'int', showsType: true, printed: ''},
              {value: "'ben'", type: 'Name', showsType: false, printed: 'x'},
              {value: null, type: null, showsType: true, printed: ''},
            ].map(answers.evaluated),
            ends: [
              answers.endOf({...ended, reason: null}),
              answers.endOf({...ended, state: 'Running'}),
              answers.endOf({...ended, exitCode: 3}),
              answers.endOf({...ended, endReason: 'disconnected'}),
              answers.endOf({...ended, endReason: 'cut off'}),
              answers.endOf({...ended, exception: {type: 'KeyError', message: '3'}, location: shop, frames: [shop]}),
              answers.endOf({...ended, exception: {type: 'E', message: null}, location: {...shop, functionName: ''}}),
            ],
          };
        }"""
    )
    assert found["page"] == 3
    assert found["values"] == [
        {"value": "1", "type": None, "printed": "", "executed": False},
        {"value": "'ben'", "type": "Name", "printed": "x", "executed": False},
        {"type": None, "printed": "", "executed": True, "value": None},
    ]
    none, running, exited, by_client, cut, raised, bare = found["ends"]
    assert (none, running) == (None, None)
    assert (exited["exitCode"], exited["reason"], exited["exception"], exited["at"]) == (
        3, "the program ended", None, None,
    )  # fmt: skip
    assert (by_client["reason"], cut["reason"]) == ("a client has ended the session", "cut off")
    assert (raised["exception"], raised["at"], len(raised["frames"])) == ("KeyError: 3", "shop.py:2 in pay", 1)
    assert (bare["exception"], bare["at"]) == ("E", "shop.py:2")


ANSI = {
    "plain": ("a\tb", [["a\tb"]]),
    "bold": ("\x1b[1;31mred\x1b[0m x", [["red", "#cc0000", "bold"], [" x"]]),
    "cube": ("\x1b[38;5;208mo\x1b[48;5;244mg", [["o", "#ff8700"], ["g", "#ff8700", "#808080"]]),
    "true": ("\x1b[38;2;1;2;3mt\x1b[38:2::9:8:7mu", [["t", "#010203"], ["u", "#090807"]]),
    "bright": ("\x1b[97;104mw", [["w", "#ffffff", "#5b8cff"]]),
    "too short": ("\x1b[38;5m;q", [[";q"]]),
    "wrong": ("\x1b[38;5;999mn\x1b[?1;31mp", [["np"]]),
    "curly": ("\x1b[4:3mcurl\x1b[4:0mno", [["curl", "underline"], ["no"]]),
    "off": ("\x1b[1;3;7;9ma\x1b[22;23;27;29mb", [["a", "bold", "italic", "strike", "inverse"], ["b"]]),
    "bar": ("10%\r20%\r100% done", [["100% done"]]),
    "erased": ("a long line\rshort\x1b[K", [["short"]]),
    "back": ("a\bb", [["b"]]),
    "left": ("abc\x1b[2Dx", [["axc"]]),
    "column": ("abc\x1b[1Gx", [["xbc"]]),
    "right": ("\x1b[2Cz", [["  z"]]),
    "erased start": ("abc\b\x1b[1Kz", [["  z"]]),
    "erased all": ("abc\x1b[2Kz", [["   z"]]),
    "link": ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\!", [["link!"]]),
    "title": ("\x1b]0;t\x1b\\y\x1b(Bz", [["yz"]]),
    "others": ("\x1b[2J\x1b[?25lx\x1b[", [["x"]]),
    "markup": ("<b>\x1b[32m&amp;</b>", [["<b>"], ["&amp;</b>", "#2f9e1d"]]),
}
"""Lines of output, and what is shown of them: the text with its styles."""


def test_colours_of_a_terminal_become_styles_and_a_progress_bar_its_last_state(page: "Page") -> None:
    found = page.evaluate(
        """async (texts) => {
          const {ansiLine} = await import('/output/ansi.js');
          const words = (style) => Object.entries(style).filter(([, value]) => value)
            .map(([key, value]) => value === true ? key : value);
          const shown = (text) => ansiLine(text).pieces.map(({text, style}) => [text, ...words(style)]);
          const carried = ansiLine('\\x1b[35mpurple').style;
          return {
            far: ansiLine('\\x1b[999999Cz').pieces.map(({text}) => text).join('').length,
            next: ansiLine('on', carried).pieces[0].style.fg,
            shown: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, shown(text)])),
          };
        }""",
        {name: text for name, (text, _) in ANSI.items()},
    )
    assert found["shown"] == {name: pieces for name, (_, pieces) in ANSI.items()}
    assert (found["far"], found["next"]) == (10_001, "#a626a4")


def test_a_gap_in_the_events_is_loaded_newest_first_until_it_is_closed(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {EventLog} = await import('/connection/eventlog.js');
          const event = (eventId) => ({eventId, timestamp: new Date(eventId).toISOString(), type: 'x', payload: {}});
          const range = (from, to) => Array.from({length: to - from}, (_, index) => event(from + index));
          const asked = [];
          let state = null;
          const ring = {first: 101, last: 2000};  // the server has forgotten the first hundred
          const query = async ({after_event_id: after, count}) => {
            asked.push([after, count]);
            const from = Math.max(after + 1, ring.first);
            const to = Math.min(from + Math.min(count, 200), ring.last + 1);  // it answers with what fits
            return {events: range(from, to), nextEventId: to - 1, total: ring.last - from + 1};
          };
          const log = new EventLog(query, (found) => (state = found));
          await log.resource({events: range(1751, 2001), totalEvents: 2000, eventsDropped: 100});
          const whole = {ids: state.events.map(({eventId}) => eventId), gaps: state.gaps, forgotten: state.forgotten};
          const questions = asked.length;
          const same = state.events[0];
          ring.last = 2600;
          await log.resource({events: range(2351, 2601), totalEvents: 2600, eventsDropped: 100});
          const later = state.events.map(({eventId}) => eventId);
          ring.last = 3100;
          await log.loadNew();
          return {
            whole, asked: asked.slice(0, 2), questions, later, last: state.events.at(-1).eventId,
            same: state.events[0] === same, rising: asked.length,
          };
        }"""
    )
    assert found["whole"] == {"ids": list(range(101, 2001)), "gaps": [], "forgotten": 100}
    assert found["asked"][0] == [1250, 500]  # the newest part of what is missing
    assert found["questions"] < 20
    assert found["later"] == list(range(101, 2601))
    assert found["last"] == 3100
    assert found["same"]


def test_values_of_events_and_calls_are_words(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {factsOf, nameOf, readable} = await import('/view/readable.js');
          const {stopNow} = await import('/past/moment.js');
          const place = {file: '/src/shop.py', line: 31, column: 1, functionName: 'total', moduleName: 'shop'};
          const stopped = (stop, location) => ({type: 'stopped', payload: {sessionId: 's-1', stop, location}});
          const session = {state: 'Paused', sessionId: 's-1', currentLocation: place};
          const events = [stopped(3, {...place, line: 30}), stopped(4, place)];
          return {
            values: [
              place, [place, {...place, functionName: null}], true, false, 3, ['a', 'b'], {hitCount: 2, place: null},
              '[{"file":"shop.py","line":14},{"line":3}]', '{"a": {"b": {"c": {"d": 1}}}}', '[1, 2]', "{'a': 1}",
              '[{"file":"cut… (+12 characters)', 'plain', {moduleName: 'shop', line: 3},
            ].map((each) => readable(each)),
            names: ['hitCount', 'stop_at_entry', 'sessionId', 'threadStarted'].map(nameOf),
            event: factsOf({payload: {
              call: 7, file: '/a/b.py', line: 3, condition: null, breakpointIds: [], enabled: false, milliseconds: 1500,
              location: place, arguments: {program: 'b.py', env: ''},
            }}),
            stops: [
              {active: true, session, events},
              {active: true, session, events: events.slice(0, 1)},
              {active: true, session: {...session, state: 'Running'}, events},
              {active: false, session: null, events},
              {active: true, session: {...session, sessionId: 's-2'}, events},
              {active: true, session, events: [], stack: {stale: false, stop: 6}},
              {active: true, session, events: [], stack: {stale: true, stop: 6}},
            ].map(stopNow),
          };
        }"""
    )
    assert found["values"] == [
        "shop.py:31 in total",
        "shop.py:31 in total, shop.py:31",
        "yes",
        "no",
        "3",
        "a, b",
        "hit count 2",
        "shop.py:14, line 3",
        "a b c 1 more",
        "[1, 2]",
        "{'a': 1}",
        '[{"file":"cut… (+12 characters)',
        "plain",
        "module name shop, line 3",
    ]
    assert found["names"] == ["hit count", "stop at entry", "session", "thread started"]
    assert found["event"] == [
        {"name": "place", "value": "b.py:3", "title": "/a/b.py"},
        {"name": "enabled", "value": "no", "title": None},
        {"name": "took", "value": "1.5 s", "title": None},
        {"name": "place", "value": "shop.py:31 in total", "title": "/src/shop.py"},
        {"name": "program", "value": "b.py"},
    ]
    assert found["stops"] == [4, 0, 0, 0, 0, 6, 0], "a number that the page does not have yet is not guessed"


def test_a_call_stands_at_the_stop_of_the_process_that_it_was_about(page: "Page") -> None:
    told = page.evaluate(
        """async () => {
          const {storyOf} = await import('/story/story.js');
          let number = 0;
          const event = (type, payload) => {
            number += 1;
            return {eventId: number, timestamp: new Date(1e12 + 1000 * number).toISOString(), type, payload};
          };
          const call = (call, tool, sessionId) => ({call, tool, client: 'agent', arguments: {}, sessionId});
          const began = (...about) => event('toolStarted', call(...about));
          const ended = (...about) => event('toolCalled', {...call(...about), milliseconds: 1, result: ''});
          const started = (sessionId, parentSessionId = null) =>
            event('sessionStarted', {sessionId, parentSessionId, processName: sessionId});
          const over = (sessionId) => event('sessionEnded', {sessionId, exitCode: 0});
          const stop = (sessionId, number, reason = 'Breakpoint') =>
            event('stopped', {sessionId, stop: number, reason, location: {file: '/a.py', line: number}});
          const story = storyOf([
            started('s-1'), started('s-2', 's-1'), stop('s-1', 1, 'Exception'), stop('s-2', 2),
            began(1, 'exception_get_context', 's-1'), ended(1, 'exception_get_context', 's-1'),
            began(2, 'variables_get', 's-2'), stop('s-1', 3), ended(2, 'variables_get', 's-2'),
            began(3, 'debug_wait', 's-1'), stop('s-1', 4), ended(3, 'debug_wait', 's-2'),
            over('s-2'), over('s-1'),
            // One program in the place of another: the call begins before the end of the one before.
            started('s-3'), began(4, 'debug_launch'), over('s-3'),
            started('s-4'), ended(4, 'debug_launch'),
            began(5, 'debug_launch', 's-4'), started('s-5'), ended(5, 'debug_launch', 's-5'),
          ]);
          const told = story.filter(({entries}) => entries.length > 0);
          return told.map(({title, entries}) => [title, entries.map(({title}) => title)]);
        }"""
    )
    assert told == [
        ["Stopped at an exception, a.py:1 · stop 1", ["exception_get_context"]],
        ["Stopped at a breakpoint, a.py:2 · stop 2", ["variables_get", "debug_wait"]],
        ["Session started: s-4", ["debug_launch"]],
        ["Session started: s-5", ["debug_launch"]],
    ]


def test_a_stop_says_what_changed_and_many_alike_are_one_row(page: "Page") -> None:
    what, parts = page.evaluate(
        """async () => {
          const {storyOf} = await import('/story/story.js');
          const {folded, runInWords} = await import('/story/folding.js');
          let number = 0;
          const event = (type, payload) => {
            number += 1;
            return {eventId: number, timestamp: new Date(1e12 + 1000 * number).toISOString(), type, payload};
          };
          const step = (tool, result, error = null) =>
            event('toolCalled', {call: number, tool, client: 'agent', arguments: {}, milliseconds: 500, result, error});
          const stop = (line) => event('stopped', {sessionId: 's-1', location: {file: '/a/small.py', line}});
          const at = (line, values) => `Paused Step small.py:${line} in total · ${values}`;
          const story = storyOf([
            stop(1), step('debug_launch', 'Paused Entry small.py:1 in <module>'),
            ...[0, 1, 2, 3, 4, 5].flatMap((n) =>
              [stop(6 + n), step('debug_step', at(7 + n, `self = A(), x = ${7 - n}, y = [1, 2] and 1 more`))]),
            stop(9), step('debug_step', '', 'NOT_PAUSED'),
            stop(9), step('evaluate', 'a, b = 3'),
            stop(9), step('debug_step', 'Paused Exception ValueError: x in y, small.py:3 in total · x = 1'),
            stop(9), step('debug_step', at(10, 'odd text · pid 3')),
          ]);
          const entries = story.flatMap(({entries}) => entries);
          const what = entries.map(({what, where}) => [what ?? null, where ?? null]);
          const parts = [...folded(story)].reverse().filter((part) => 'chapters' in part).map((run) => runInWords(run));
          return [what, parts];
        }"""
    )
    assert what[0] == ["", "Entry small.py:1 in <module>"]
    assert what[1] == ["x = 7, y = [1, 2]", "Step small.py:7 in total"]
    assert what[2] == ["x 7 → 6", "Step small.py:8 in total"]
    assert what[7:10] == [[None, None]] * 3
    assert what[10] == ["", "Step small.py:10 in total"]
    assert parts == [{"title": "debug_step × 6", "words": "small.py:6–11", "took": "3.0 s", "result": "x 7 → 2"}]  # noqa: RUF001


def test_the_story_groups_calls_by_stop_and_is_copied_as_markdown(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {storyOf, inFlightOf, matches} = await import('/story/story.js');
          const {asMarkdown, code} = await import('/story/markdown.js');
          const {stepOf} = await import('/view/roving.js');
          const {ServerClock} = await import('/connection/server_clock.js');
          const clock = new ServerClock();
          const ages = [
            [[{eventId: 1, timestamp: new Date(5000).toISOString()}], 60_000],
            [[{eventId: 2, timestamp: new Date(70_000).toISOString()}], 100_000],
            [[{eventId: 3, timestamp: new Date(80_000).toISOString()}], 110_500],
            [[{eventId: 3, timestamp: new Date(80_000).toISOString()}], 90_000],
            [[], 0],
          ].map(([events, now]) => { clock.look(events, now); return clock.seconds(200_000); });
          let number = 0;
          const at = (seconds) => new Date(1e12 + 1000 * seconds).toISOString();
          const event = (type, payload, seconds = number) =>
            ({eventId: ++number, timestamp: at(seconds), type, threadId: null, payload});
          const call = (call, tool, client, args = {}) => ({call, tool, client, arguments: args});
          const place = {file: '/src/shop.py', line: 31, functionName: 'total'};
          const launch = call(1, 'debug_launch', 'agent');
          const go = call(3, 'debug_continue', 'agent', {timeout: 60});
          const read = call(9, 'source_get', 'agent', {file: 'shop.py', line: 2});
          const story = storyOf([
            event('toolStarted', launch),
            event('sessionStarted', {sessionId: 's-1', processName: 'shop.py'}),
            event('toolStarted', launch),
            event('stopped', {reason: 'Step', location: {file: '/src/shop.py', line: 1}}),
            event('toolCalled', {...launch, milliseconds: 400, result: 'Paused Entry shop.py:1'}),
            event('toolCalled', {...call(2, 'evaluate', 'dashboard'), milliseconds: 1}),
            event('toolStarted', go),
            event('sessionStarted', {sessionId: 's-2', parentSessionId: 's-1'}),
            event('stopped', {reason: 'Breakpoint', location: place}),
            event('toolCalled', {...go, milliseconds: 2000, result: 'x'}),
            event('toolCalled', {...read, milliseconds: 5000}, 20),
            event('toolCalled', {
              ...call(4, 'breakpoint_set', 'dashboard', {file: '/a'}), milliseconds: 1, error: 'E', result: 'no',
            }),
            event('sessionEnded', {sessionId: 's-2', exitCode: 0}),
            event('sessionEnded', {sessionId: 's-1', exitCode: 1}),
            event('toolStarted', call(5, 'debug_wait', null)),
          ]);
          const told = {...call(8, 'agent_message', 'Neovim'), person: true};
          const [editor] = storyOf([event('toolStarted', told)])[0].entries;
          // The server forgets its events when a session begins, also the ends of calls that the page has not read.
          const [over, on] = [call(6, 'debug_disconnect', 'agent'), call(7, 'debug_wait', 'agent')];
          const begun = [event('toolStarted', over), event('toolStarted', on)];
          number += 1;
          const news = [event('sessionStarted', {sessionId: 's-3'}), event('toolStarted', on)];
          const forgotten = storyOf([...begun, ...news]);
          const loading = storyOf([...begun, ...news], [{after: begun[1].eventId, before: news[0].eventId}]);
          const lost = [forgotten, loading].map((each) => inFlightOf(each).map(({title}) => title));
          const lostWords = asMarkdown(forgotten);
          const entries = story.flatMap(({entries}) => entries);
          return {
            told: story.map(({title, entries}) => [title, entries.map(({title}) => title)]),
            flying: inFlightOf(story).map(({title, who}) => [title, who]),
            places: entries.map(({place}) => place && [place.file, place.line]),
            spans: entries.map(({began, seconds}) => [Math.round(1000 * (began - 1e9)) / 1000, seconds]),
            failed: entries.filter(({failed}) => failed).map(({result, person}) => [result, person]),
            wanted: ['agent', 'person', 'FAILED no', 'timeout: 60', 'agent timeout', 'x y']
              .map((words) => entries.filter((entry) => matches(entry, words)).length),
            kinds: ['agent', 'person', 'agent_', 'person neovim'].map((words) => matches(editor, words)),
            markdown: asMarkdown(story).replaceAll(/\\(\\d+:\\d+:\\d+\\)/g, '(time)'),
            codes: ['plain', 'a`b', '``', 'two\\nlines'].map(code),
            steps: [['End', 3], ['Home', 3], ['PageDown', 3], ['PageUp', 30], ['ArrowDown', 99], ['ArrowUp', 0]]
              .map(([key, index]) => stepOf(key, index, 99)),
            ages, lost, lostWords,
            sideways: ['ArrowRight', 'ArrowLeft', 'ArrowDown'].map((key) => stepOf(key, 3, 9, {horizontal: true})),
          };
        }"""
    )
    assert found["told"] == [
        ["", []],
        ["Session started: shop.py", ["debug_launch"]],
        ["Stopped after a step, shop.py:1", ["debug_continue"]],
        ["Stopped at a breakpoint, shop.py:31", ["source_get", "breakpoint_set"]],
        ["Program ended with exit code 1", ["debug_wait"]],
    ]
    assert found["flying"] == [["debug_wait", "someone"]]
    shop = "/src/shop.py"
    assert found["places"] == [[shop, 1], [shop, 31], [shop, 2], ["/a", None], None]
    assert found["spans"] == [[0, 0.4], [6, 2], [15, 5], [10.999, 0.001], [14, None]]
    assert found["failed"] == [["E: no", True]]
    assert found["wanted"] == [4, 1, 1, 1, 1, 0]
    assert found["kinds"] == [False, True, True, True], "an editor's calls are a person's, whatever they are called"
    assert found["markdown"] == (
        "### Session started: shop.py (time)\n\n"
        "- `debug_launch()` by agent, 400 ms\n"
        "  → `Paused Entry shop.py:1`\n\n"
        "### Stopped after a step, shop.py:1 (time)\n\n"
        "- `debug_continue(timeout=60)` by agent, 2.0 s\n"
        "  → `x`\n\n"
        "### Stopped at a breakpoint, shop.py:31 (time)\n\n"
        "- `source_get(file=shop.py, line=2)` by agent, 5.0 s\n"
        "- `breakpoint_set(file=/a)` by dashboard, 1 ms\n"
        "  failed `E: no`\n\n"
        "### Program ended with exit code 1 (time)\n\n"
        "- `debug_wait()` by someone, not over yet\n"
    )
    assert found["codes"] == ["`plain`", "``a`b``", "``` `` ```", "`two lines`"]
    assert found["steps"] == [99, 0, 13, 20, 99, 0]
    assert found["ages"] == [200, 170, 170, 170, 200]
    assert found["sideways"] == [4, 2, None]
    assert found["lost"] == [["debug_wait"], ["debug_wait", "debug_disconnect"]]
    assert found["lostWords"].startswith("- `debug_disconnect()` by agent, its end is not kept")


def test_a_call_is_put_into_words_once_however_often_the_story_is_retold(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {storyOf} = await import('/story/story.js');
          let reads = 0;
          const read = {enumerable: true, get: () => { reads += 1; return 'sum(prices)'; }};
          const of = (type, eventId) => ({
            eventId, type, timestamp: new Date(1000 * eventId).toISOString(), threadId: null,
            payload: {
              call: 1, tool: 'evaluate', client: 'agent', arguments: Object.defineProperty({}, 'expression', read),
            },
          });
          const events = [of('toolStarted', 1), of('toolCalled', 2)];
          const tellings = [1, 2, 3].map(() => storyOf(events)[0].entries.map(({words, facts}) => [words, facts]));
          const once = reads;
          storyOf(events);
          return {tellings, again: reads - once, once};
        }"""
    )
    assert found["tellings"] == [[["expression: sum(prices)", [["expression", "sum(prices)"]]]]] * 3
    assert (found["once"], found["again"]) == (1, 0)


def test_what_is_typed_to_go_somewhere_and_to_connect_is_understood(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {matching, parsed} = await import('/source/goto.js');
          const {tokenIn} = await import('/connection/token.js');
          const {isCut, isPath} = await import('/program/frame.js');
          const {numbersOf} = await import('/past/curve.js');
          const {sourceProblem} = await import('/view/words.js');
          const files = ['/a/shop/x.py', '/a/lib/shop.py', '/b/Shop_test.py', '/b/other.py'];
          return {
            typed: ['shop', 'shop:12', ':12', 'shop:', 'C:\\\\a.py:3', ''].map((text) => Object.values(parsed(text))),
            files: [matching(files, 'shop'), matching(files, 'b shop'), matching(files, ''), matching(files, 'none')],
            tokens: ['abc', ' http://h:1/#token=a-b ', 'http://h/#other=1'].map(tokenIn),
            paths: ['a', 'a.b[0]', "a['k'].c", 'größe', 'a + 1', 'f(x)', '1a', 'a.', ''].filter(isPath),
            cut: ['abc… (+12 characters)', '[1, … (+3 items)]', '[1, {1 item}]', 'abc… (+x)'].map(isCut),
            large: [numbersOf(['12345678901234567894', '12345678901234567891']), numbersOf(['1.5', '-2'])],
            problems: [
              sourceProblem("File path '/a.py' is not referenced in any loaded debug symbols"),
              sourceProblem("Source file '/a.py' referenced in debug symbols but not found on disk"),
              sourceProblem('else'),
              sourceProblem('No active debug session: start one'),
            ],
          };
        }"""
    )
    exact, others = found["large"]
    assert (exact["lowest"], exact["highest"]) == ("12345678901234567891", "12345678901234567894")
    assert (exact["numbers"], others["numbers"]) == ([3, 0], [1.5, -2])
    assert (others["lowest"], others["highest"]) == ("-2", "1.5")
    assert found["typed"] == [["shop", None], ["shop", 12], ["", 12], ["shop", None], ["C:\\a.py", 3], ["", None]]
    in_name = ["/a/lib/shop.py", "/b/Shop_test.py"]
    assert found["files"][0] == [*in_name, "/a/shop/x.py"], "files of that name before those in a directory of it"
    assert [sorted(each) for each in found["files"][1:]] == [
        ["/a/lib/shop.py", "/b/Shop_test.py"],
        ["/a/lib/shop.py", "/a/shop/x.py", "/b/Shop_test.py", "/b/other.py"],
        [],
    ]
    assert found["tokens"] == ["abc", "a-b", ""]
    assert found["paths"] == ["a", "a.b[0]", "a['k'].c", "größe"]
    assert found["cut"] == [True, True, True, False]
    assert "of an earlier session" in found["problems"][0]
    assert found["problems"][1:] == ["This file is not there any more.", "else", found["problems"][0]]


def test_what_a_process_has_used_since_the_last_look_is_its_part_of_a_processor(page: "Page") -> None:
    shares, words = page.evaluate(
        """async () => {
          const {shareInWords, sharesOf} = await import('/program/processor.js');
          const reading = (at, seconds) => ({at, processes: Object.entries(seconds).map(
            ([sessionId, used]) => ({sessionId, seconds: used}))});
          const first = reading(10, {busy: 5, still: 1, again: 9, elsewhere: null});
          const shares = sharesOf(first, reading(12, {busy: 8, still: 1.01, again: 0.5, elsewhere: null, late: 3}));
          const processes = [['busy', 'Running'], ['busy', 'Paused'], ['late', 'Running']];
          return [
            [sharesOf(null, first), shares, sharesOf(first, first)],
            processes.map(([sessionId, state]) => shareInWords(shares, {sessionId, state})),
          ];
        }"""
    )
    assert shares == [{}, {"busy": 150, "still": 1}, {}]
    assert words == ["150 % CPU", "", ""]


def test_of_steps_that_follow_each_other_quickly_the_last_is_spoken(still_page: "Page") -> None:
    spoken = still_page.evaluate(
        """async () => {
          const {Store} = await import('/store.js');
          const {createStatus} = await import('/program/status.js');
          const start = {session: null, active: false, last: null, processor: {}, events: [], watches: []};
          const store = new Store({...start, link: {status: 'open'}});
          const paused = (line, exception = null) => ({
            state: 'Paused', pauseReason: 'Step', exception, currentLocation: {file: '/a.py', line},
            commandLineArgs: [], language: 'Python',
          });
          const announcer = document.getElementById('announcer');
          const waiting = new Map(); // instead of time, which does not pass here: what would be said, and when
          let number = 0;
          window.setTimeout = (say, milliseconds) => waiting.set((number += 1), {say, milliseconds}) && number;
          window.clearTimeout = (each) => waiting.delete(each);
          createStatus(store, {});
          const shown = (parts) => {
            store.update(parts);
            return Promise.resolve(); // the views are drawn before it
          };
          const spoken = () => [...waiting.values()].map(({say, milliseconds}) => {
            say();
            return [announcer.textContent, milliseconds];
          });
          for (const line of [1, 2, 3, 4]) await shown({active: true, session: paused(line)});
          const steps = spoken();
          waiting.clear();
          await shown({session: paused(9, {type: 'KeyError', message: '3'})});
          const exception = spoken();
          const handled = {};
          for (const [name, by] of Object.entries({
            here: {function: 'load', file: '/shop.py', line: 12, isUserCode: true, inCCode: false},
            library: {function: 'get', file: '/lib.py', line: 2, isUserCode: false, inCCode: false},
            native: {function: 'getattr', file: '', line: null, isUserCode: false, inCCode: true},
          })) {
            const session = paused(9, {type: 'E', message: '', caughtBy: by});
            await shown({session: {...session, handling: 'KeyError: <b>\\n'}});
            handled[name] = document.getElementById('where').textContent;
          }
          return {steps, exception, handled};
        }"""
    )
    ((step, quiet),), ((exception, at_once),) = spoken["steps"], spoken["exception"]
    assert ("a.py:4" in step, quiet > 500) == (True, True)
    assert ("a.py:9" in exception, at_once) == (True, 0), "an exception is spoken at once"
    assert spoken["handled"] == {
        "here": "a.py:9 · caught by load shop.py:12 · while KeyError: <b>⏎ is handled",
        "library": "a.py:9 · caught by get lib.py:2 (library) · while KeyError: <b>⏎ is handled",
        "native": "a.py:9 · caught by getattr · while KeyError: <b>⏎ is handled",
    }


def test_values_stand_at_the_lines_of_the_function_that_have_run(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {functionStart, lineValues} = await import('/source/line_values.js');
          const {pathAt} = await import('/source/hover.js');
          const lines = (text) => text.split('\\n').map((line) => ({text: line}));
          const body = '    if a:\\n\\n        b = a\\n    # c\\n    b += x\\n    return b\\n';
          const python = lines(`x = 1\\ndef f(a):\\n${body}f(2)`);
          const c = lines('int main(int a)\\n{\\n\\tif (a)\\n\\t{\\n\\t\\tb = a;\\n\\t}\\n}');
          const at = (line, rest = {}) => ({
            active: true, session: {currentLocation: {file: '/a.py', line}}, stack: {stale: false},
            frames: {index: 0, list: [{location: {file: '/a.py', line}}],
              locals: [{name: 'a', value: '7'}, {name: 'b', value: '"'.padEnd(90, 'y')}]},
            ...rest,
          });
          const values = (line, rest) => [...lineValues(python, '/a.py', at(line, rest))];
          const exception = {currentLocation: {file: '/a.py', line: 5}, exception: {type: 'E', message: 'm'}};
          return {
            starts: [functionStart(python, 5), functionStart(python, 7), functionStart(python, 9), functionStart(c, 5)],
            values: values(7).map(([line, words]) => [line, words.map((each) => each.slice(0, 6)).join()]),
            longest: Math.max(...values(7).flatMap(([, words]) => words.map((each) => each.length))),
            none: [
              values(5, {stack: {stale: true}}), values(5, {active: false}), [...lineValues(python, '/b.py', at(5))],
            ],
            exception: values(5, {session: exception}).at(0),
            paths: [0, 3, 5, 9, 12, 14, 17].map((offset) => pathAt('ab.cd.ef + ghi(1.5)', offset)),
          };
        }"""
    )
    assert found["starts"] == [2, 2, 9, 1]
    assert found["values"] == [[2, "a = 7"], [3, "a = 7"], [5, 'b = "y,a = 7'], [7, 'b = "y']]
    assert found["longest"] < 50
    assert found["none"] == [[], [], []]
    assert found["exception"] == [5, ["E: m"]]
    assert found["paths"] == ["ab", "ab.cd", "ab.cd", None, "ghi", "ghi", None]


def test_an_end_of_the_program_is_confirmed_also_while_it_is_not_known_who_is_there(still_page: "Page") -> None:
    from playwright.sync_api import expect

    page = still_page
    page.evaluate(
        """async () => {
          const {Store} = await import('/store.js');
          const {initialState} = await import('/session.js');
          const {createControls} = await import('/program/controls.js');
          const program = {active: true, session: {state: 'Paused'}, link: {status: 'open'}};
          window.storeOfTest = new Store({...initialState(), ...program, role: 'control'});
          createControls(storeOfTest, {stop() { window.stopped = true; }});
        }"""
    )
    dialog = page.get_by_role("dialog", name="Stop?")
    page.keyboard.press("Shift+F5")
    expect(dialog).to_contain_text("An agent may be at work here.")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.evaluate("storeOfTest.update({people: {...storeOfTest.state.people}})")  # no agent is
    page.get_by_role("button", name="Stop", exact=True).click()
    becomes(lambda: page.evaluate("window.stopped"), True)


def test_a_client_is_known_also_when_its_joining_has_fallen_out_of_the_kept_events(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {Roster} = await import('/people/roster.js');
          const {namesOf, depthOf, aboutShown} = await import('/program/processes.js');
          const roster = new Roster();
          const event = (eventId, type, payload) => ({eventId, type, payload});
          const agent = {name: 'agent', version: '1', role: 'control'};
          const page = {name: 'dashboard', version: '1', role: 'observe'};
          const joined = (eventId, client) => event(eventId, 'clientJoined', client);
          const left = (eventId, client) => event(eventId, 'clientLeft', client);
          const called = (eventId, client) => event(eventId, 'toolCalled', {client});
          const shown = (events) => roster.clients(events).map(({name, role, count}) => [name, role ?? null, count]);
          const session = (sessionId, processName, parentSessionId = null) =>
            ({sessionId, processName, parentSessionId});
          const all = [
            session('s-1', '/src/app.py'), session('s-2', '-c', 's-1'), session('s-3', '-c', 's-1'),
            session('s-4', null, 's-3'), session('s-5', 'app.py'), session('s-6', null),
          ];
          return {
            first: shown([joined(1, agent), joined(2, page), joined(3, page)]),
            fallen: shown([left(4, page), called(5, 'agent'), called(6, 'other')]),
            older: shown([called(7, 'other'), left(8, {name: 'other'}), left(9, page)]),
            again: shown([event(10, 'sessionStarted', {sessionId: 's-9', parentSessionId: 's-1'}),
              event(11, 'sessionStarted', {sessionId: 's-2'}), joined(12, page)]),
            lost: shown([]),
            names: [...namesOf(all).values()],
            depths: all.map((each) => depthOf(each, all)),
            calls: [aboutShown('debug_step', {mode: 'in'}, 's-2'), aboutShown('breakpoint_list', {}, 's-2'),
              aboutShown('evaluate', {session_id: 's-1'}, 's-2'), aboutShown('evaluate', {}, null)],
          };
        }"""
    )
    assert found["first"] == [["agent", "control", 1], ["dashboard", "observe", 2]]
    assert found["fallen"] == [["agent", "control", 1], ["dashboard", "observe", 1], ["other", None, 1]]
    assert found["older"] == [["agent", "control", 1]]
    assert found["again"] == [["agent", "control", 1], ["dashboard", "observe", 1]], "whatever sessions begin"
    assert found["lost"] == []
    assert found["names"] == [
        "app.py",
        "app.py child 1",
        "app.py child 2",
        "app.py child 2 child 1",
        "app.py 2",
        "a process 1",
    ]
    assert found["depths"] == [0, 1, 1, 2, 0, 0]
    assert found["calls"] == [{"mode": "in", "session_id": "s-2"}, {}, {"session_id": "s-1"}, {}]


def test_a_list_at_its_end_stays_there_when_it_is_lowered_before_its_scrolling_is_reported(still_page: "Page") -> None:
    scrolled = still_page.evaluate(
        """async () => {
          const {keepAtEnd} = await import('/view/at_end.js');
          const frame = () => new Promise((done) => requestAnimationFrame(done));
          const view = document.createElement('div');
          view.style.cssText = 'height: 200px; overflow-y: auto';
          view.append(Object.assign(document.createElement('div'), {style: 'height: 1000px'}));
          document.body.append(view);
          keepAtEnd(view);
          await frame();
          await frame();
          const places = [];
          const lowered = async (top, height) => {
            await new Promise((done) => setTimeout(done));  // between two frames: the next one begins with the event
            view.scrollTop = top;
            view.style.height = height;
            await frame();
            await frame();
            places.push(view.scrollTop);
          };
          view.append(Object.assign(document.createElement('div'), {style: 'height: 100px'}));
          await lowered(900, '150px');
          view.scrollTop = 300;  // by the person
          await frame();
          await frame();
          await lowered(300, '100px');
          view.remove();
          return places;
        }"""
    )
    assert scrolled == [950, 300]


def test_colours_continue_from_piece_to_piece_of_a_stream_and_are_legible(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {Painter, withWholeLines} = await import('/output/ansi_nodes.js');
          const painter = new Painter();
          const output = document.getElementById('output');
          const pieces = [
            {stream: 'stdout', text: '\\x1b[31ma\\n'}, {stream: 'stderr', text: 'b\\n'},
            {stream: 'stdout', text: 'c\\n'},
            {stream: 'stdout', text: '\\x1b[0;38;5;226my\\x1b[48;5;21mz'}, {stream: 'stdout', text: '\\r\\x1b[0m50 %'},
            {stream: 'stdout', text: '\\r<b>\\n'}, {stream: 'stdout', text: 'q\\x1b[7mi'},
          ];
          const lines = withWholeLines(pieces);
          const nodes = lines.map(({stream, text}) => {
            const node = document.createElement('span');
            output.append(node);
            painter.paint(node, stream, text);
            return node;
          });
          const grown = () => painter.paint(nodes.at(-1), 'stdout', 'q\\x1b[7mij\\x1b[4mk');
          const colours = (node) => [...node.querySelectorAll('.ansi')].map((each) => getComputedStyle(each).color);
          const before = nodes.map((node) => node.textContent);
          grown();
          return {
            before, lines: lines.length, last: nodes.at(-1).textContent,
            red: colours(nodes[0]), plain: colours(nodes[1]),
            on: colours(nodes[2]), first: nodes.at(-1).firstChild.nodeType,
            inverse: nodes.at(-1).querySelectorAll('[data-inverse]').length,
          };
        }"""
    )
    assert found["before"] == ["a\n", "b\n", "c\n", "<b>%\n", "qi"]
    assert (found["lines"], found["last"], found["inverse"]) == (5, "qijk", 2)
    assert found["red"] == found["on"]
    assert found["first"] == 3, "what has grown begins as it did: plain"
    assert (len(found["red"]), found["plain"]) == (1, [])


def test_any_colour_of_a_program_is_legible_on_light_and_on_dark(still_page: "Page") -> None:
    worst = still_page.evaluate(
        """async () => {
          const {Painter} = await import('/output/ansi_nodes.js');
          const output = document.getElementById('output');
          const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
          const light = (colour) => {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
            const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const contrast = (one, other) => {
            const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
          };
          const worst = {};
          for (const theme of ['light', 'dark']) {
            document.documentElement.dataset.theme = theme;
            const ground = getComputedStyle(output).backgroundColor;
            let least = 99;
            for (let index = 0; index < 256; index += 1) {
              const node = document.createElement('span');
              output.append(node);
              new Painter().paint(node, 'stdout', `\\x1b[38;5;${index}ma\\x1b[48;5;${(index * 37) % 256}mb`);
              const [one, both] = [...node.children].map((each) => getComputedStyle(each));
              least = Math.min(least, contrast(one.color, ground), contrast(both.color, both.backgroundColor));
              node.remove();
            }
            worst[theme] = least;
          }
          return worst;
        }"""
    )
    assert worst["light"] >= 4.5
    assert worst["dark"] >= 4.5


def test_refusals_name_the_buttons_that_do_what_the_tools_do(page: "Page") -> None:
    said = page.evaluate(
        """async () => {
          const {inButtons} = await import('/view/refusals.js');
          try { inButtons(new Error('Use debug_restart, debug_disconnect or my_debug_pause; debug_goto too.')); }
          catch (error) { return error.message; }
        }"""
    )
    assert said == "Use Restart, Stop or my_debug_pause; debug_goto too."
    said = page.evaluate(
        """async () => {
          const {inButtons} = await import('/view/refusals.js');
          try { inButtons(new Error('No active debug session: start one with the tool debug_launch.')); }
          catch (error) { return error.message; }
        }"""
    )
    assert said == "No program is debugged now."


def test_a_message_is_news_from_when_it_was_last_delivered(page: "Page") -> None:
    ages = page.evaluate(
        """async () => {
          const {secondsSince} = await import('/people/people.js');
          const at = (seconds) => new Date(seconds * 1000).toISOString();
          const message = (...delivered) => ({sentAt: at(100), to: delivered.map((deliveredAt) => ({deliveredAt}))});
          return [message(), message(null), message(at(130), null, at(120))].map((each) => secondsSince(each, 200_000));
        }"""
    )
    assert ages == [100, 100, 70]


def test_the_page_says_whose_input_it_was_and_who_ended_the_session(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {inputsOf} = await import('/output/inputs.js');
          const {BY_A_CLIENT, endedBy} = await import('/story/ending.js');
          const {exceptionInShort} = await import('/view/words.js');
          const {wordsOf} = await import('/timeline/events.js');
          const timestamp = new Date(1e12).toISOString();
          const event = (type, payload) => ({type, timestamp, payload});
          const write = (data) => event('toolCalled', {tool: 'process_write_input', arguments: {data}, error: null});
          const start = (sessionId, parentSessionId = null) => event('sessionStarted', {sessionId, parentSessionId});
          const end = (sessionId) => event('sessionEnded', {sessionId});
          const stop = (client, error = null, person = false) =>
            event('toolCalled', {tool: 'debug_disconnect', client, error, person});
          const numbered = (...ids) => (each, index) => ({...each, eventId: ids[index]});
          const texts = (...events) => inputsOf(events).map(({text}) => text);
          return {
            inputs: [
              texts(start('s-1'), write('one'), end('s-1'), start('s-2'), write('two')),
              texts(start('s-1'), write('one'), start('s-2', 's-1'), end('s-2'), start('s-3', 's-1'), write('two')),
              texts(...[start('s-1'), write('one'), start('s-2'), write('two')].map(numbered(1, 2, 4, 5))),
              texts(...[start('s-1'), write('one'), start('s-2'), write('two')].map(numbered(1, 2, 3, 4))),
              texts(...[start('s-1'), write('one'), start('s-2', 's-1'), write('two')].map(numbered(1, 2, 4, 5))),
            ],
            ended: [
              endedBy('the program ended', [stop('mcp')], true),
              endedBy(BY_A_CLIENT, [stop('mcp'), start('s-2')], true),
              endedBy(BY_A_CLIENT, [start('s-2'), stop('mcp'), stop('dashboard', 'HELD')], true),
              endedBy(BY_A_CLIENT, [start('s-2'), stop('dashboard')], true),
              endedBy(BY_A_CLIENT, [start('s-2'), stop('dashboard')], false),
              endedBy(BY_A_CLIENT, [start('s-2'), stop('Neovim', null, true)], true),
            ],
            short: [['KeyError', "'Zed'"], ['ValueError', 'two words'], ['E', null], ['E', 'x'.repeat(41)]]
              .map(([type, message]) => exceptionInShort({type, message})),
            stopped: wordsOf(event('stopped', {reason: 'Breakpoint', location: {file: '/a.py', line: 3}, stop: 7})),
          };
        }"""
    )
    both = ["one", "two"]
    expected = [["two"], both, ["two"], both, both]
    assert found["inputs"] == expected, "of a program that is over nothing is in the next one's output"
    assert found["ended"] == [
        "the program ended",
        "a client has ended the session",
        "mcp ended the session",
        "you ended the session",
        "a person (dashboard) ended the session",
        "a person (Neovim) ended the session",
    ]
    assert found["short"] == ["KeyError: 'Zed'", "ValueError", "E", "E"]
    assert found["stopped"] == "Stopped at a breakpoint, a.py:3 · stop 7"


def test_the_way_through_time_leads_over_the_stops_of_all_processes_and_says_whose_they_are(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {stopAfter, stopBefore} = await import('/past/moment.js');
          const {ownerOf} = await import('/program/processes.js');
          const walk = (kept) => {
            const way = [];
            for (let at = stopBefore(0, kept); at; at = stopBefore(at, kept)) way.push(at);
            const back = [];
            for (let at = stopAfter(way.at(-1), kept); at; at = stopAfter(at, kept)) back.push(at);
            return [way, back];
          };
          const [one, other] = ['s-1', 's-2'].map((sessionId) => ({sessionId, processName: '/src/shop.py', processId: 7,
            parentSessionId: null}));
          const state = {active: true, session: one, sessions: {sessions: [one, other]}};
          const gone = {sessionId: 's-9', processName: '/src/old.py', processId: 91};
          return {
            walks: [
              {first: 1, last: 5, current: 3}, {first: 1, last: 5, current: 5}, {first: 2, last: 4, current: 0},
              {first: 3, last: 4, current: 3}, {first: 1, last: 0, current: 0}, {first: 1, last: 1, current: 1},
            ].map(walk),
            now: stopAfter(0, {last: 5, current: 0}),
            owners: [
              ownerOf(one, state), ownerOf(other, state), ownerOf(gone, state),
              ownerOf(one, {...state, sessions: {sessions: [one]}}),
              ownerOf({...gone, processId: null}, {active: false, session: null, sessions: null}),
              ownerOf({...gone, processName: null}, state),
            ],
          };
        }"""
    )
    assert found["walks"] == [
        [[5, 4, 2, 1], [2, 4, 5]],
        [[4, 3, 2, 1], [2, 3, 4]],
        [[4, 3, 2], [3, 4]],
        [[4], []],
        [[], []],
        [[], []],
    ]
    assert found["now"] == 0
    assert found["owners"] == [
        "shop.py",
        "shop.py 2",
        "old.py (pid 91), which has ended",
        "",
        "old.py, which has ended",
        "s-9 (pid 91), which has ended",
    ]


def test_a_row_that_was_drawn_again_before_it_has_opened_asks_for_nothing(page: "Page") -> None:
    asked = page.evaluate(
        """async () => {
          const {disclosure} = await import('/view/disclosures.js');
          const asked = [];
          const rows = ['gone', 'there'].map((path) =>
            disclosure({path}, [], path, new Set(['gone', 'there']), () => asked.push(path)));
          document.body.append(...rows);
          rows[0].remove();
          await new Promise((done) => rows[1].addEventListener('toggle', done));
          rows[1].remove();
          return asked;
        }"""
    )
    assert asked == ["there"]


def test_what_can_be_put_back_is_a_literal_and_a_character_of_gdb_is_edited_as_its_number(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {editable, isLiteral} = await import('/values/literal.js');
          const yes = [
            '3', '-0.5', '1e-05', '1_000', '0x1F', 'True', 'null', "'it\\\\'s (a) b'", "b'\\\\x00'", '"x y"',
            '[1, 2]', '()', '{}',
            "{'k': [1, (2, None)], 'other': -3}", '(1+2j)', '{1, 2, 3}', "[\'a\', \'b\']", ' 7 ', '3.', '.5',
          ];
          const no = [
            '', ' ', 'inf', 'nan', '<Item object at 0x7f>', 'Item(price=3)', '0x5f "tea"', "124 '|'", '(2) [1, 2]',
            'RED', '-',
            '{a = 1}', 'ƒ f()', '1.5.2', '3 (int)', 'datetime.date(2026, 1, 1)', '[Item(3)]',
            ', :', "'a' 'b'", 'x3', '3x',
          ];
          return {
            yes: yes.filter((each) => !isLiteral(each)),
            no: no.filter(isLiteral),
            edited: [
              ["124 '|'", 'unsigned char'], ["-1 '\\\\377'", 'char'], ["97 u'a'", 'char16_t'], ["124 '|'", 'Sign'],
              ["'|'", 'char'],
              ['124', 'int'], ["124 '|'", null],
            ].map(([value, type]) => editable({value, type})),
          };
        }"""
    )
    assert found["yes"] == []
    assert found["no"] == []
    assert found["edited"] == ["124", "-1", "97", "124 '|'", "'|'", "124", "124 '|'"]


def test_infinities_and_texts_are_counted_beside_the_range_of_the_numbers(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {wordsOf} = await import('/past/values.js');
          const words = (...values) =>
            wordsOf(values.map((value) => ({value})), [], {stops: 9, dropped: 0, leftOut: 0}).split(' · ').slice(2);
          return [
            words('1.5', 'inf', 'nan', '-0.0', '3'), words('2', '1', "'text'"),
            words('2', '10'), words('7', 'nan'), words('nan'),
          ];
        }"""
    )
    assert found == [["numbers from -0.0 to 3; 2 others"], ["numbers from 1 to 2; 1 other"], ["from 2 to 10"], [], []]


def test_values_of_several_variables_are_put_side_by_side_and_large_numbers_stay_exact(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {alignedOf, isLine} = await import('/past/plot_data.js');
          const pointsOf = (values) => Object.entries(values).map(([x, value]) => ({x: Number(x), value}));
          const series = (name, values) => ({name, points: pointsOf(values)});
          const mixed = alignedOf([series('a', {1: '2.5', 3: 'nan', 4: '1_000'}), series('b', {2: '7', 3: '8'})]);
          const large = alignedOf([series('id', {1: '12345678901234567891', 2: '12345678901234567894'})]);
          return {
            mixed: [mixed.xs, mixed.rows, mixed.words, [0, 1e9, 0.5].map(mixed.tick)],
            large: [large.rows, large.tick(3)],
            lines: [{1: '1', 2: '2'}, {1: '1', 2: "'x'"}, {1: '1'}].map((points) => isLine(series('a', points))),
          };
        }"""
    )
    xs, rows, words, ticks = found["mixed"]
    assert xs == [1, 2, 3, 4]
    assert rows == [[2.5, None, None, 1000], [None, 7, 8, None]]
    assert words == [["2.5", None, "nan", "1_000"], [None, "7", "8", None]]
    assert ticks == ["0", "1.00e+9", "0.5"]
    assert found["large"] == [[[0, 3]], "12345678901234567894"]
    assert found["lines"] == [True, False, False]


def test_records_are_a_table_and_rows_of_numbers_a_picture_and_the_rest_neither(page: "Page") -> None:
    found = page.evaluate(
        r"""async () => {
          const {shapeOf, sorted} = await import('/values/shapes.js');
          const leaf = (name, value) => ({name, value, childCount: 0, children: []});
          const of = (name, ...children) => ({name, value: '…', childCount: children.length, children});
          const record = (name, ...fields) => of(name, ...fields.map(([key, value]) => leaf(key, value)));
          const dicts = [
            record('[0]', ["['b']", '10'], ["['a']", "'x'"]),
            record('[1]', ["['b']", '9'], ["['c']", 'nan']),
          ];
          const same = [record("['one']", ['.n', '2'], ['m', '1']), record("['two']", ['.n', '10'], ['m', '1'])];
          const table = shapeOf(same);
          const kind = (parts) => shapeOf(parts)?.kind ?? null;
          const numbers = [leaf('[0]', '1'), leaf('[1]', '2.5e3'), leaf('len()', '2')];
          return {
            table,
            order: sorted(table.rows, 0, -1).map(({name}) => name),
            grid: shapeOf([of('[0]', ...numbers), of('[1]', leaf('[0]', '-3'), leaf('[1]', '4'), leaf('[2]', '5'))]),
            kinds: [
              numbers, dicts, [leaf('[0]', "'a'"), leaf('[1]', '2')], [same[0]], [],
              [leaf('x', '1'), leaf('y', '2')], [same[0], leaf('[1]', '2')],
            ].map(kind),
            mixed: sorted([['x'], ['3'], [null], ['20']].map((cells) => ({name: '', cells})), 0, 1)
              .map(({cells}) => cells[0]),
          };
        }"""
    )
    assert found["table"] == {
        "kind": "table",
        "columns": ["n", "m"],
        "rows": [{"name": "one", "cells": ["2", "1"]}, {"name": "two", "cells": ["10", "1"]}],
    }
    assert found["order"] == ["two", "one"]
    assert found["grid"]["width"] == 3
    assert [row["values"] for row in found["grid"]["rows"]] == [["1", "2.5e3"], ["-3", "4", "5"]]
    assert found["kinds"] == ["numbers", None, None, None, None, None, None]
    assert found["mixed"] == ["3", "20", "x", None]


def test_a_variable_has_a_line_of_its_last_numbers_up_to_the_stop_that_is_shown(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {ValueSeries, functionKey} = await import('/values/series.js');
          const {pathOf} = await import('/values/sparkline.js');
          const {shareOf} = await import('/source/hit_bars.js');
          const series = new ValueSeries();
          const key = functionKey('s-1', {name: 'f()', location: {functionName: 'f'}});
          const values = ['1', '1', '3', "'x'", 'inf', '2'];
          const same = {name: 'same', value: '7'};
          values.forEach((value, index) => series.look(key, index + 1, [{name: 'x', value}, same]));
          series.look(key, 6, [{name: 'x', value: '9'}]); // the same stop, drawn once more
          const late = new ValueSeries();
          late.look(key, 9, [{name: 'x', value: '9'}]);
          const asked = [];
          const point = (stop, value, functionName = 'f') => ({stop, value, functionName});
          const before = [point(6, '4'), point(7, '5', 'g'), point(8, '6'), point(9, '9')];
          const ask = async (name) => (asked.push(name), before);
          await late.fill(key, ['x', 'y'], ask);
          await late.fill(key, ['x'], ask);
          const many = new ValueSeries();
          for (let stop = 1; stop <= 100; stop += 1) many.look(key, stop, [{name: 'x', value: String(stop)}]);
          return {
            all: series.upTo(key, 'x', 6), then: series.upTo(key, 'x', 3), few: series.upTo(key, 'x', 2),
            same: series.upTo(key, 'same', 6), other: series.upTo('s-2 f', 'x', 6), late: late.upTo(key, 'x', 9), asked,
            kept: many.upTo(key, 'x', 100).length,
            path: pathOf([0, 1, Infinity]).path,
            bars: [shareOf(0, 8), shareOf(1, 1), shareOf(1, 8), shareOf(8, 8)],
          };
        }"""
    )
    assert found["all"] == [1, 1, 3, 2]
    assert found["then"] == [1, 1, 3]
    assert found["few"] == found["same"] == found["other"] == []
    assert found["late"] == [4, 6, 9]
    assert found["asked"] == ["x"]
    assert found["kept"] == 40
    assert found["path"] == "M2.0 12.0L24.0 2.0L46.0 2.0"
    assert found["bars"] == [0, 1, 0.25, 1]


def test_a_holder_is_gone_to_in_its_own_frame_and_not_where_no_expression_leads(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {graphOf} = await import('/values/reference_facts.js');
          const holder = {way: '.tea', of: 'Shop()', path: 'shop.tea', under: null, variable: null, module: null,
            frameIndex: 2, threadId: 7, task: null, location: {functionName: 'serve'}};
          const inbound = [
            holder,
            {...holder, task: 'fetch-1'},
            {...holder, path: null, under: 'shops', frameIndex: null, threadId: null, module: 'app', location: null},
            {...holder, way: '', of: null, path: null, variable: 'tea', threadId: null},
          ];
          const outbound = [{way: '.price', value: '3'}, {way: 'closure: rate', value: '2'}];
          const graph = graphOf('tea', {frame_index: 0, thread_id: 1}, {inbound, outbound});
          return [graph.inbound.map(({way, name, where, next}) => [way, name, where, next]),
            graph.outbound.map(({next}) => next)];
        }"""
    )
    shop = {"expression": "shop", "where": {"frame_index": 2, "thread_id": 7}}
    assert found[0] == [
        [".tea", "shop", "local in serve", shop],
        [".tea", "", "local in serve, task fetch-1", None],
        [".tea", "under shops", "global of app", None],
        ["", "tea", "local in serve", None],
    ]
    assert found[1] == [{"expression": "tea.price", "where": {"frame_index": 0, "thread_id": 1}}, None]


def test_calls_are_a_tree_whose_last_level_is_known_by_what_it_says(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {seenOf, treeOf} = await import('/runs/run_calls.js');
          const call = (at, depth, ...values) => ({at, depth, values});
          const roots = treeOf(
            [call('#1', 0), call('#2', 1, '-> 3', '… 2 inside'), call('#9', 1, '-> 4'), call('#12', 0)]);
          const said = (calls) => seenOf(calls).map(({at, depth, inside}) => [at, depth, inside?.length ?? null]);
          return {all: said(roots), deeper: said(treeOf([call('#5', 0), call('#6', 1)], 3)), none: said(treeOf([]))};
        }"""
    )
    assert found == {
        "all": [["#1", 0, 2], ["#2", 1, None], ["#9", 1, 0], ["#12", 0, 0]],
        "deeper": [["#5", 3, 1], ["#6", 4, 0]],
        "none": [],
    }


def test_calls_that_overlap_have_rows_of_their_own_in_a_flame(page: "Page") -> None:
    rows, ends = page.evaluate(
        """async () => {
          const {flameOf} = await import('/runs/flame.js');
          const line = (depth, name, at, until, count = 1) => ({
            depth, function: name, at: `#${at}`, until: until && `#${until}`, count,
            values: name === 'bad' ? ['raises <E>'] : [],
          });
          const {rows, from, to} = flameOf([
            line(0, 'main', 1, 90), line(1, 'gen', 2, 40), line(2, 'deep', 3, 5), line(1, 'bad', 10, 20),
            line(1, 'f', 50, null, 7), line(1, 'g', 60, null), line(0, 'thread', 30, 80), line(1, 'h', 31, 32),
            line(0, 'after', 95, 99),
          ]);
          const seen = ({text, from, to, kind}) => [text, from, to, kind === 'failed'];
          return [rows.map(({spans}) => spans.map(seen)), [from, to]];
        }"""
    )
    assert rows == [
        [["main", 1, 91, False], ["after", 95, 100, False]],
        [["gen", 2, 41, False], ["7 more of f", 50, 51, False], ["g", 60, 100, False]],
        [["deep", 3, 6, False], ["bad", 10, 21, True]],
        [["thread", 30, 81, False]],
        [["h", 31, 33, False]],
    ]
    assert ends == [1, 100]


def test_a_call_of_a_flame_says_how_many_moments_are_its_own_where_all_inside_is_known(page: "Page") -> None:
    says = page.evaluate(
        """async () => {
          const {flameOf} = await import('/runs/flame.js');
          const line = (depth, name, at, until, count, ...values) => (
            {depth, function: name, at: `#${at}`, until: until && `#${until}`, count, values});
          const {rows} = flameOf([
            line(0, 'all', 1, 30, 1), line(1, 'leaf', 3, 7, 1), line(1, 'deep', 10, 19, 1, '… 3 inside'),
            line(0, 'many', 31, 60, 1), line(1, 'f', 40, 41, 1), line(1, 'f', 42, null, 8),
          ]);
          return rows.map(({spans}) => spans.map(({says}) => says.split(' · ').at(-1)));
        }"""
    )
    assert says == [
        ["30 moments, 15 of them its own, #1", "30 moments, #31"],
        ["5 moments, #3", "10 moments, #10", "2 moments, #40", "the last of them, #42"],
    ]


def test_a_flame_of_traced_calls_has_their_lines_and_what_these_called(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {callFacts} = await import('/story/traced_facts.js');
          const {tracedFlameOf} = await import('/story/traced_flame.js');
          const did = `price(name="don't; f(1) -> 2") -> 3; C.m(x=[1; 2]) raises E: won't; paid=3; told='g() -> 1'`;
          const texts = {arguments: 'n=2', raised: 'E: <b>', ran: 9, lines: [
            '7 for x in y:  # x=1', `8 paid += price(x)  # ${did}`, '… 3 more times 7-8', '9 return paid']};
          const field = (line, did, changes, leftOut = null) => (
            {line, source: line && 'source', did, changes, decided: null, leftOut});
          const fields = {
            caller: {file: '/w/shop.py', line: 3, functionName: 'main'}, arguments: [{path: 'n', value: '1'}],
            returned: '4', raised: null, ran: 1, lines: [
              field(7, ['price(1) -> 2', '1 more calls'], [{path: 'x', value: null}]), field(null, [], [], '2 lines')]};
          const calls = [callFacts(texts), callFacts(fields), callFacts({lines: []})];
          const drawing = tracedFlameOf('total', calls);
          const spans = drawing.rows.map(
            ({name, spans}) => [name, ...spans.map(({from, to, kind, text}) => [from, to, kind, text])]);
          return {
            spans, to: drawing.to, cuts: drawing.cuts, ticks: [0, 1, 2, 0.5].map(drawing.tick),
            says: drawing.rows[0].spans.map(({says}) => says), caller: calls[1].caller, did: calls[1].lines[0].did,
          };
        }"""
    )
    kinds = {name: kind for row in found["spans"] for _, _, kind, name in row[1:]}
    assert [[row[0], *((*at, text) for *at, _, text in row[1:])] for row in found["spans"]] == [
        ["Calls", (0, 4, "total(n=2)"), (4, 6, "total(n=1)"), (6, 7, "total()")],
        [
            "Lines",
            (0, 1, "for x in y:"),
            (1, 2, "paid += price(x)"),
            (2, 3, "… 3 more times 7-8"),
            (3, 4, "return paid"),
            (4, 5, "source"),
            (5, 6, "… 2 lines"),
        ],
        [
            "Called",
            (1, 1.5, """price(name="don't; f(1) -> 2") -> 3"""),
            (1.5, 2, "C.m(x=[1; 2]) raises E: won't"),
            (4, 5, "price(1) -> 2"),
        ],
    ]
    assert kinds["total(n=2)"] == kinds["C.m(x=[1; 2]) raises E: won't"] == "failed"
    assert kinds["… 2 lines"] == "idle"
    assert kinds["total(n=1)"] == kinds["total()"] != "failed"
    assert (found["to"], found["cuts"], found["ticks"]) == (7, [2.5, 5.5], ["7", "8", "", ""])
    assert found["says"] == [
        "total(n=2) raises E: <b> · 3 of 9 lines, 2 of them without a call; 2 calls",
        "total(n=1) -> 4 · 1 line, 0 of them without a call; 1 call",
        "total() has not ended · 0 lines",
    ]
    assert found["caller"] == "shop.py:3 in main"
    assert found["did"] == "price(1) -> 2; 1 more calls; del x"


def test_numbers_of_a_history_are_series_by_their_names_and_functions(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {namedValue, seriesOf} = await import('/runs/history_series.js');
          const entry = (at, called, ...values) => ({at, file: '/w/shop.py', line: 3, function: called, values});
          const series = (...entries) =>
            seriesOf(entries).map(({name, points}) => [name, points.map(({value}) => value)]);
          return {
            values: ['total: 3 -> 4', 'Till.tries: 0', 'total=5', '-> 7', 'false', "text: 'a -> 1'"].map(namedValue),
            one: series(entry('#1', 'f', 'total: 1'), entry('#2', 'f', 'total: 1 -> 2')),
            two: series(
              entry('#1', 'f', 'total=1'), entry('#2', 'g', 'total=2', 'limit=3'), entry('#3', 'g', 'total=4')),
          };
        }"""
    )
    assert found["values"] == [
        ["total", "4"],
        ["Till.tries", "0"],
        ["total", "5"],
        ["result", "7"],
        None,
        ["text", "1'"],
    ]
    assert found["one"] == [["total", ["1", "2"]]]
    assert found["two"] == [["total in g", ["2", "4"]], ["total in f", ["1"]], ["limit in g", ["3"]]]


def test_what_is_typed_is_a_question_about_a_variable_a_function_or_a_line(page: "Page") -> None:
    found = page.evaluate(
        """async () => {
          const {questionOf} = await import('/runs/run_history.js');
          return ['total', ' Cart.total ', 'serve()', 'a b/shop.py:12', "order['a:1']", ''].map(questionOf);
        }"""
    )
    assert found == [
        {"expression": "total"},
        {"expression": "Cart.total"},
        {"function": "serve"},
        {"file": "a b/shop.py", "line": 12},
        {"expression": "order['a:1']"},
        None,
    ]
