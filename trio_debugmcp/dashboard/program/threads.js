// The threads of the program.

import {byId, el, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {placeNode} from '../view/places.js';
import {clock} from '../view/words.js';

export function createThreads(store, actions) {
  const list = byId('threads');
  const note = byId('threads-note');
  store.watch(['threads', 'frames'], ({threads, frames}) => {
    list.dataset.stale = String(threads?.stale ?? false);
    setText(note, threads?.stale && threads.capturedAt ? `as of ${clock(threads.capturedAt)}` : '');
    drawListbox(
      list,
      (threads?.threads ?? []).map((thread) => ({
        key: String(thread.id),
        selected: thread.id === frames.threadId,
        content: [
          el('span', {className: `dot thread-${thread.state.toLowerCase()}`, title: thread.state}),
          el('span', {className: 'grow name'}, thread.name ?? `Thread ${thread.id}`),
          thread.location ? placeNode(thread.location) : el('span', {className: 'where'}, thread.state),
        ],
      })),
      (key) => actions.selectThread(Number(key)),
    );
  });
}
