"""What comes later than it is expected, or when it is not looked at any more: the parts of the page, each by itself."""

from typing import TYPE_CHECKING

from tests.dashboard.eventually import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

WATCHING = """async () => {
  const {createWatches} = await import('/values/watches.js');
  const {Actions} = await import('/actions.js');
  const {Follow} = await import('/program/follow.js');
  const {Store} = await import('/store.js');
  const {initialState} = await import('/session.js');
  const store = new Store({...initialState(), role: 'control', link: {status: 'open'}, active: true});
  window.answers = [];
  const call = (_name, {expression}) =>
    new Promise((resolve) => window.answers.push((value) => resolve({value: `${expression} is ${value}`})));
  const actions = new Actions(store, {call, refresh() {}, follow: new Follow(store), history: {on: false}});
  createWatches(store, actions);
  const drawn = () => new Promise((resolve) => setTimeout(resolve));
  window.update = (parts) => (store.update(parts), drawn());
  window.answer = (value) => (window.answers.shift()(value), drawn());
  window.add = (expression) => (actions.addWatch(expression), drawn());
  const stack = {threadId: 1, frames: [{name: 'main', location: {}}], stale: false, stop: 3, capturedAt: 'then'};
  const frames = {threadId: 1, index: 0, list: stack.frames, locals: [], following: true};
  window.stop = {session: {sessionId: 's-1', attachedAt: 'a'}, stack, frames};
  window.shown = () => [...document.querySelectorAll('#watches .value')].map(({textContent}) => textContent);
}"""


def test_a_watch_whose_value_came_while_nothing_was_shown_is_evaluated_again(still_page: "Page") -> None:
    still_page.evaluate(WATCHING)
    still_page.evaluate("add('total')")
    assert still_page.evaluate("[answers.length, shown()]") == [0, ["…"]]
    still_page.evaluate("update(stop)")  # the notification of the stack was faster than the list of what there is
    still_page.evaluate("update({stack: null})")
    still_page.evaluate("answer(1)")
    assert still_page.evaluate("shown()") == ["…"]
    still_page.evaluate("update(stop)")
    assert still_page.evaluate("answers.length") == 1
    still_page.evaluate("answer(2)")
    assert still_page.evaluate("shown()") == ["total is 2"]

    # What is known is not asked again, but for what is new.
    still_page.evaluate("update({stack: {...stop.stack}})")
    assert still_page.evaluate("answers.length") == 0
    still_page.evaluate("add('rate')")
    for value in (3, 4):
        still_page.evaluate(f"answer({value})")
    assert still_page.evaluate("[shown(), answers.length]") == [["total is 3", "rate is 4"], 0]
    still_page.evaluate("update({link: {status: 'lost'}})")
    assert still_page.evaluate("[shown(), answers.length]") == [["…", "…"], 0]


def test_a_value_can_be_set_until_the_program_has_moved_also_if_its_stop_is_on_the_timeline_later(
    still_page: "Page",
) -> None:
    found = still_page.evaluate(
        """async () => {
          const {showValue} = await import('/values/value_view.js');
          const {Store} = await import('/store.js');
          const stopped = (stop) => ({type: 'stopped', payload: {stop, sessionId: 's-1'}});
          const stack = {stale: false, stop: 3, frames: []};
          const begin = {role: 'control', session: {sessionId: 's-1', state: 'Paused'}, stack, events: [stopped(2)]};
          const set = [];
          const call = async (_name, {value}) => (set.push(value), {variable: {value}});
          async function meanwhile(parts, before = {}) {
            const store = new Store({...begin, ...before, frames: {list: []}});
            const load = () => Promise.resolve({value: '1', type: 'int'});
            showValue({title: 'x', path: 'x', load}, store, {call, refresh() {}});
            const dialog = document.querySelector('dialog');
            store.update(parts);
            dialog.querySelector('textarea').value = '2';
            dialog.querySelector('form').requestSubmit();
            await new Promise((resolve) => setTimeout(resolve));
            const said = dialog.querySelector('[role=alert]').textContent;
            dialog.close();
            return said.split(' since')[0] || set.pop();
          }
          return {
            late: await meanwhile({events: [stopped(2), stopped(3)]}),
            again: await meanwhile({stack: {...stack}}),
            other: await meanwhile({events: [stopped(2), {type: 'stopped', payload: {stop: 4, sessionId: 's-2'}}]}),
            goneOn: await meanwhile({stack: {...stack, stale: true}}),
            next: await meanwhile({stack: {...stack, stop: 4}}),
            timeline: await meanwhile({events: [stopped(3), stopped(4)]}),
            before: await meanwhile({}, {events: [stopped(3), stopped(4)]}),
            unnumbered: await meanwhile({}, {stack: {...stack, stop: null, capturedAt: 'then'}}),
          };
        }"""
    )
    there = dict.fromkeys(("late", "again", "other", "unnumbered"), "2")
    gone = dict.fromkeys(("goneOn", "next", "timeline", "before"), "The program has moved")
    assert found == there | gone


def test_a_read_that_the_server_was_too_slow_for_is_in_the_console_and_made_again(still_page: "Page") -> None:
    said: list[str] = []
    still_page.on("console", lambda message: said.append(message.text))
    found = still_page.evaluate(
        """async () => {
          const {Mirror} = await import('/connection/mirror.js');
          const {ConnectionLost, Unanswered} = await import('/connection/mcp.js');
          const uri = 'debugger://session';
          const ends = [() => Promise.reject(new Unanswered('too slow')), async () => ({line: 7})];
          let reads = 0;
          const [payloads, errors] = [[], []];
          const turn = () => new Promise((resolve) => setTimeout(resolve));
          const client = {
            request: async (method) => (method === 'resources/list' ? {resources: [{uri}]} : {}),
            readJson: () => ends[reads++](),
          };
          const mirror = new Mirror(client, [uri], {
            onPayload: (_uri, found) => payloads.push(found),
            onActive() {},
            onError: ({message}) => errors.push(message),
          });
          await mirror.start();
          await turn();
          ends.push(() => Promise.reject(new ConnectionLost('gone'))); // which the next connection reads
          await mirror.refresh();
          await turn();
          return [payloads, reads, errors];
        }"""
    )
    assert found == [[{"line": 7}], 3, ["gone"]]
    eventually(lambda: said, lambda texts: [text for text in texts if text.startswith("Unanswered: too slow")])


def test_what_is_shown_is_subscribed_to_also_if_another_choice_was_answered_late(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {Mirror} = await import('/connection/mirror.js');
          const {ConnectionLost, Unanswered} = await import('/connection/mcp.js');
          const subscribed = new Set();
          const [late, asked] = [Promise.withResolvers(), Promise.withResolvers()];
          let isLate = true;
          const request = async (method, {uri} = {}) => {
            if (method === 'resources/list') return {resources: []};
            if (method === 'resources/unsubscribe') return subscribed.delete(uri);
            if (isLate && uri === 'debugger://sessions/s-2/stack') {
              isLate = false;
              subscribed.add(uri); // which it does not say in time
              asked.resolve();
              await late.promise;
            }
            return subscribed.add(uri);
          };
          const uris = ['debugger://session', 'debugger://stack', 'debugger://runs'];
          const mirror = new Mirror({request}, uris, {onPayload() {}, onActive() {}, onError() {}});
          await mirror.start();
          const seen = [[...subscribed].sort()];
          await mirror.choose('s-1');
          seen.push([...subscribed].sort());
          const other = mirror.choose('s-2');
          await asked.promise;
          const back = mirror.choose('s-1');
          late.reject(new Unanswered('too slow'));
          await Promise.all([other, back]);
          seen.push([...subscribed].sort());

          // A connection that is gone says so, once and for all.
          const gone = new Mirror({request: () => Promise.reject(new ConnectionLost('gone'))}, uris, {});
          seen.push(await gone.start().catch(({message}) => message));
          return seen;
        }"""
    )
    first = ["debugger://runs", "debugger://sessions/s-1/session", "debugger://sessions/s-1/stack"]
    assert found == [["debugger://runs", "debugger://session", "debugger://stack"], first, first, "gone"]


def test_the_focus_is_back_at_once_when_a_dialog_closes_and_not_taken_from_where_it_is_set_then(
    still_page: "Page",
) -> None:
    found = still_page.evaluate(
        """async () => {
          const {openDialog} = await import('/view/dialog.js');
          const row = () => Object.assign(document.createElement('button'), {ariaLabel: 'the row'});
          const other = document.body.appendChild(document.createElement('button'));
          let left = 0;
          function opened() {
            const before = document.body.appendChild(row());
            before.focus();
            const dialog = openDialog({title: 'x', onclose: () => (left += 1)});
            before.replaceWith(row()); // drawn again meanwhile
            return dialog;
          }
          const there = () => [document.activeElement.ariaLabel, document.querySelectorAll('dialog').length];
          const seen = [];
          opened().close();
          seen.push(there());
          document.activeElement.remove();
          opened().requestClose(); // as Escape does
          seen.push(there());
          document.activeElement.remove();
          opened().close();
          other.focus();
          await new Promise((resolve) => setTimeout(resolve));
          return [seen, document.activeElement === other, left];
        }"""
    )
    assert found == [[["the row", 0], ["the row", 0]], True, 3]


def test_who_leaves_a_moment_of_a_run_while_it_is_on_its_way_stays_where_it_is_now(still_page: "Page") -> None:
    found = still_page.evaluate(
        """async () => {
          const {Travel} = await import('/past/travel.js');
          const {RunMoments} = await import('/runs/run_moments.js');
          const {Store} = await import('/store.js');
          const store = new Store({past: null, run: {id: 'run-1', process: null}, watches: []});
          const live = {store, pin: ({past}) => store.update({past})};
          const stack = [{function: 'f', file: 'a.py', line: 3, row: 7}];
          const moment = {row: 7, stack, variables: {}, thread: 1, frames: 1};
          const answers = [];
          const call = () => new Promise((resolve) => answers.push(() => resolve({moment})));
          const stops = {away: false, leave() {}, now() {}};
          const travel = new Travel(stops, new RunMoments(live, {leave() {}}, call));
          const turn = () => new Promise((resolve) => setTimeout(resolve));
          const answer = () => (answers.splice(0).forEach((each) => each()), turn());
          const shown = () => store.state.past?.moment.at ?? null;

          const seen = [];
          travel.goMoment('#7');
          await turn();
          seen.push(travel.away, answers.length);
          travel.now();
          seen.push(travel.away);
          await answer();
          seen.push(shown(), travel.away);

          // Also while it is asked which moment it is.
          const finding = Promise.withResolvers();
          travel.goFound(() => finding.promise);
          seen.push(travel.away);
          travel.now();
          finding.resolve('#7');
          await turn();
          seen.push(answers.length, travel.away);

          travel.goFound(async () => '#7');
          await turn();
          await answer();
          seen.push(shown(), travel.away);
          return seen;
        }"""
    )
    assert found == [True, 1, False, None, False, True, 0, False, "#7", True]
