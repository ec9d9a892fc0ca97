// Tools answer in a few words, for models. These functions make of their answers what the resources would have.

import {BY_A_CLIENT, BY_ITSELF} from './story/ending.js';

const STREAMS = {log: 'tracepoint'};

/** What the page reads of events, where it is null or empty. */
const MISSING = {
  sessionStarted: {parentSessionId: null},
  sessionEnded: {exitCode: null, reason: ''},
  tracepoint: {text: ''},
  toolCalled: {arguments: {}},
};

/** Values that have nothing inside. */
const SIMPLE = /^(-?[\d.]|b?['"]|(?:True|False|None|true|false|null|undefined|nan|inf)\b|\[\]$|\(\)$|\{\}$|set\(\))/;

/**
 * Return the variables of an answer of variables_get; `parent` is the path that was asked for. `total`: how many there are,
 * if these are not all.
 *
 * @param {{variables: Record<string, string>, total?: number}} answer
 * @param {string | null} parent
 * @returns {any[] & {total?: number}}
 */
export function variablesOf({variables, total}, parent = null) {
  const found = Object.entries(variables).map(([name, value]) => ({
    name,
    value,
    path: parent === null ? name : `${parent}${name.startsWith('[') ? '' : '.'}${name}`,
    type: null,
    childCount: SIMPLE.test(value) ? 0 : null,
  }));
  return total === undefined ? found : Object.assign(found, {total});
}

/**
 * Return the frames of an answer of stacktrace_get. A line is `visit shop.py:24 | total = 0`, and below one in the
 * same file `main :31`. `known`: absolute paths, which show from where relative ones start.
 */
export function framesOf({frames}, known = []) {
  let file = null;
  const found = frames.map((line) => {
    const [, words, number, library] = /^(.*?)(?::(\d+))?( \(library\))?(?: \| .*)?$/s.exec(line) ?? ['', line];
    const blank = words.includes('(') ? words.lastIndexOf(' ') : words.indexOf(' ');
    if (blank < words.length - 1) file = blank < 0 ? null : words.slice(blank + 1);
    return {name: words.slice(0, blank < 0 ? undefined : blank), file, line: number ? Number(number) : null, isUserCode: !library};
  });
  const base = startOf(found.map((each) => each.file), known);
  return found.map(({name, file, line, isUserCode}) => ({name, isUserCode, location: {file: absolute(file, base), line}}));
}

/**
 * Return the events in an answer of timeline_query, which leaves out what is null or empty; `known` as above.
 *
 * @param {{events: any[]}} answer
 * @param {(string | null | undefined)[]} known
 */
export function eventsOf({events}, known = []) {
  const base = startOf(events.map(({payload: {location, file} = {}}) => location?.file ?? file), known);
  const whole = (place) => (place?.file ? {...place, file: absolute(place.file, base)} : place);
  return events.map(({threadId = null, payload = {}, ...event}) => {
    const {location = null, ...rest} = payload;
    return {...event, threadId, payload: {...MISSING[event.type], ...whole(rest), location: whole(location)}};
  });
}

/** Return the output in an answer of process_read_output, numbered from `seq` on. */
export const outputOf = ({entries, nextSeq, dropped = 0}, seq) => ({
  entries: entries.flatMap(Object.entries).map(([stream, text], index) => ({
    seq: seq + index,
    stream: STREAMS[stream] ?? stream,
    text,
    time: new Date().toISOString(),
  })),
  nextSeq,
  dropped,
});

/**
 * Return how the last session ended, or null if there was none. `reasons`: those of the ends on the timeline. The notes have
 * more than the one of them that holds: how the exception is known, and what other clients did meanwhile.
 *
 * @param {{state: string, reason?: string, exitCode?: number | null, notes?: string[], exception?: string | null, at?: string | null, stack?: string[]}} answer
 * @param {string[]} reasons
 */
export function endOf({state, reason, exitCode = null, notes = [], exception = null, at = null, stack = []}, reasons = []) {
  if (state !== 'Disconnected' || !reason) return null;
  const byClient = notes.some((note) => DISCONNECTED.test(note)) && reasons.includes('disconnected');
  const why = byClient ? BY_A_CLIENT : notes.find((note) => reasons.some((each) => isShort(each, note)));
  return {exitCode, reason: why ?? BY_ITSELF, exception, at, stack};
}

// The note names the client that has ended the session, where it is not the reader; the reason on the timeline never does.
const DISCONNECTED = /^disconnected( by .+)?$/s;

/** Whether a text of the timeline is this one; long ones are cut there. */
function isShort(short, text) {
  const [, beginning = null] = /^(.*)… \(\+\d+ characters\)$/s.exec(short) ?? [];
  return short === text || (beginning !== null && text.startsWith(beginning));
}

/**
 * Return the frames of the exception that ended a program: `at` is where it was raised, `stack` the frames below that. Files
 * are as the server writes them: relative to where it was started, or absolute.
 *
 * @param {{at?: string | null, stack?: string[]}} end
 */
export function tracebackOf({at, stack = []}) {
  const [, place, name = ''] = /^(.*?)(?: in (.*))?$/s.exec(at ?? '') ?? [];
  if (!/:\d+$/.test(place ?? '')) return [];
  let file = '';
  return [`${name} ${place}`, ...stack].map((line) => {
    const [, words, number] = /^(.*?):(\d+)(?: \(library\))?$/s.exec(line) ?? ['', line, ''];
    const blank = words.indexOf(' ');
    if (blank < words.length - 1) file = words.slice(blank + 1);
    return {name: words.slice(0, Math.max(0, blank)), isUserCode: !line.endsWith('(library)'), location: {file, line: Number(number) || null}};
  });
}

/** Return the breakpoints as they are without a session, by what they were and the lines of breakpoint_list. */
export function withoutSession(before, {breakpoints: lines}) {
  const known = before ?? {breakpoints: [], functionBreakpoints: [], dataBreakpoints: [], exceptionBreakpoints: []};
  const kept = new Map(lines.map((line) => [line.split(' ', 1)[0], line]));
  const pending = (each) => ({
    ...each,
    enabled: !/, disabled\b/.test(kept.get(each.id)),
    verified: false,
    state: /, disabled\b/.test(kept.get(each.id)) ? 'Disabled' : 'Pending',
  });
  const lists = Object.entries(known).filter(([, list]) => Array.isArray(list));
  const ids = new Set(lists.flatMap(([, list]) => list.map(({id}) => id)));
  const added = [...kept].filter(([id]) => !ids.has(id)).map(([id, line]) => pending(parsed(id, line)));
  const all = Object.fromEntries(lists.map(([key, list]) => [key, list.filter(({id}) => kept.has(id)).map(pending)]));
  return {...known, ...all, functionBreakpoints: [...all.functionBreakpoints, ...added]};
}

/** Return a breakpoint that no resource has shown, with its line as its name. */
const parsed = (id, line) => ({id, functionName: line.slice(id.length + 1), hitCount: 0, enabled: true});

/** Return the directory, with a slash, from which the relative files start, as far as it is known. */
function startOf(files, known) {
  for (const file of files) {
    const found = file && !isAbsolute(file) && known.find((each) => each?.endsWith(`/${file}`));
    if (found) return found.slice(0, -file.length);
  }
  return null;
}

const isAbsolute = (file) => /^(\/|[A-Za-z]:[\\/])/.test(file);

const absolute = (file, base) => (file === null || isAbsolute(file) ? file : base === null ? null : base + file);
