// The timeline's events, until all that the server has are here. Its resource has only the last ones; what lies between
// them and those that are known already is a gap, which is fetched, the newest part first, and shown as not loaded
// until then.

/**
 * @typedef {object} TimelineEvent
 * @property {number} eventId
 * @property {string} timestamp
 * @property {string} type
 * @property {number | null} threadId
 * @property {any} payload
 *
 * @typedef {{after: number, before: number}} Gap  Events between these two numbers are not here.
 *
 * @typedef {object} Log  What the page knows of what happened.
 * @property {TimelineEvent[]} events  Oldest first.
 * @property {Gap[]} gaps  Oldest first; the server still has these.
 * @property {number} forgotten  How many are too old to be kept, by the server or by this page.
 */

/** As many as the server keeps. */
const KEPT_EVENTS = 10000;

const PAGE = 500;
const PAGE_BYTES = 1_000_000;

export class EventLog {
  /** The lowest number that the server still has. */
  #first = 1;
  #dropped = 0;
  #loading = false;
  /** @type {TimelineEvent[]} */
  #events = [];

  /**
   * @param {(args: object) => Promise<any>} query  Asks timeline_query; undefined when there is no answer.
   * @param {(log: Log) => void} onChange
   */
  constructor(query, onChange) {
    this.query = query;
    this.onChange = onChange;
  }

  /** Forget everything: it may be another server. */
  clear() {
    this.#events = [];
    this.#first = 1;
    this.#dropped = 0;
    this.#publish();
  }

  /**
   * Take what the resource has, and begin to fetch what it has not.
   *
   * @param {{events: TimelineEvent[], totalEvents: number, eventsDropped: number}} payload
   */
  resource({events, totalEvents, eventsDropped}) {
    const last = events.at(-1)?.eventId ?? 0;
    this.#first = Math.max(1, last - (totalEvents - eventsDropped) + 1);
    this.#dropped = eventsDropped;
    this.#add(events);
    return this.load();
  }

  /** Fetch what is missing; one question at a time, however often this is called. */
  async load() {
    if (this.#loading) return;
    this.#loading = true;
    try {
      for (let gap = this.#gaps().at(-1); gap; gap = this.#gaps().at(-1)) {
        if (!(await this.#fetchEndOf(gap))) return;
      }
    } finally {
      this.#loading = false;
    }
  }

  /** Fetch what came after the last event: at the end of a session there is no resource any more. */
  async loadNew() {
    for (;;) {
      const after = this.#events.at(-1)?.eventId ?? 0;
      const found = await this.#asked({after_event_id: after, count: PAGE});
      if (found === null) return;
      if (found.events.length) this.#add(found.events); // or all of it would be drawn anew for nothing
      if (!found.more) break;
    }
    await this.load(); // what is missing below: a page that comes after the end has had no resource either
  }

  /** Fetch the newest part of a gap; return whether anything came of it. @param {Gap} gap */
  async #fetchEndOf({after, before}) {
    const from = Math.max(after, before - 1 - PAGE);
    const found = await this.#asked({after_event_id: from, count: before - 1 - from});
    if (found === null) return false;
    const missed = found.events.filter(({eventId}) => eventId < before);
    // The server numbers without gaps: what it does not have below, it has forgotten.
    const first = missed[0]?.eventId ?? before;
    if (first > from + 1) this.#first = Math.max(this.#first, first);
    this.#add(missed);
    return true;
  }

  /** @param {object} args */
  async #asked(args) {
    const found = await this.query({...args, max_result_bytes: PAGE_BYTES});
    if (!found) return null;
    const {events, total} = found;
    return {events: /** @type {any[]} */ (events), more: total > events.length};
  }

  /** @param {TimelineEvent[]} events */
  #add(events) {
    const last = this.#events.at(-1)?.eventId ?? 0;
    const [low, high] = [events[0]?.eventId ?? 0, Math.min(last, events.at(-1)?.eventId ?? 0)];
    const fillsGap = this.#gaps().some(({after, before}) => low < before && high > after) || low < this.#lowest;
    // Those that are known stay the same objects. Mostly there are only some new ones at the end.
    if (!fillsGap) this.#events = [...this.#events, ...events.filter(({eventId}) => eventId > last)];
    else {
      const known = new Map(events.map((event) => [event.eventId, event]));
      for (const event of this.#events) known.set(event.eventId, event);
      this.#events = [...known.values()].sort((one, other) => one.eventId - other.eventId);
    }
    this.#events = this.#events.slice(-KEPT_EVENTS);
    this.#publish();
  }

  get #lowest() {
    return this.#events[0]?.eventId ?? 0;
  }

  /** Whether there is no room for older ones. */
  get #full() {
    return this.#events.length >= KEPT_EVENTS;
  }

  /** Return what is missing and can be had. @returns {Gap[]} */
  #gaps() {
    const gaps = [];
    let before = this.#full ? this.#events[0].eventId - 1 : 0;
    for (const {eventId} of this.#events) {
      const after = Math.max(before, this.#first - 1);
      if (eventId > after + 1) gaps.push({after, before: eventId});
      before = eventId;
    }
    return gaps;
  }

  #publish() {
    const beyond = (this.#events[0]?.eventId ?? this.#first) - this.#first;
    const forgotten = Math.max(0, this.#dropped + (this.#full ? beyond : Math.min(0, beyond)));
    this.onChange({events: this.#events, gaps: this.#gaps(), forgotten});
  }
}
