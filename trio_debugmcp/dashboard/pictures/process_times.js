// Processes and their threads in the order of time: from when to when each was there, and what it did. Pure.

import {secondsOf, wordsOf} from '../timeline/events.js';

/**
 * Times in seconds; `to` and `ended` are null until its end.
 *
 * @typedef {{kind: 'running' | 'paused', from: number, to: number | null, event: any}} StateTime
 * @typedef {{id: number, begun: number, ended: number | null, stops: any[]}} ThreadTime
 * @typedef {{id: string, name: string, parent: string | null, begun: number, ended: number | null, states: StateTime[], threads: Map<number, ThreadTime>}} ProcessTime
 */

/** @type {Record<string, 'running' | 'paused'>} */
const STATES = {sessionStarted: 'running', stopped: 'paused', continued: 'running', stepped: 'running'};
const OF_THREADS = new Set(['threadStarted', 'threadExited', 'stopped', 'exception']);

/**
 * The processes in the events, those below others behind these. `names` has those that the events do not tell.
 *
 * @param {any[]} events
 * @param {Map<string, string>} [names]
 * @returns {ProcessTime[]}
 */
export function processTimes(events, names = new Map()) {
  /** @type {Map<string, ProcessTime>} */
  const processes = new Map();
  for (const event of events) {
    const {type, payload, threadId} = event;
    if (!payload?.sessionId || !(type in STATES || type === 'sessionEnded' || OF_THREADS.has(type))) continue;
    const process = processOf(processes, event, names);
    if (type in STATES || type === 'sessionEnded') enter(process, event);
    if (threadId !== null && OF_THREADS.has(type)) note(process, threadId, event);
  }
  /** @type {Map<string | null, ProcessTime[]>} */
  const below = new Map();
  for (const each of processes.values()) {
    const parent = each.parent !== null && processes.has(each.parent) ? each.parent : null;
    const siblings = below.get(parent);
    if (siblings) siblings.push(each);
    else below.set(parent, [each]);
  }
  /** @param {string | null} parent @returns {ProcessTime[]} */
  const inOrder = (parent) => (below.get(parent) ?? []).flatMap((each) => [each, ...inOrder(each.id)]);
  return inOrder(null);
}

/** @param {Map<string, ProcessTime>} processes @param {any} event @param {Map<string, string>} names */
function processOf(processes, event, names) {
  const {sessionId, processName = null, parentSessionId = null} = event.payload;
  let process = processes.get(sessionId);
  if (!process || event.type === 'sessionStarted') {
    const parent = parentSessionId === sessionId ? null : parentSessionId;
    process = {id: sessionId, name: processName ?? names.get(sessionId) ?? sessionId, parent, begun: secondsOf(event), ended: null, states: [], threads: new Map()};
    processes.set(sessionId, process);
  }
  return process;
}

/** @param {ProcessTime} process @param {any} event */
function enter(process, event) {
  const moment = secondsOf(event);
  const open = process.states.at(-1);
  if (open && open.to === null) open.to = Math.max(open.from, moment);
  if (event.type !== 'sessionEnded') process.states.push({kind: STATES[event.type], from: moment, to: null, event});
  else {
    process.ended = moment;
    for (const thread of process.threads.values()) thread.ended ??= moment;
  }
}

/** @param {ProcessTime} process @param {number} id @param {any} event */
function note(process, id, event) {
  let thread = process.threads.get(id);
  if (!thread || (event.type === 'threadStarted' && thread.ended !== null)) {
    thread = {id, begun: secondsOf(event), ended: null, stops: thread?.stops ?? []};
    process.threads.set(id, thread);
  }
  if (event.type === 'threadExited') thread.ended = secondsOf(event);
  if (event.type === 'stopped') thread.stops.push(event);
}

/** What a process did in a state, in words. @param {StateTime} state */
export const stateWords = ({kind, event}) => (kind === 'paused' ? wordsOf(event).replace(/^Stopped/, 'Paused') : 'Running');
