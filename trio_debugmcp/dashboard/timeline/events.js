// The timeline's events: the lane of each type, and a line of text for each event.

import {PAGE_NAME} from '../connection/mcp.js';
import {baseName, brief, duration, place, whyPaused} from '../view/words.js';

export const LANES = [
  {name: 'Program', types: ['sessionStarted', 'sessionEnded', 'stopped', 'continued', 'stepped']},
  {
    name: 'Breakpoints',
    types: ['breakpointHit', 'tracepoint', 'breakpointSet', 'breakpointChanged', 'breakpointRemoved'],
  },
  {name: 'Exceptions', types: ['exception']},
  {name: 'Output', types: ['output']},
  {name: 'Threads', types: ['threadStarted', 'threadExited', 'moduleLoaded']},
  {name: 'Calls', types: ['toolCalled', 'clientJoined', 'clientLeft', 'held', 'handedBack', 'messageSent', 'asked', 'answered']},
];

const LANE_OF = new Map(LANES.flatMap(({types}, index) => types.map((type) => [type, index])));

/** Return the lane of an event's type, or -1 if it has none. */
export const laneOf = ({type}) => LANE_OF.get(type) ?? -1;

/** When an event was, in seconds; it is asked for at every redraw, and the event keeps it. @param {any} event */
export const secondsOf = (event) => (event.seconds ??= Date.parse(event.timestamp) / 1000);

const BOOKKEEPING = new Set([
  'debug_state', 'breakpoint_list', 'process_read_output', 'timeline_query', 'variables_get', 'stacktrace_get',
  'evaluate', 'evaluate_safe', 'sources_list', 'source_get', 'stop_get', 'why', 'history_get', 'calls_get', 'run_goto',
  'run_compare', 'run_list', 'threads_list', 'tasks_list', 'references_get',
]);

/**
 * Arguments of an evaluation that a person has typed, who waits longer than a watch. By them every page, also one that is
 * opened later, tells it from the evaluations with which a page draws itself: those leave the time out.
 */
export const TYPED = {timeout: 30};

const isTyped = ({tool, arguments: {timeout} = /** @type {any} */ ({})}) => tool === 'evaluate' && timeout === TYPED.timeout;

/** Whether an event is a tool call with which a page draws itself; it is not shown. */
export const isBookkeeping = ({payload}) => payload.client === PAGE_NAME && BOOKKEEPING.has(payload.tool) && !isTyped(payload);

const ENDED = {dismissed: 'dismissed', timedOut: 'no answer in time', cancelled: 'the agent asks no longer', unattended: 'no person is there'};

const WORDS = {
  sessionStarted: (p) => `Session started: ${p.processName ?? p.adapter}`,
  sessionEnded: (p) =>
    p.reason === 'disconnected' ? 'Session ended by a client' :
    p.exitCode === null ? `Session ended: ${p.reason}` : `Program ended with exit code ${p.exitCode}`,
  stopped: (p) => `Stopped ${whyPaused(p.reason)}, ${place(p.location)}${p.stop ? ` · stop ${p.stop}` : ''}`,
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
  held: (p) => `${p.client ?? 'A person'} holds the session`,
  handedBack: (p) => `${p.client ?? 'A person'} ${p.reason === 'disconnected' ? 'left, and holds no longer' : 'handed back'}${p.message ? `: ${p.message}` : ''}`,
  messageSent: (p) => `${p.client ?? 'A person'} to ${p.to.join(', ')}: ${p.message}`,
  asked: (p) => `${p.client ?? 'An agent'} asks: ${p.question}`,
  answered: (p) => (p.outcome === 'answered' ? `${p.client ?? 'A person'} answers: ${p.answer}` : `A question ended: ${ENDED[p.outcome] ?? p.outcome}`),
  clientJoined: (p) => `${p.name ?? 'A client'} joined`,
  clientLeft: (p) => `${p.name ?? 'A client'} left`,
};

const at = ({file, line, exceptionType, functionName}) =>
  file && line ? `, ${baseName(file)}:${line}` : exceptionType || functionName ? `, ${exceptionType ?? functionName}` : '';

/** Describe an event in one line of text. */
export function wordsOf({type, payload}) {
  return brief(WORDS[type]?.(payload) ?? type, 120);
}
