// A stop of the past as the server has it: what the page shows of its frames, variables and watches. Pure.

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */

export const NOT_READ = 'The locals of this frame were not read at that stop.';

/** The number of the stop that an event is; undefined of other events. @param {TimelineEvent} event @returns {number | undefined} */
export const stopOf = ({type, payload}) => (type === 'stopped' ? payload.stop : undefined);

/** @param {TimelineEvent[]} events @param {string} [sessionId] */
export function lastStop(events, sessionId) {
  for (let index = events.length - 1; index >= 0; index -= 1) {
    if (stopOf(events[index]) && (!sessionId || events[index].payload.sessionId === sessionId)) return events[index];
  }
  return undefined;
}

/**
 * The number of the stop that holds now; 0 while the program runs, after its end, and until the page has it.
 *
 * @param {{active: boolean, session: any, events: TimelineEvent[], stack: any}} state
 */
export function stopNow({active, session, events, stack}) {
  if (!active || session?.state !== 'Paused') return 0;
  const last = lastStop(events, session.sessionId)?.payload;
  const {file = null, line = null} = session.currentLocation ?? {};
  const isHere = (last?.location?.file ?? null) === file && (last?.location?.line ?? null) === line;
  return (isHere && last?.stop) || (stack?.stale === false && stack.stop) || 0;
}

/**
 * The number of the stop before one; 0 if none is kept there. From now (0) it is the last one of all processes. The stop
 * that holds now in the process that is shown is none of the past.
 *
 * @param {number} from
 * @param {{first: number, last: number, current: number}} kept
 */
export function stopBefore(from, {first, last, current}) {
  const before = from ? from - 1 : last;
  const number = before === current ? before - 1 : before;
  return number >= Math.max(1, first) ? number : 0;
}

/** The number of the stop after one; 0 for now. @param {number} from @param {{last: number, current: number}} kept */
export function stopAfter(from, {last, current}) {
  const number = from + 1 === current ? from + 2 : from + 1;
  return from && number <= last ? number : 0;
}

/** The frame whose source is shown first: the top one that has any. */
export const shownFrame = (frames) => frames.find(({location}) => location.file) ?? frames[0];

/** What is shown of a frame of the thread that has stopped. */
export function frameOf(past, index) {
  const frames = {index, threadId: past.threadId};
  const isLocals = ({of, path, scope}) => of === 'variables' && path === null && scope !== 'globals';
  const found = index === 0 ? past.locals : readingOf(past, frames, isLocals);
  const locals = found?.map((each) => asRead(past, frames, each)) ?? null;
  return {index, locals, following: index === 0, hint: locals ? null : NOT_READ};
}

/** The variables of all readings of a frame that are wanted, in the order in which they stood. */
export function readingOf(past, {threadId, index}, wanted) {
  const here = (past.readings ?? []).filter(
    (reading) => reading.threadId === threadId && reading.frameIndex === index && wanted(reading),
  );
  if (here.length === 0) return undefined;
  const found = new Map();
  for (const {variables} of here.sort((one, other) => one.start - other.start)) {
    for (const each of variables) found.set(each.path ?? each.name, each);
  }
  return [...found.values()];
}

/** A variable that can be opened only if it was at that stop. */
export const asRead = (past, frames, variable) =>
  readingOf(past, frames, ({of, path}) => of === 'variables' && path === variable.path) ? variable : {...variable, childCount: 0};

/** A watch as it was: its value if it was evaluated at that stop in the top frame. */
export function watchAt(past, expression) {
  const reading = (past.readings ?? []).findLast(
    ({of, path, frameIndex}) => of === 'value' && path === expression && frameIndex === 0,
  );
  const local = past.locals?.find(({path}) => path === expression);
  const found = reading?.variables[0] ?? local;
  return found ? {expression, value: found.value, type: found.type} : {expression, error: 'not evaluated at that stop'};
}
