// What to do when there is nothing to see.

import {nameOf} from '../program/deadlock.js';
import {allWait} from '../program/status.js';
import {byId, el} from './dom.js';
import {place} from './words.js';

export function createEmpty(store) {
  const view = byId('empty');
  store.watch(['active', 'place', 'link', 'last', 'session', 'role', 'now'], ({active, place: shown, link, last, session, role, now}) => {
    const runs = active && session !== null && session.state !== 'Paused';
    const show = shown === null && (runs || (link.status === 'open' && !active));
    view.hidden = !show;
    byId('source').hidden = show;
    if (show) view.replaceChildren(...(runs ? running(role, now) : words(last)));
  });
}

/** @param {string | null} role @param {import('../program/now.js').Look | null} now */
function running(role, now) {
  if (now?.deadlocks.length) return deadlocked(now.deadlocks);
  const how = now && allWait(now)
    ? 'Every thread waits: Pause stops the first one that goes on. “Go to…” opens a file of it, for a breakpoint.'
    : 'Pause stops it where it is. “Go to…” opens a file of it, for a breakpoint.';
  return [
    el('h3', {}, 'The program runs'),
    el('p', {}, 'It has not stopped yet. Where it stops, its source is shown here.'),
    ...(role === 'control' ? [el('p', {}, how)] : []),
  ];
}

/** @param {import('../program/now.js').ThreadNow[][]} deadlocks */
function deadlocked(deadlocks) {
  const lines = deadlocks.flat().map((thread) =>
    el('li', {}, `${nameOf(thread)}${thread.location ? ` at ${place(thread.location)}` : ''} waits for ${thread.waitsFor ?? 'another'}`));
  return [
    el('h3', {}, 'The program is dead-locked'),
    el('p', {}, 'Each of these threads waits for the next. None of them goes on by itself, so Pause has nothing to stop.'),
    el('ul', {className: 'waiting'}, ...lines),
    el('p', {}, 'A row of “Threads” leads to where it is.'),
  ];
}

function words(last) {
  const parts = [
    el('h3', {}, last ? 'The debug session has ended' : 'No debug session yet'),
    last?.problem ? el('p', {}, last.problem) : null,
    el('p', {}, 'This page follows the session as soon as one starts; there is nothing to reload.'),
    el('p', {}, 'Ask the agent that is connected to this server to debug a program:'),
    el('blockquote', {}, 'Launch app.py under the debugger, stop where the total is wrong, and tell me why.'),
    el('p', {}, 'or call the tool yourself from any MCP client:'),
    el('pre', {}, 'debug_launch {"program": "app.py"}'),
  ];
  return parts.filter((part) => part !== null);
}
