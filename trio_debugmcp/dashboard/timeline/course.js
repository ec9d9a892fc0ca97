// What the timeline draws, in the order of time, each with its place on the axis. It grows as events come: a step adds a few,
// and the thousands before it are not looked at again.

import {Continued} from '../view/continued.js';
import {TimeScale} from '../view/scale.js';
import {isBookkeeping, laneOf, LANES, secondsOf} from './events.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */
/** @typedef {{from: number, to: number}} Span  On the axis. */

const STATES = /** @type {Record<string, 'paused' | 'running'>} */ ({
  sessionStarted: 'running', stopped: 'paused', continued: 'running', stepped: 'running',
});

export class Course {
  #continued = new Continued();
  scale = new TimeScale();
  /** What is shown; those before `first` are no longer kept, and nothing is drawn of them. @type {TimelineEvent[]} */
  shown = [];
  first = 0;
  /** When the program was paused and when it ran, without what holds now. @type {{paused: Span[], running: Span[]}} */
  bands = {paused: [], running: []};
  /** What holds now, and since where. @type {{state: 'paused' | 'running', from: number} | null} */
  open = null;
  /** How long each call took. @type {Span[]} */
  calls = [];
  /** How often all began anew: what was made of it before is of no use then. */
  version = 0;

  #restart() {
    [this.scale, this.shown, this.first] = [new TimeScale(), [], 0];
    [this.bands, this.open, this.calls] = [{paused: [], running: []}, null, []];
    this.version += 1;
  }

  /** How many events are shown. */
  get count() {
    return this.shown.length - this.first;
  }

  /** @param {TimelineEvent[]} events */
  take(events) {
    const fresh = this.#continued.next(events);
    if (fresh === 0) this.#restart();
    const oldest = events[0]?.eventId ?? 0;
    while (this.first < this.shown.length && this.shown[this.first].eventId < oldest) this.first += 1;
    for (let index = fresh; index < events.length; index += 1) {
      if (laneOf(events[index]) >= 0 && !isBookkeeping(events[index])) this.#add(events[index]);
    }
  }

  /** @param {TimelineEvent} event */
  #add(event) {
    const {type, payload} = event;
    const seconds = secondsOf(event);
    this.shown.push(event);
    this.scale.add(seconds);
    const to = this.scale.end;
    if (type === 'toolCalled') this.calls.push({from: this.scale.x(seconds - payload.milliseconds / 1000), to});
    if (payload.parentSessionId || !(type in STATES || type === 'sessionEnded')) return;
    if (this.open) this.bands[this.open.state].push({from: this.open.from, to});
    this.open = type in STATES ? {state: STATES[type], from: to} : null;
  }
}

/** @typedef {{key: number, lane: number, at: number, events: TimelineEvent[]}} Cluster  `at`: on the axis. */

/** Events that would overlap, as one mark. They stay together while the scale stands still. */
export class Clusters {
  /** @type {Cluster[]} */
  all = [];
  /** @type {Cluster[]} */
  #open = new Array(LANES.length);
  #taken = 0;
  #of = '';
  /** Those that events were put into since they were drawn. @type {Set<Cluster>} */
  touched = new Set();

  /**
   * @param {Course} course
   * @param {number} near  On the axis.
   */
  take(course, near) {
    const of = `${course.version} ${near}`;
    if (of !== this.#of) {
      [this.all, this.#open, this.#taken, this.#of] = [[], new Array(LANES.length), course.first, of];
    }
    for (; this.#taken < course.shown.length; this.#taken += 1) {
      const event = course.shown[this.#taken];
      const at = course.scale.at(this.#taken);
      const lane = laneOf(event);
      const open = this.#open[lane];
      if (open && at - open.at < near) open.events.push(event);
      else this.all.push((this.#open[lane] = {key: event.eventId, lane, at, events: [event]}));
      this.touched.add(this.#open[lane]);
    }
    return this.all;
  }
}
