// Tracks over time: each process with its threads, and each client with its calls. Pure.

import {wordsOf, secondsOf} from '../timeline/events.js';
import {clockWithMilliseconds, duration, plural} from '../view/words.js';
import {callTimes, kindOf} from './call_spans.js';
import {processTimes, stateWords} from './process_times.js';

/** Calls of one client at a time that have a track of their own. */
const MOST_LANES = 8;

/** Of more processes than these the threads are folded away at first. */
const MOST_OPEN = 12;

/**
 * @typedef {import('./drawing.js').Row} Row
 * @typedef {import('./drawing.js').Span} Span
 * @typedef {{from: number, to: number, text: string, open: boolean}} Wait  For what a thread was seen to wait, and whether it still does; in seconds.
 * @typedef {{processes: Map<string, string>, names: Map<string, string>, waits: Map<string, Wait[]>}} ThreadFacts  By session, and by session and thread: see `threadKey`.
 */

/** @param {string} session @param {number} thread */
export const threadKey = (session, thread) => `${session} ${thread}`;

const at = (/** @type {number} */ seconds) => clockWithMilliseconds(new Date(seconds * 1000).toISOString());

/**
 * The tracks of these events, up to a moment.
 *
 * @param {any[]} events
 * @param {(moment: number) => number} place
 * @param {number} now
 * @param {ThreadFacts} facts
 * @param {Map<string, boolean>} [closed]  What a person has folded or opened, by the processes.
 * @returns {Row[]}
 */
export function tracksOf(events, place, now, facts, closed = new Map()) {
  const processes = processTimes(events, facts.processes);
  const parents = new Set(processes.map(({parent}) => parent));
  /** Those of which nothing is seen, as a process above is folded. */
  const hidden = new Set();
  const rows = processes.flatMap((process) => {
    const {id, parent, threads} = process;
    const isHidden = parent !== null && hidden.has(parent);
    const isClosed = closed.get(id) ?? (processes.length > MOST_OPEN && !parents.has(id));
    if (isHidden || isClosed) hidden.add(id);
    if (isHidden) return [];
    const [head, ...below] = ofProcess(process, place, now, facts);
    if (threads.size > 0 || parents.has(id)) head.fold = {id, closed: isClosed};
    return isClosed ? [{...head, says: `${head.says}, folded`}] : [head, ...below];
  });
  return [...rows, ...ofClients(events, place, now)];
}

/**
 * @param {import('./process_times.js').ProcessTime} process
 * @param {(moment: number) => number} place
 * @param {number} now
 * @param {ThreadFacts} facts
 * @returns {[Row, ...Row[]]}
 */
function ofProcess(process, place, now, facts) {
  const {id, name, parent, begun, ended, states, threads} = process;
  const spans = states.map((state) => {
    const to = state.to ?? now;
    const words = stateWords(state);
    const says = `${words}, ${duration(to - state.from)} from ${at(state.from)}${state.to === null ? ', until now' : ''}`;
    return {from: place(state.from), to: place(to), kind: state.kind, text: words, says, moment: state.kind === 'paused' ? state.event : undefined};
  });
  const life = `from ${at(begun)} to ${ended === null ? 'now' : at(ended)}`;
  /** @type {Row} */
  const head = {name: `${parent === null ? '' : '↳ '}${name}`, level: 0, spans, says: `Process ${name} (${id}), ${plural(threads.size, 'thread')}, ${life}`};
  return [head, ...[...threads.values()].map((thread) => ofThread(thread, process, spans, place, now, facts))];
}

/**
 * @param {import('./process_times.js').ThreadTime} thread
 * @param {import('./process_times.js').ProcessTime} process
 * @param {Span[]} background
 * @param {(moment: number) => number} place
 * @param {number} now
 * @param {ThreadFacts} facts
 * @returns {Row}
 */
function ofThread({id, begun, ended, stops}, process, background, place, now, facts) {
  const key = threadKey(process.id, id);
  const known = facts.names.get(key);
  const name = known ? `${known} (${id})` : `Thread ${id}`;
  const marks = stops.map((event) => span(place, secondsOf(event), secondsOf(event), 'stop', '', `${wordsOf(event)}, ${at(secondsOf(event))}`, event));
  const waits = (facts.waits.get(key) ?? []).map(({from, to, text}) =>
    span(place, from, to, 'waiting', text, `Seen to wait for ${text}, ${duration(to - from)} from ${at(from)}`));
  const life = `from ${at(begun)} to ${ended === null ? 'now' : at(ended)}`;
  return {
    name, level: 1, background, begin: place(begun), end: place(ended ?? now),
    spans: [...waits, ...marks].sort((one, other) => one.from - other.from),
    says: `${known ? `Thread ${name}` : name} of ${process.name}, ${plural(stops.length, 'stop')}, ${life}`,
  };
}

/** @returns {Span} */
function span(place, from, to, kind, text, says, moment = undefined) {
  return {from: place(from), to: place(to), kind, text, says, moment};
}

/** @param {any[]} events @param {(moment: number) => number} place @param {number} now @returns {Row[]} */
function ofClients(events, place, now) {
  /** @type {Map<string, {lanes: {end: number, spans: Span[]}[], calls: number, beyond: number}>} */
  const clients = new Map();
  for (const call of callTimes(events)) {
    const to = call.to ?? now;
    let client = clients.get(call.client);
    if (!client) clients.set(call.client, (client = {lanes: [], calls: 0, beyond: 0}));
    client.calls += 1;
    let lane = client.lanes.find(({end}) => end <= call.from);
    if (!lane && client.lanes.length < MOST_LANES) client.lanes.push((lane = {end: 0, spans: []}));
    if (!lane) {
      client.beyond += 1;
      continue;
    }
    lane.end = to;
    const says = `${call.tool}, ${call.to === null ? 'in flight for ' : ''}${duration(to - call.from)} from ${at(call.from)}${call.result ? `: ${call.result}` : ''}`;
    lane.spans.push(span(place, call.from, to, kindOf(call), call.tool, says, call.event));
  }
  return [...clients].flatMap(([name, {lanes, calls, beyond}]) =>
    lanes.map(({spans}, index) => ({
      name: index ? '' : name, level: index ? 1 : 0, spans,
      says: index ? `More calls of ${name}, at the same time: ${spans.length}`
        : `Client ${name}, ${plural(calls, 'call')}${beyond ? `, ${beyond} of them, more than ${MOST_LANES} at a time, are not drawn` : ''}`,
    })));
}
