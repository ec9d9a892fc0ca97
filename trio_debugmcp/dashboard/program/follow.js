// Following the program: on until a person looks elsewhere, and from then on no stop moves what is shown.
//
// While it is off, the page keeps the stop that it shows; once the program is elsewhere, that stop's stack is out of
// date, as it is while the program runs: nothing is evaluated in its frames, which are no longer there.

/**
 * `behind`: the program is at another stop than the one that is shown. `since`: when the stack was captured that was
 * shown as it went off.
 *
 * @typedef {{on: boolean, behind: boolean, since: string | null}} FollowState
 */

/** @returns {FollowState} */
export const following = () => ({on: true, behind: false, since: null});

export class Follow {
  #store;
  /** What the server has now. @type {{stack: any, changed: Map<string, any>} | null} */
  #live = null;

  /** @param {import('../store.js').Store} store */
  constructor(store) {
    this.#store = store;
  }

  /** Follow from the beginning: another session, or another server. */
  reset() {
    this.#live = null;
    this.#store.update({follow: following()});
  }

  /** Take a new stack; `changed` is what differs in it from the stop before. */
  stack(stack, changed) {
    this.#live = {stack, changed};
    const {follow, frames, stack: shown} = this.#store.state;
    if (follow.on) {
      if (shown?.capturedAt !== stack.capturedAt) this.#store.update({event: null});
      this.#store.update({stack, changed, ...topOf(stack)});
    } else if (shown === null || shown.capturedAt === stack.capturedAt) {
      this.#store.update({stack, changed, ...(frames.following ? {frames: topOf(stack).frames} : {})});
    } else if (!follow.behind) {
      this.#store.update({stack: {...shown, stale: true}, follow: {...follow, behind: true}});
    }
  }

  /** Stop following: the person looks at something else. */
  leave() {
    const {follow, stack} = this.#store.state;
    if (follow.on) this.#store.update({follow: {on: false, behind: false, since: stack?.capturedAt ?? null}});
  }

  /** Show the program again, wherever it is now. */
  back() {
    this.#store.update({event: null, follow: following()});
    this.#showLive();
    if (this.#live) this.#store.update(topOf(this.#live.stack));
  }

  /** Show the stop of now, of which the person looks at another part. */
  catchUp() {
    const {follow} = this.#store.state;
    if (!follow.behind) return;
    this.#store.update({follow: {...follow, behind: false}});
    this.#showLive();
  }

  #showLive() {
    if (this.#live) this.#store.update(this.#live);
  }
}

/** Return the top frame of the active thread, and the first place on the stack that has a source. */
function topOf(stack) {
  const shown = stack.frames.find(({location}) => location.file) ?? stack.frames[0];
  return {
    frames: {threadId: stack.threadId, index: 0, list: stack.frames, locals: stack.locals, following: true},
    ...(shown ? {place: {file: shown.location.file, line: shown.location.line}} : {}),
  };
}

/** How often the program has stopped since it is no longer followed; of several, the one to which the page keeps. */
export function stopsSince({events, follow, chosen}) {
  const since = follow.since === null ? -Infinity : Date.parse(follow.since);
  const counts = ({type, payload}) => type === 'stopped' && (chosen === null || payload.sessionId === chosen);
  const stops = events.filter((event) => counts(event) && Date.parse(event.timestamp) >= since).length;
  // A stop is recorded once its stack has been captured: the first one is that of the stack itself.
  return follow.since === null ? stops : Math.max(0, stops - 1);
}
