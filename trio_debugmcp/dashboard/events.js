// The timeline's events: the lane of each type, and a line of text for each event.

import {PAGE_NAME} from './mcp.js';
import {baseName, brief, duration, place, whyPaused} from './words.js';

export const LANES = [
  {name: 'Program', types: ['sessionStarted', 'sessionEnded', 'stopped', 'continued', 'stepped']},
  {
    name: 'Breakpoints',
    types: ['breakpointHit', 'tracepoint', 'breakpointSet', 'breakpointChanged', 'breakpointRemoved'],
  },
  {name: 'Exceptions', types: ['exception']},
  {name: 'Output', types: ['output']},
  {name: 'Threads', types: ['threadStarted', 'threadExited', 'moduleLoaded']},
  {name: 'Clients', types: ['toolCalled', 'clientJoined', 'clientLeft']},
];

const LANE_OF = new Map(LANES.flatMap(({types}, index) => types.map((type) => [type, index])));

/** Return the lane of an event's type, or -1 if it has none. */
export const laneOf = ({type}) => LANE_OF.get(type) ?? -1;

export const secondsOf = ({timestamp}) => Date.parse(timestamp) / 1000;

const BOOKKEEPING = new Set([
  'debug_state', 'breakpoint_list', 'process_read_output', 'timeline_query', 'variables_get', 'stacktrace_get',
  'evaluate',
]);

/** Whether an event is a tool call with which a page draws itself; it is not shown. */
export const isBookkeeping = ({payload}) => payload.client === PAGE_NAME && BOOKKEEPING.has(payload.tool);

const WORDS = {
  sessionStarted: (p) => `Session started: ${p.processName ?? p.adapter}`,
  sessionEnded: (p) =>
    p.exitCode === null ? `Session ended: ${p.reason}` : `Program ended with exit code ${p.exitCode}`,
  stopped: (p) => `Stopped ${whyPaused(p.reason)}, ${place(p.location)}`,
  continued: () => 'Continued',
  stepped: () => 'Stepped',
  breakpointSet: (p) => `${p.id} set${at(p)}`,
  breakpointChanged: (p) => `${p.id} changed${at(p)}`,
  breakpointRemoved: (p) => `${p.id} removed`,
  breakpointHit: (p) => `${p.id} hit, ${place(p.location)}`,
  tracepoint: (p) => `${p.id}: ${p.text}`,
  exception: (p) => `${p.exceptionType}: ${p.message ?? ''}`,
  output: (p) => `${p.stream}: ${p.text.trimEnd()}`,
  threadStarted: () => 'Thread started',
  threadExited: () => 'Thread exited',
  moduleLoaded: (p) => `Module ${p.name}`,
  toolCalled: (p) => `${p.client ?? 'someone'} called ${p.tool}, ${p.error ?? duration(p.milliseconds / 1000)}`,
  clientJoined: (p) => `${p.name ?? 'A client'} joined`,
  clientLeft: (p) => `${p.name ?? 'A client'} left`,
};

const at = ({file, line, exceptionType, functionName}) =>
  file ? `, ${baseName(file)}:${line}` : exceptionType || functionName ? `, ${exceptionType ?? functionName}` : '';

/** Describe an event in one line of text. */
export function wordsOf({type, payload}) {
  return brief(WORDS[type]?.(payload) ?? type, 120);
}
