// What to do when there is nothing to see.

import {nameOf} from '../program/deadlock.js';
import {allWait, isOver} from '../program/status.js';
import {placeOf, rowsOf} from '../program/tasks.js';
import {byId, el} from './dom.js';
import {place} from './words.js';

/** Lines on what a program waits for; the panels have all of it. */
const MOST_LINES = 6;

/** @param {import('../store.js').Store} store @param {(id: string) => void} openRun */
export function createEmpty(store, openRun) {
  const view = byId('empty');
  store.watch(['active', 'place', 'link', 'last', 'session', 'role', 'now', 'runs', 'events'], (state) => {
    const {active, place: shown, link, last, session, role, now} = state;
    const runs = active && session !== null && session.state !== 'Paused';
    const show = shown === null && (runs || (link.status === 'open' && isOver(state)));
    byId('source').hidden = show;
    view.hidden = !show;
    if (!show) return;
    const nodes = runs ? running(role, now) : words(last, last && runOf(state), openRun);
    // What is drawn again each second cannot be pressed, nor read.
    if (nodes.map(({outerHTML}) => outerHTML).join('') !== view.innerHTML) view.replaceChildren(...nodes);
  });
}

/** The recorded run of the session that has ended. @param {{runs: any[], events: any[]}} state */
function runOf({runs, events}) {
  const ended = events.findLast(({type}) => type === 'sessionEnded')?.payload.sessionId;
  return runs.findLast(({session, state}) => session === ended && state === 'Recorded') ?? null;
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
    ...(now ? [el('ul', {className: 'waiting'}, ...waitsOf(now).map((line) => el('li', {}, line)))] : []),
  ];
}

/** What its tasks wait for, those that are most first; without any, its threads. @param {import('../program/now.js').Look} now */
function waitsOf({tasks, threads}) {
  const lines = tasks.length > 0
    ? rowsOf(tasks).sort((one, other) => other.names.length - one.names.length).map(({task, names}) =>
      waitInWords(names.length > 1 ? `${names.length} tasks` : task.name, placeOf(task), task, names.length > 1))
    : threads.map((thread) => waitInWords(nameOf(thread), thread.location, thread));
  const more = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** @param {string} who @param {any} there @param {{state: string, waitsFor: string | null}} what @param {boolean} [several] */
function waitInWords(who, there, {state, waitsFor}, several = false) {
  const does = waitsFor ? `${several ? 'wait' : 'waits'} for ${waitsFor}` : `${several ? 'are' : 'is'} ${state.toLowerCase()}`;
  return `${who}${there ? ` at ${place(there)}` : ''} ${does}`;
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

/** @param {import('../runs/kept_runs.js').KeptRun} run @param {(id: string) => void} openRun */
function recorded({id, what, exitCode, signal}, openRun) {
  const failed = Boolean(exitCode || signal);
  return [
    el('h3', {}, 'The program has ended, and its run is recorded'),
    el('p', {}, `${what}: each of its moments can be gone to, with the source as it ran and the values there.`),
    el('p', {}, el('button', {type: 'button', className: 'button main', onclick: () => openRun(id)}, failed ? `Why it failed (${id})` : `Open ${id}`)),
    el('p', {}, 'This page follows the session as soon as one starts; there is nothing to reload.'),
  ];
}

/** @param {any} last @param {any} run @param {(id: string) => void} openRun */
function words(last, run, openRun) {
  if (run) return recorded(run, openRun);
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
