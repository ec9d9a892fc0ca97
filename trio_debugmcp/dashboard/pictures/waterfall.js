// The calls as a waterfall: a row for each, with the time that its client thought before it, and while it waited for the
// program to stop. Pure.

import {clockWithMilliseconds, duration} from '../view/words.js';
import {callTimes, kindOf} from './call_spans.js';
import {processTimes} from './process_times.js';

/** @typedef {import('./drawing.js').Row} Row @typedef {import('./drawing.js').Span} Span */

/** The latest calls that have a row. */
export const MOST_CALLS = 5000;

/**
 * The waterfall of these events, and where the time went, in seconds.
 *
 * @param {any[]} events
 * @param {(moment: number) => number} place
 * @param {number} now
 */
export function waterfallOf(events, place, now) {
  const all = callTimes(events);
  const running = runningOf(events, now);
  /** When the last call of a client ended. @type {Map<string, number>} */
  const ended = new Map();
  const spent = {thinking: 0, running: 0, calling: 0};
  /** @type {Row[]} */
  const rows = [];
  for (const call of all) {
    const to = call.to ?? now;
    const before = ended.get(call.client);
    const spans = partsOf({...call, to}, running);
    if (before !== undefined && before < call.from && !call.person) {
      spans.unshift({from: before, to: call.from, kind: 'idle', text: 'between calls', says: `${call.client} called nothing for ${duration(call.from - before)}`});
      spent.thinking += call.from - before;
    }
    ended.set(call.client, Math.max(before ?? 0, to));
    for (const {kind, from, to: end} of spans) {
      if (kind === 'running') spent.running += end - from;
      else if (kind !== 'idle') spent.calling += end - from;
    }
    const took = call.to === null ? `in flight for ${duration(to - call.from)}` : duration(to - call.from);
    const moment = clockWithMilliseconds(new Date(call.from * 1000).toISOString());
    rows.push({
      name: call.tool, level: 1, moment: call.event,
      spans: spans.map((each) => ({...each, from: place(each.from), to: place(each.to), moment: each.kind === 'idle' ? undefined : call.event})),
      says: `${call.tool} by ${call.client}, ${took} from ${moment}${call.result ? `: ${call.result}` : ''}`,
    });
  }
  return {rows: rows.slice(-MOST_CALLS), leftOut: Math.max(0, rows.length - MOST_CALLS), spent};
}

/** When any process ran, as intervals that ascend and do not touch. @param {any[]} events @param {number} now */
function runningOf(events, now) {
  const states = processTimes(events).flatMap(({states: each}) => each.filter(({kind}) => kind === 'running'));
  states.sort((one, other) => one.from - other.from);
  /** @type {{from: number, to: number}[]} */
  const merged = [];
  for (const {from, to: end} of states) {
    const [last, to] = [merged.at(-1), end ?? now];
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({from, to});
  }
  return merged;
}

/**
 * A call in the parts in which a program ran, and those in which none did.
 *
 * @param {import('./call_spans.js').CallTime & {to: number}} call
 * @param {{from: number, to: number}[]} running
 * @returns {Span[]}
 */
function partsOf(call, running) {
  const kind = kindOf(call);
  const says = (/** @type {number} */ seconds) => `${call.tool}, ${duration(seconds)}${call.result ? `: ${call.result}` : ''}`;
  /** @type {Span[]} */
  const parts = [];
  const part = (from, to) => parts.push({from, to, kind, text: call.result, says: says(call.to - call.from)});
  let at = call.from;
  let [low, high] = [0, running.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (running[middle].to < at) low = middle + 1;
    else high = middle;
  }
  for (let index = low; index < running.length && running[index].from < call.to; index += 1) {
    const [from, to] = [Math.max(at, running[index].from), Math.min(call.to, running[index].to)];
    if (to <= from) continue;
    if (from > at) part(at, from);
    parts.push({from, to, kind: 'running', text: 'program runs', says: `${call.tool}: the program ran for ${duration(to - from)}`});
    at = to;
  }
  if (at < call.to || parts.length === 0) part(at, call.to);
  return parts;
}
