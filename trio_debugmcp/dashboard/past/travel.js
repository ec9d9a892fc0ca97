// Where in the past the page is: at a stop that the server keeps, or at a moment of a recorded run. The same keys and buttons
// lead through both.

/** @typedef {import('./history.js').History} History @typedef {import('../runs/run_moments.js').RunMoments} RunMoments */

export class Travel {
  /** @param {History} stops @param {RunMoments} moments */
  constructor(stops, moments) {
    this.stops = stops;
    this.moments = moments;
  }

  /** Whether the past is shown. */
  get on() {
    return this.stops.on;
  }

  /** Whether the past is shown, or is on its way. */
  get away() {
    return this.moments.away || this.stops.away;
  }

  get last() {
    return this.stops.last;
  }

  /** Whether there is something before what is shown; its number, if it is a stop. */
  get before() {
    const moment = this.moments.shown;
    return moment ? Number(moment.row > moment.first) : this.stops.before;
  }

  /** The number of the stop after the one that is shown; of a moment, whether there is one after it. */
  get after() {
    const moment = this.moments.shown;
    return moment ? Number(moment.row < moment.last) : this.stops.after;
  }

  previous() {
    return this.moments.shown ? this.moments.move('back') : this.stops.previous();
  }

  next() {
    return this.moments.shown ? this.moments.move('forward') : this.stops.next();
  }

  /** Show a stop. @param {number} number */
  go(number) {
    this.moments.leave();
    return this.stops.go(number);
  }

  /** Show a moment of a run, of the one that is open if no other is named. @param {string | null} at @param {{id: string, process: number | null}} [run] */
  goMoment(at, run) {
    this.stops.leave();
    return this.moments.go(at, run);
  }

  /** Show the moment that is found, unless the person goes elsewhere meanwhile. @param {() => Promise<string | null | undefined>} find */
  goFound(find) {
    this.stops.leave();
    return this.moments.goFound(find);
  }

  now() {
    this.moments.leave();
    this.stops.now();
  }

  /** @param {import('../connection/eventlog.js').TimelineEvent} event */
  leadsTo(event) {
    const inRun = this.moments.shown !== null;
    this.moments.leave();
    const led = this.stops.leadsTo(event);
    if (!led && inRun) this.now();
    return led;
  }

  /** @param {number} index */
  selectFrame(index) {
    return this.moments.shown ? this.moments.selectFrame(index) : this.stops.selectFrame(index);
  }

  /** @param {number} threadId */
  selectThread(threadId) {
    if (!this.moments.shown) this.stops.selectThread(threadId);
  }

  /** What was read inside of a variable; of a run's variables the texts are all there is. @param {string} path */
  children(path) {
    return this.moments.shown ? [] : this.stops.children(path);
  }

  /** @param {string} file @param {number} line */
  showPlace(file, line) {
    (this.moments.shown ? this.moments : this.stops).showPlace(file, line);
  }
}
