// The threads of the program: at the stop that is shown; where they are now while it runs.

import {nameOf, ringPicture} from './deadlock.js';
import {byId, el, redraw, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {placeNode} from '../view/places.js';
import {clock} from '../view/words.js';

/** Rows that are drawn at once; more are asked for by the last row. A stop draws all of them again. */
const MOST_ROWS = 200;

/** The key of that row; threads have numbers. */
const MORE = 'more';

export function createThreads(store, actions) {
  const list = byId('threads');
  const note = byId('threads-note');
  const rings = el('div', {className: 'rings', hidden: true});
  list.before(rings);
  let drawnRings = '';
  let most = MOST_ROWS;

  /** Draw rings only when they are others: a picture that is drawn again each second cannot be looked at by keys. */
  function drawRings(deadlocks) {
    const key = JSON.stringify(deadlocks);
    if (key === drawnRings) return;
    drawnRings = key;
    rings.hidden = deadlocks.length === 0;
    redraw(rings, deadlocks.map(ringPicture));
  }

  store.watch(['threads', 'frames', 'now', 'past'], draw);

  /** @param {string} key */
  function choose(key) {
    if (key !== MORE) return actions.selectThread(Number(key));
    const first = most;
    most += MOST_ROWS;
    draw(store.state);
    /** @type {HTMLElement | undefined} */ (list.children[first])?.focus();
  }

  function draw({threads, frames, now, past}) {
    const live = past ? null : now;
    const shown = live?.threads ?? threads?.threads ?? [];
    const stale = live === null && (threads?.stale ?? false);
    list.dataset.stale = String(stale);
    const more = live && live.total > shown.length ? `, ${shown.length} of ${live.total}` : '';
    setText(note, live ? `where they are now${more}` : stale && threads.capturedAt ? `as of ${clock(threads.capturedAt)}` : '');
    drawRings(live?.deadlocks ?? []);
    if (shown.length <= MOST_ROWS) most = MOST_ROWS;
    const drawn = shown.filter(({id}, index) => index < most || id === frames.threadId);
    const locked = new Set(live?.deadlocks.flat().map(({id}) => id));
    const rows = drawn.map((thread) => rowOf(thread, {selected: thread.id === frames.threadId, isLive: live !== null, locked: locked.has(thread.id)}));
    drawListbox(list, [...rows, ...moreRow(shown.length - drawn.length)], choose);
  }
}

/** The row of a thread; that of a running program says for what it waits. */
function rowOf(thread, {selected, isLive, locked}) {
  return {
    key: String(thread.id),
    selected,
    dataset: {locked: String(locked)},
    title: [nameOf(thread), thread.state, thread.waitsFor && `waits for ${thread.waitsFor}`].filter(Boolean).join(', '),
    content: [
      el('span', {className: `dot thread-${thread.state.toLowerCase()}`}),
      el(
        'span', {className: 'grow'},
        el('span', {className: 'name'}, nameOf(thread)),
        isLive && thread.waitsFor ? el('span', {className: 'detail'}, `waits for ${thread.waitsFor}`) : null,
      ),
      thread.location ? placeNode(thread.location) : el('span', {className: 'where'}, thread.state),
    ],
  };
}

/** @param {number} left */
const moreRow = (left) =>
  left > 0 ? [{key: MORE, selected: false, content: [el('span', {className: 'name'}, `${left} more, show ${Math.min(left, MOST_ROWS)}`)]}] : [];
