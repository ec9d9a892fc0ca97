// What a tool has answered, as the card shows it. Pure.

import {whyPaused} from '../view/words.js';

const META_KEY = 'trio-debugmcp/stop';

/** Keys that have a place of their own on the card; of the others a list is shown. */
const PLACED = new Set(
  'state reason at exception stack locals source stdout stderr log console notes omitted moment timedOut'.split(' '),
);

const LABELS = {
  exitCode: 'exit code',
  pid: 'process',
  show: 'shown',
  mode: 'exception is',
  causes: 'caused by',
  changed: 'data changed',
  session: 'session',
};

/**
 * Return the stop in the result of a tool, or why there is none. Hosts keep `structuredContent` or the text.
 *
 * @param {any} result
 * @returns {{stop?: any, failure?: string, moment?: string, changed?: Record<string, string | null>, control: boolean}}
 */
export function readResult(result) {
  const {moment, changed, control = true} = result?._meta?.[META_KEY] ?? {};
  const text = result?.content?.find((/** @type {any} */ each) => each.type === 'text')?.text ?? '';
  const found = result?.structuredContent ?? parsed(text);
  if (result?.isError || typeof found?.state !== 'string') {
    const error = (found ?? parsed(text))?.error;
    return {failure: error?.message ?? (text || 'The tool gave no answer that can be shown.'), control};
  }
  return {stop: found, moment: moment ?? found.moment, changed, control};
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Say what the program is doing. */
export function headline({state, reason, exception, exitCode, signal, timedOut}) {
  if (state === 'Paused') return `Paused ${whyPaused(exception ? 'Exception' : reason)}`.trim();
  if (state === 'Running') return timedOut ? 'Running: it has not stopped yet' : 'Running';
  if (!reason) return 'No program is being debugged';
  if (signal) return `The program has ended, by ${signal}`;
  return exitCode ? `The program has ended, with exit code ${exitCode}` : 'The program has ended';
}

/** Say where the program is now, of which a card shows an earlier stop. */
export function movedOn({state, reason, at}) {
  if (state === 'Paused') return `The program has moved on: it is now at ${at ?? 'another place'}.`;
  if (state === 'Running') return 'The program has moved on: it is running now.';
  return reason ? 'The program has moved on, and has ended.' : 'The program is not debugged any more.';
}

/** Return the file and the function of a place, `lib/shop.py:24 in visit`. */
export function placeOf(at = '') {
  const [, file = '', line = '', name = ''] = /^(.*?)(?::(\d+))?(?: in (.*))?$/s.exec(at) ?? [];
  return {file, line, name};
}

/**
 * Return the numbered lines of an excerpt: `24>  paid = basket.total()`.
 *
 * @param {string} source
 */
export function linesOf(source) {
  return source.split('\n').map((line) => {
    const [, number = '', mark = '', text = line] = /^(\d+)([> ]?) ?(.*)$/s.exec(line) ?? [];
    return {number, current: mark === '>', text};
  });
}

/**
 * Return the locals that are not what they were at another stop in the same call: their value before, null if new.
 *
 * @param {any} before
 * @param {any} after
 * @returns {Record<string, string | null>}
 */
export function changedSince(before, after) {
  if (before === undefined || callOf(before) !== callOf(after)) return {};
  // Named by a launch, and where there are several: an answer without it is about the only one.
  if (before.session && after.session && before.session !== after.session) return {};
  const [old, now] = [before.locals ?? {}, after.locals ?? {}];
  return Object.fromEntries(
    Object.entries(now).filter(([name, value]) => old[name] !== value).map(([name]) => [name, old[name] ?? null]),
  );
}

/** @param {any} stop */
function callOf({state, thread, at, stack = [], omitted = {}}) {
  const {file, name} = placeOf(at);
  return JSON.stringify([state, thread, file, name, stack.length + (omitted.frames ?? 0)]);
}

/** Return whether two answers show the same stop, as far as that shows without its number. */
export const looksTheSame = (one, other) =>
  ['state', 'reason', 'at', 'stack', 'locals'].every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));

/**
 * Return what has no place of its own, as labels and lines.
 *
 * @param {any} stop
 * @returns {[string, string[]][]}
 */
export const factsOf = (stop) =>
  Object.entries(stop).filter(([key]) => !PLACED.has(key)).map(([key, value]) => [LABELS[key] ?? key, inLines(value)]);

function inLines(value) {
  if (Array.isArray(value)) return value.map(inWords);
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).map(([name, each]) => `${name} = ${inWords(each)}`);
  }
  return [inWords(value)];
}

const inWords = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');
