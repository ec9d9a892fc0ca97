// The threads of the program, and all of its processes when there are several.

import {byId, el, setText} from '../dom.js';
import {drawListbox} from '../listbox.js';
import {clock, place, whyPaused} from '../words.js';

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
          el('span', {className: 'where'}, thread.location ? place(thread.location) : thread.state),
        ],
      })),
      (key) => actions.selectThread(Number(key)),
    );
  });
}

export function createChildren(store) {
  const list = byId('children');
  store.watch(['session', 'active'], ({session, active}) => {
    const sessions = (active && session?.sessions) || [];
    byId('children-panel').hidden = sessions.length < 2;
    list.replaceChildren(
      ...sessions.map((child) =>
        el(
          'li',
          {className: 'row', ariaCurrent: child.sessionId === session.sessionId ? 'true' : null},
          el('span', {className: `dot thread-${child.state === 'Paused' ? 'suspended' : 'running'}`}),
          el('span', {className: 'grow name'}, `${child.processName ?? child.sessionId} ${child.processId ?? ''}`),
          el('span', {className: 'where'}, child.currentLocation ? place(child.currentLocation) : child.state),
          child.pauseReason ? el('span', {className: 'unseen'}, whyPaused(child.pauseReason)) : null,
        ),
      ),
    );
  });
}
