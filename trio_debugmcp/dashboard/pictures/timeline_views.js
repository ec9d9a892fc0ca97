// The views of the timeline: its events, the tracks of processes and threads, and the calls as a waterfall. Only the one that is
// chosen, and in sight, is drawn.

import {ServerClock} from '../connection/server_clock.js';
import {secondsOf} from '../timeline/events.js';
import {byId, el, setText} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {duration} from '../view/words.js';
import {SpanPicture} from './span_picture.js';
import {ThreadFactsLog} from './thread_facts.js';
import {timeAxis} from './time_axis.js';
import {tracksOf} from './tracks.js';
import {waterfallOf} from './waterfall.js';

const CHOICE = 'trio_debugmcp.timeline';

/** A picture of a program that steps twenty times a second is made anew so often at most. */
const REDRAW_MILLISECONDS = 250;
const GROW_MILLISECONDS = 1000;

/** @param {import('../store.js').Store} store @param {import('../actions.js').Actions} actions */
export function createTimelineViews(store, actions) {
  const facts = new ThreadFactsLog();
  const clock = new ServerClock();
  const note = el('span', {className: 'note'});
  /** What a person has folded or opened, by the processes. @type {Map<string, boolean>} */
  const closed = new Map();
  const choose = ({row, span}) => {
    if (!span && row.fold) {
      closed.set(row.fold.id, !row.fold.closed);
      draw();
      return;
    }
    const event = span ? span.moment : row.moment;
    if (event) actions.showEvent(event);
  };
  const tracks = new SpanPicture({label: 'Tracks of processes, threads and clients', empty: 'No program has run yet.', onChoose: choose, onSight: () => soon()});
  const calls = new SpanPicture({label: 'Calls', empty: 'Nothing was called yet.', newestLast: true, onChoose: choose, onSight: () => soon()});
  const views = [
    {name: 'Events', nodes: [byId('lanes'), byId('timeline')], tools: [byId('zoom').parentElement], picture: null},
    {name: 'Tracks', nodes: [tracks.node], tools: [tracks.tools], picture: tracks},
    {name: 'Calls', nodes: [calls.node], tools: [note, calls.tools], picture: calls},
  ];
  const tabs = el('div', {className: 'tabs', role: 'tablist', 'aria-labelledby': 'timeline-title'});
  const buttons = views.map(({name}, index) => el('button', {type: 'button', role: 'tab', className: 'tab', onclick: () => show(index)}, name));
  tabs.append(...buttons);
  const settle = rove(tabs, '.tab', {horizontal: true});
  byId('timeline-title').after(tabs);
  byId('event').before(tracks.node, calls.node);
  byId('zoom').parentElement?.after(tracks.tools, note, calls.tools);

  /** @param {number} chosen */
  function show(chosen) {
    views.forEach(({nodes, tools}, index) => {
      for (const node of [...nodes, ...tools]) if (node) node.hidden = index !== chosen;
      buttons[index].ariaSelected = String(index === chosen);
      buttons[index].tabIndex = index === chosen ? 0 : -1;
    });
    settle();
    localStorage.setItem(CHOICE, views[chosen].name);
    soon();
  }

  let timer = 0;
  /** Draw what is in sight, soon, and again while a program is there. */
  function soon(milliseconds = 0) {
    if (timer || !(tracks.inSight || calls.inSight)) return;
    timer = window.setTimeout(() => {
      timer = 0;
      draw();
      if (goesOn()) soon(GROW_MILLISECONDS);
    }, milliseconds);
  }

  const goesOn = () => store.state.active && store.state.link.status === 'open' && !document.hidden;

  function draw() {
    const {events} = store.state;
    const moments = events.map(secondsOf);
    const last = moments.at(-1) ?? 0;
    const now = goesOn() ? Math.max(last, clock.seconds()) : last;
    facts.extend(store.state.now ? now : 0);
    const axis = timeAxis([...moments, now]);
    const over = {from: 0, to: axis.to, tick: axis.tick, cuts: axis.cuts};
    if (tracks.inSight) tracks.show({rows: tracksOf(events, axis.place, now, facts, closed), ...over});
    if (!calls.inSight) return;
    const {rows, leftOut, spent} = waterfallOf(events, axis.place, now);
    setText(note, rows.length ? spentWords(spent, leftOut) : '');
    calls.show({rows, ...over});
  }

  store.watch(['events', 'active', 'session'], ({events}) => {
    clock.look(events);
    if (events.length === 0) {
      facts.clear();
      closed.clear();
    }
    soon(REDRAW_MILLISECONDS);
  });
  store.watch(['threads', 'now', 'past'], ({threads, now, past, session}) => {
    const shown = past ? past.sessionId : session?.sessionId;
    if (shown && threads) facts.name(shown, threads.threads ?? []);
    if (!past && session && now) facts.look(session.sessionId, now.threads, clock.seconds());
    else if (!now) facts.close();
  });
  store.watch(['sessions'], ({sessions}) => {
    for (const {sessionId, processName} of sessions?.sessions ?? []) if (processName) facts.processes.set(sessionId, processName);
  });
  show(Math.max(0, views.findIndex(({name}) => name === localStorage.getItem(CHOICE))));
}

/** @param {{thinking: number, running: number, calling: number}} spent @param {number} leftOut */
const spentWords = ({thinking, running, calling}, leftOut) => [
  `${duration(thinking)} between calls`, `${duration(running)} program running`, `${duration(calling)} answering`,
  leftOut ? `${leftOut} earlier calls not drawn` : '',
].filter(Boolean).join(' · ');
