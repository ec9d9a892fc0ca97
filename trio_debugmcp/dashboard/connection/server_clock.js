// The server's time of day, by which events are dated: its clock and this computer's may differ.

/** What has just happened shows the difference; the smallest one found has the least of the way in it. */
export class ServerClock {
  /** Milliseconds by which this computer's clock is ahead. @type {number | null} */
  #ahead = null;
  #last = 0;

  /** Look at events that have arrived now; those of the first look may be old. @param {any[]} events @param {number} now */
  look(events, now = Date.now()) {
    const newest = events.at(-1);
    if (newest === undefined) {
      this.#ahead = null;
      this.#last = 0;
      return;
    }
    if (this.#last > 0 && newest.eventId > this.#last) {
      this.#ahead = Math.min(this.#ahead ?? Infinity, now - Date.parse(newest.timestamp));
    }
    this.#last = newest.eventId;
  }

  /** The server's time, in seconds; this computer's while nothing is known of it. */
  seconds(now = Date.now()) {
    return (now - (this.#ahead ?? 0)) / 1000;
  }
}
