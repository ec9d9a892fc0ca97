// The threads of the program: at the stop that is shown; where they are now while it runs.

import {nameOf, ringPicture} from './deadlock.js';
import {byId, el, redraw, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {placeNode} from '../view/places.js';
import {clock} from '../view/words.js';

export function createThreads(store, actions) {
  const list = byId('threads');
  const note = byId('threads-note');
  const rings = el('div', {className: 'rings', hidden: true});
  list.before(rings);
  let drawnRings = '';

  /** Draw rings only when they are others: a picture that is drawn again each second cannot be looked at by keys. */
  function drawRings(deadlocks) {
    const key = JSON.stringify(deadlocks);
    if (key === drawnRings) return;
    drawnRings = key;
    rings.hidden = deadlocks.length === 0;
    redraw(rings, deadlocks.map(ringPicture));
  }

  store.watch(['threads', 'frames', 'now', 'past'], ({threads, frames, now, past}) => {
    const live = past ? null : now;
    const shown = live?.threads ?? threads?.threads ?? [];
    const stale = live === null && (threads?.stale ?? false);
    list.dataset.stale = String(stale);
    const more = live && live.total > shown.length ? `, ${shown.length} of ${live.total}` : '';
    setText(note, live ? `where they are now${more}` : stale && threads.capturedAt ? `as of ${clock(threads.capturedAt)}` : '');
    drawRings(live?.deadlocks ?? []);
    drawListbox(
      list,
      shown.map((thread) => ({
        key: String(thread.id),
        selected: thread.id === frames.threadId,
        title: [nameOf(thread), thread.state, thread.waitsFor && `waits for ${thread.waitsFor}`].filter(Boolean).join(', '),
        content: [
          el('span', {className: `dot thread-${thread.state.toLowerCase()}`}),
          el(
            'span', {className: 'grow'},
            el('span', {className: 'name'}, nameOf(thread)),
            live && thread.waitsFor ? el('span', {className: 'detail'}, `waits for ${thread.waitsFor}`) : null,
          ),
          thread.location ? placeNode(thread.location) : el('span', {className: 'where'}, thread.state),
        ],
      })),
      (key) => actions.selectThread(Number(key)),
    );
  });
}
