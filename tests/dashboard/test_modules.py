"""The page's pure modules, in the browser that runs them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_comments_strings_and_keywords_are_distinguished_and_no_character_is_lost(observer_page: "Page") -> None:
    kinds = observer_page.evaluate(
        """async () => {
          const {highlighted} = await import('/highlight.js');
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
    assert [kind for kind, _ in kinds["c"][0] if kind] == ["comment", "keyword", "string", "comment"]
    assert kinds["plain"] == [[[None, 'if "x"']]]
    assert kinds["open"] == [[[None, "s = "], ["string", '"never closed']]]


def test_long_silences_are_drawn_short_and_time_never_runs_backwards(observer_page: "Page") -> None:
    scale = observer_page.evaluate(
        """async () => {
          const {timeScale} = await import('/scale.js');
          const scale = timeScale([0, 1, 2, 602, 603]);
          return {x: [0, 1, 2, 300, 602, 603].map(scale.x), breaks: scale.breaks, empty: timeScale([]).x(5)};
        }"""
    )
    assert scale["x"] == sorted(scale["x"])
    assert scale["x"][0] == 0
    assert scale["x"][-1] == 1
    assert scale["x"][4] - scale["x"][2] < scale["x"][1] - scale["x"][0]  # ten minutes are shorter than that second
    assert [each["seconds"] for each in scale["breaks"]] == [600]
    assert scale["empty"] == 0


def test_changes_are_those_since_the_last_stop_in_the_same_call(observer_page: "Page") -> None:
    marks = observer_page.evaluate(
        """async () => {
          const {Changes} = await import('/changes.js');
          const changes = new Changes();
          const stack = (at, depth, name, values) => ({
            threadId: 1, capturedAt: at, total: depth,
            frames: [{name, location: {file: 'a.py'}}],
            locals: values && Object.entries(values).map(([path, value]) => ({path, value})),
          });
          const since = (...args) => Object.fromEntries(changes.since(stack(...args)));
          return [
            since('1', 1, 'f', {a: '1'}),
            since('2', 1, 'f', null),
            since('2', 1, 'f', {a: '2', b: '1'}),
            since('2', 1, 'f', {a: '2', b: '1'}),
            since('3', 2, 'g', {a: '9'}),
            since('4', 1, 'f', {a: '2', b: '5'}),
            since('5', 2, 'g', {a: '1'}),
          ];
        }"""
    )
    assert marks == [{}, {}, {"a": "1", "b": None}, {"a": "1", "b": None}, {}, {"b": "1"}, {}]


def test_many_notifications_during_a_read_cause_one_more_read(observer_page: "Page") -> None:
    reads = observer_page.evaluate(
        """async () => {
          const {coalesced} = await import('/mirror.js');
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


def test_answers_of_tools_become_what_the_resources_would_have(observer_page: "Page") -> None:
    found = observer_page.evaluate(
        """async () => {
          const answers = await import('/answers.js');
          const lines = ['visit lib/shop.py:24', 'main :31', 'run /usr/x.py:5 (library)', '<module> lib/shop.py:38'];
          const known = [null, '/src/app.py', '/src/lib/shop.py'];
          const places = (frames) => frames.map(({name, location: {file, line}}) => [name, file, line]);
          const inside = answers.variablesOf({variables: {"['tea']": '[4, 5]', owner: "'ben'"}}, 'cart');
          const before = {
            revision: 7, exceptionBreakpoints: [], functionBreakpoints: [], dataBreakpoints: [],
            breakpoints: [{id: 'bp-1', file: '/src/app.py', state: 'Bound'}, {id: 'bp-2', file: '/src/app.py'}],
          };
          const kept = {breakpoints: ['bp-1 app.py:6, 2 hits', 'bp-3 app.py:7, disabled']};
          const after = answers.withoutSession(before, kept);
          return {
            frames: places(answers.framesOf({frames: lines}, known)),
            unknown: places(answers.framesOf({frames: lines}, [])),
            native: places(answers.framesOf({frames: ['operator new(unsigned long) /a/b.cc:3', 'start']}, [])),
            inside: inside.map(({path, childCount}) => [path, childCount]),
            top: answers.variablesOf({variables: {n: '-3', empty: '[]', cart: "Cart(owner='ben')"}})
              .map(({path, childCount}) => [path, childCount]),
            events: answers.eventsOf({events: [
              {eventId: 1, type: 'sessionStarted', payload: {sessionId: 's-1'}},
              {eventId: 2, type: 'stopped', threadId: 1, payload: {location: {file: 'lib/shop.py', line: 3}}},
              {eventId: 3, type: 'breakpointSet', payload: {id: 'bp-1', file: 'other.py'}},
              {eventId: 4, type: 'toolCalled', payload: {tool: 'debug_state'}},
              {eventId: 5, type: 'sessionEnded', payload: {reason: 'over'}},
            ]}, known),
            output: answers.outputOf({entries: [{stdout: 'a'}, {log: 'b'}], nextSeq: 9}, 4)
              .entries.map(({seq, stream, text}) => [seq, stream, text]),
            ends: [
              answers.endOf({state: 'Disconnected'}),
              answers.endOf({state: 'Disconnected', reason: 'Exited', exitCode: 3}),
              answers.endOf({state: 'Disconnected', reason: 'Exited', notes: ['disconnected']}),
            ],
            lines: after.breakpoints.map(({id, file, state}) => [id, file, state]),
            added: after.functionBreakpoints.map(({id, functionName, state}) => [id, functionName, state]),
          };
        }"""
    )
    shop = "/src/lib/shop.py"
    assert found["frames"] == [["visit", shop, 24], ["main", shop, 31], ["run", "/usr/x.py", 5], ["<module>", shop, 38]]
    assert [file for _, file, _ in found["unknown"]] == [None, None, "/usr/x.py", None]
    started, stopped, made, called, ended = found["events"]
    assert called["payload"]["arguments"] == {}
    assert (started["threadId"], started["payload"]["parentSessionId"], ended["payload"]["exitCode"]) == (None,) * 3
    assert (stopped["threadId"], stopped["payload"]["location"]) == (1, {"file": shop, "line": 3})
    assert made["payload"] == {"id": "bp-1", "file": "/src/other.py", "location": None}
    assert found["native"] == [["operator new(unsigned long)", "/a/b.cc", 3], ["start", None, None]]
    assert found["inside"] == [["cart['tea']", None], ["cart.owner", 0]]
    assert found["top"] == [["n", 0], ["empty", 0], ["cart", None]]
    assert found["output"] == [[4, "stdout", "a"], [5, "tracepoint", "b"]]
    assert found["ends"] == [
        None,
        {"exitCode": 3, "reason": "the program ended"},
        {"exitCode": None, "reason": "disconnected"},
    ]
    assert found["lines"] == [["bp-1", "/src/app.py", "Pending"]]
    assert found["added"] == [["bp-3", "app.py:7, disabled", "Disabled"]]
