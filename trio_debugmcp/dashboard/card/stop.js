// A stop as the card shows it: made of the data that the server adds for the card. Pure.

import {exceptionWhole, place, whyPaused} from '../view/words.js';

const META_KEY = 'trio-debugmcp/stop';

/** Keys of an answer in words that have a place of their own on the card; of the others a list is shown. */
const PLACED = new Set('state reason at exception notes moment timedOut exitCode signal'.split(' '));

/**
 * @typedef {object} Shown  A stop as the card shows it.
 * @property {any} stop  What it is made of.
 * @property {string} at
 * @property {string} file
 * @property {string} exception
 * @property {{line: number, text: string, current: boolean}[]} source
 * @property {[string, string][]} locals
 * @property {string[]} frames
 * @property {{locals?: number, frames?: number}} more  How many are left out.
 * @property {{stream: string, text: string, dropped: number}[]} output
 * @property {[string, string[]][]} facts  What has no place of its own, as labels and lines.
 */

/**
 * Return the stop in the result of a tool, or why there is none. Without what the server has added for the card, there is
 * the answer in words, in `structuredContent` or as text; hosts keep one of these.
 *
 * @param {any} result
 * @returns {{stop?: any, failure?: string, moment?: string, changed?: Record<string, string | null>, control: boolean}}
 */
export function readResult(result) {
  const {stop, moment, changed, control = true} = result?._meta?.[META_KEY] ?? {};
  const text = result?.content?.find((/** @type {any} */ each) => each.type === 'text')?.text ?? '';
  const answer = result?.structuredContent ?? parsed(text);
  if (result?.isError || typeof (stop ?? answer)?.state !== 'string') {
    const error = (answer ?? parsed(text))?.error;
    return {failure: error?.message ?? (text || 'The tool gave no answer that can be shown.'), control};
  }
  return {stop: stop ?? answer, moment: moment ?? answer?.moment, changed, control};
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
export function movedOn(stop) {
  if (stop.state === 'Paused') return `The program has moved on: it is now at ${whereOf(stop) || 'another place'}.`;
  if (stop.state === 'Running') return 'The program has moved on: it is running now.';
  return stop.reason ? 'The program has moved on, and has ended.' : 'The program is not debugged any more.';
}

/** Where the program is, `shop.py:24 in visit`; an answer in words says it itself. */
export function whereOf({location, at = ''}) {
  if (!location) return at;
  return `${place(location)}${location.functionName ? ` in ${location.functionName}` : ''}`;
}

/** Whether a stop is data, not an answer in words. */
const isData = (stop) => Array.isArray(stop.frames);

/** @param {any} stop @returns {Shown} */
export const shownOf = (stop) => (isData(stop) ? ofData(stop) : ofWords(stop));

function ofData(stop) {
  const {location, exception, source, frames, locals, output, outputDropped} = stop;
  const own = locals ?? [];
  const streams = [...new Set([...Object.keys(outputDropped), ...output.map((/** @type {any} */ each) => each.stream)])];
  return {
    stop,
    at: whereOf(stop),
    file: location?.file ?? '',
    exception: exception ? exceptionWhole(exception) : '',
    source,
    locals: own.map(({name, value}) => [name, value]),
    frames: frames.map((/** @type {any} */ {name, location: {file, line}, isUserCode}) =>
      `${name} ${file ? place({file, line}) : ''}${isUserCode ? '' : ' (library)'}`.trim()),
    more: {locals: stop.totalLocals - own.length, frames: stop.totalFrames - frames.length},
    output: streams.map((stream) => ({
      stream,
      text: output.filter((/** @type {any} */ each) => each.stream === stream).map((/** @type {any} */ each) => each.text).join(''),
      dropped: outputDropped[stream] ?? 0,
    })),
    facts: factsOf(stop),
  };
}

/** What has no place of its own, as labels and lines. @returns {[string, string[]][]} */
function factsOf(stop) {
  const named = (/** @type {any} */ {name, value}) => `${name} = ${value}`;
  /** @type {[string, string[]][]} */
  const facts = [
    ['breakpoints', stop.breakpointIds],
    ['exception is', [stop.exception?.breakMode === 'always' ? null : stop.exception?.breakMode]],
    ['handling', [stop.handling]],
    ['caused by', stop.causes.map(({way, exception, location}) => `${way}: ${exception}${location ? `, at ${whereOf({location})}` : ''}`)],
    ['data changed', stop.dataChanges.map(({expression, before, after}) => `${expression} = ${before ?? '?'} -> ${after ?? '?'}`)],
    ['returned', stop.returned.map(named)],
    ['instruction', [stop.instruction]],
    ['shown', stop.show.map(({expression, value, error}) => `${expression} = ${error ?? value ?? 'done'}`)],
    ['threads', stop.threads.map(({id, name, location, waitsFor, state}) =>
      [id, name, location && whereOf({location}), waitsFor ? `waits for ${waitsFor}` : state.toLowerCase()].filter(Boolean).join(' '))],
    ['listening', [stop.listening && `${stop.listening.address}, ${stop.listening.connected} connected`]],
    ['sessions', stop.sessions.map(({sessionId, processName, state}) => [sessionId, processName, state].filter(Boolean).join(' '))],
    ['session', [stop.sessionId]],
    ['process', [stop.processId && String(stop.processId)]],
  ];
  return facts.map(([label, lines]) => /** @type {[string, string[]]} */ ([label, lines.filter(Boolean)])).filter(([, lines]) => lines.length);
}

/** An answer in words as it stands, of which nothing is taken apart. */
function ofWords(stop) {
  const facts = Object.entries(stop).filter(([key]) => !PLACED.has(key)).map(([key, value]) => [key, inLines(value)]);
  const none = {file: '', source: [], locals: [], frames: [], more: {}, output: []};
  return {stop, at: stop.at ?? '', exception: stop.exception ?? '', ...none, facts: /** @type {[string, string[]][]} */ (facts)};
}

function inLines(value) {
  if (Array.isArray(value)) return value.map(inWords);
  if (value !== null && typeof value === 'object') return Object.entries(value).map(([name, each]) => `${name} = ${inWords(each)}`);
  return [inWords(value)];
}

const inWords = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');

/**
 * Return the locals that are not what they were at another stop in the same call: their value before, null if new.
 *
 * @param {any} before
 * @param {any} after
 * @returns {Record<string, string | null>}
 */
export function changedSince(before, after) {
  if (!before || !isData(before) || !isData(after) || callOf(before) !== callOf(after)) return {};
  const old = new Map(before.locals?.map(({name, value}) => [name, value]));
  const now = (after.locals ?? []).filter(({name, value}) => old.get(name) !== value);
  return Object.fromEntries(now.map(({name}) => [name, old.get(name) ?? null]));
}

/** @param {any} stop */
const callOf = ({state, sessionId, threadId, location, totalFrames}) =>
  JSON.stringify([state, sessionId, threadId, location?.file, location?.functionName, totalFrames]);

/** Return whether two answers in words show the same stop, as far as that shows without its number. */
export const looksTheSame = (one, other) =>
  ['state', 'reason', 'at', 'stack', 'locals'].every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));
