// A list of events that mostly grows at its end: what was made of its beginning still holds then, and only what is new
// has to be looked at. Where events came in between, or so many have fallen off the front that it matters, all begins anew.

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */

/** So many may be gone from the front before all is made anew without them. */
const MOST_GONE = 500;

export class Continued {
  /** @type {TimelineEvent[]} */
  #events = [];
  #gone = 0;

  /**
   * Return the index of the first event that was not there before; 0 where all of it has to be looked at anew.
   *
   * @param {TimelineEvent[]} events
   */
  next(events) {
    const known = this.#events;
    this.#events = events;
    const fresh = indexBehind(events, known.at(-1));
    const fallen = known.length - fresh;
    const isLonger = fresh > 0 && fallen >= 0 && known[fallen] === events[0] && this.#gone + fallen <= MOST_GONE;
    this.#gone = isLonger ? this.#gone + fallen : 0;
    return isLonger ? fresh : 0;
  }
}

/** Return the index behind an event, which is near the end; 0 if it is not there. @param {TimelineEvent[]} events @param {TimelineEvent | undefined} event */
function indexBehind(events, event) {
  if (event === undefined) return 0;
  let index = events.length;
  while (index > 0 && events[index - 1].eventId > event.eventId) index -= 1;
  return events[index - 1] === event ? index : 0;
}
