// Whose stop it is, beside where: the thread if there are several, the process if there are several.

import {nameOf} from './deadlock.js';
import {namesOf, processesOf} from './processes.js';
import {byId, setText} from '../view/dom.js';

/** @param {import('../store.js').Store} store */
export function createWhose(store) {
  store.watch(['session', 'sessions', 'active', 'stack', 'threads', 'past'], (state) => {
    if (!state.past) setText(byId('whose'), whoseInWords(state)); // it is of now, and the threads that are shown are not
  });
}

function whoseInWords(state) {
  const {session, active} = state;
  if (!active || !session) return '';
  const processes = processesOf(state);
  const process = processes.length > 1 ? namesOf(processes).get(session.sessionId) : null;
  return [
    session.state === 'Paused' ? threadInWords(state) : null,
    process && `${process}, 1 of ${processes.length} processes`,
  ].filter(Boolean).join(' · ');
}

function threadInWords({stack, threads}) {
  if (!stack || stack.stale || !threads || threads.stale) return null;
  const total = threads.threads.length + (threads.threadsLeftOut ?? 0);
  const thread = threads.threads.find(({id}) => id === stack.threadId);
  return thread && total > 1 ? `${nameOf(thread)}, 1 of ${total} threads` : null;
}
