// The frame that the page shows: what calls about it pass, and whether anything can be asked there.

/** The arguments of a call about the frame that is shown; none while the program runs. */
export function frameArguments({frames, stack}) {
  if (stack?.stale !== false || frames.list.length === 0) return {};
  return {frame_index: frames.index, ...(frames.threadId === null ? {} : {thread_id: frames.threadId})};
}

/** What changes when another frame, or the same one at another stop, is shown. */
export const frameKey = ({frames, stack, session}) =>
  `${session?.sessionId} ${session?.attachedAt} ${stack?.capturedAt} ${frames.threadId} ${frames.index}`;

/** The frame that is shown, and its stop, until the program moves: its variables may be set meanwhile. */
export const frameOfStop = ({frames, stack, session}) =>
  stack?.stale === false && frames.list.length > 0
    ? `${session?.sessionId} ${session?.attachedAt} ${stack.stop} ${frames.threadId} ${frames.index}`
    : null;

/** The frame in words, for what is evaluated there. */
export function frameName({frames, stack, follow, session, past}) {
  const now = (follow.behind || past) && session?.state === 'Paused' ? session.currentLocation : null;
  if (now) return `${now.functionName ?? 'the top frame'}, where the program is`; // what is shown is no longer there
  const frame = frames.list[frames.index];
  return stack?.stale === false && frame ? frame.name : 'the main module';
}

/** Whether a text is a path to a variable, such as `order.items[3]`: what can be opened and set. */
export const isPath = (text) => /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*|\[[^[\]]*\])*$/u.test(text);

/** A value that is not all there: cut, as it says at its end, or with a part of which it has the size only. */
export const isCut = (text) => /… \(\+\d+ \w+\)|[[{(]\d+ items?[\]})]/.test(text);
