// Moments of recorded runs: before a line ran, with the stack and the variables of then. They are shown as stops of the past
// are, from the run's own record; the program, if it lives, stays where it is.

import {isAnswer} from '../connection/mcp.js';

/**
 * What `run_goto` answers as data: `row` is the number of the line, `line.values` what it then did.
 *
 * @typedef {{row: number, line: import('./run_answers.js').BecauseLine, frames: number, thread: number, first: number,
 *   last: number, stack: {function: string, file: string, line: number, row: number}[], variables: Record<string, string>,
 *   has_more: boolean}} Moment
 */

/**
 * `asked`: the number that led there, which may be that of a call, or of a value that the line has written.
 *
 * @typedef {{run: string, process: number | null, asked: string} & Moment} ShownMoment
 */

const OTHER_FRAME = 'Asking for its values…';

export class RunMoments {
  /** Counts what the person goes to: an answer to what is not wanted any more is dropped. */
  #turn = 0;
  /** What is on its way: the turn of it, or 0. */
  #awaited = 0;
  #moves = Promise.resolve();

  /**
   * @param {import('../live_side.js').LiveSide} live
   * @param {import('../program/follow.js').Follow} follow
   * @param {(name: string, args: object) => Promise<any>} call
   */
  constructor(live, follow, call) {
    this.live = live;
    this.follow = follow;
    this.store = live.store;
    this.call = call;
  }

  /** The moment that is shown, or null. @returns {{at: string} & ShownMoment | null} */
  get shown() {
    return this.store.state.past?.moment ?? null;
  }

  /** Whether a moment is shown, or is on its way. */
  get away() {
    return this.shown !== null || this.#awaited > 0;
  }

  /** Show a moment of a run, which is the one that is open; without a number its last line. @param {string | null} at */
  go(at, run = this.store.state.run) {
    return this.goFound(async () => at, run);
  }

  /**
   * Show the moment that `find` returns the number of, unless the person has gone elsewhere meanwhile, or it returns undefined.
   *
   * @param {() => Promise<string | null | undefined>} find
   * @param {{id: string, process: number | null}} [run]  If none is named, the one that is open then.
   */
  async goFound(find, run) {
    const turn = (this.#awaited = this.#turn += 1);
    try {
      const at = await find();
      const of = run ?? this.store.state.run;
      if (at === undefined || of === null || turn !== this.#turn) return;
      await this.#ask({run: of.id, ...(of.process === null ? {} : {process: of.process}), ...(at === null ? {} : {at})});
    } finally {
      if (this.#awaited === turn) this.#awaited = 0;
    }
  }

  /** Move from the moment that is shown. Keys may be pressed faster than moments come. @param {'back' | 'forward' | 'in' | 'out'} move */
  move(move) {
    const turn = this.#turn;
    this.#moves = this.#moves.then(() => {
      const moment = this.shown;
      if (turn !== this.#turn || !moment) return undefined;
      const {run, process, at} = moment;
      return this.#ask({run, ...(process === null ? {} : {process}), at, move});
    });
    return this.#moves;
  }

  /** Let what is on its way be for nothing: the person has gone elsewhere. */
  leave() {
    this.#turn += 1;
    this.#awaited = 0;
  }

  /** @param {{run: string, process?: number, at?: string, move?: string}} args */
  async #ask(args) {
    const turn = this.#turn;
    try {
      const {moment} = await this.call('run_goto', args);
      const asked = args.move ? null : args.at ?? null;
      if (turn === this.#turn) this.#show({...moment, run: args.run, process: args.process ?? null, asked: asked ?? `#${moment.row}`});
    } catch (error) {
      if (!isAnswer(error)) throw error;
      if (turn === this.#turn) this.store.update({notice: error.message});
    }
  }

  /** @param {ShownMoment} moment */
  #show(moment) {
    const past = pastOf(moment);
    const {frames, threads, threadId} = past;
    this.follow.leave();
    this.live.pin({
      past,
      event: null,
      frames: {index: 0, threadId, list: frames, locals: past.locals, following: true, hint: null},
      place: this.#placeOf(past, frames[0]),
      stack: {threadId, frames, total: moment.frames, locals: past.locals, capturedAt: null, stale: true},
      threads: {threads, capturedAt: null, stale: true},
      changed: new Map(),
      watches: this.store.state.watches.map(({expression}) => watchAt(moment, expression)),
    });
  }

  /** Show another frame: as it was before the line that has called. @param {number} index */
  async selectFrame(index) {
    const {past, frames} = this.store.state;
    const frame = frames.list[index];
    if (!frame) return;
    const place = this.#placeOf(past, frame);
    if (index === 0) {
      this.store.update({frames: {...frames, index, locals: past.locals, following: true, hint: null}, place});
      return;
    }
    const selected = {...frames, index, locals: null, following: false, hint: OTHER_FRAME};
    this.store.update({frames: selected, place});
    const found = await this.#variablesAt(past.moment, frame.row);
    if (this.store.state.frames === selected) this.store.update({frames: {...selected, ...found}});
  }

  /** @param {{run: string, process: number | null}} moment @param {number} row */
  async #variablesAt({run, process}, row) {
    try {
      const {moment} = await this.call('run_goto', {run, ...(process === null ? {} : {process}), at: `#${row}`});
      return {locals: localsOf(moment), hint: null};
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return {hint: error.message};
    }
  }

  /** Show a place as it ran. @param {string} file @param {number} line */
  showPlace(file, line) {
    this.store.update({place: this.#placeOf(this.store.state.past, {location: {file, line}})});
  }

  #placeOf({moment}, {location}) {
    return {file: location.file, line: location.line, version: versionOf(moment)};
  }
}

/** What the source is named by whose text is that of a run. @param {{run: string, process: number | null}} of */
export const versionOf = ({run, process}) => `${run} ${process ?? ''}`;

/** A moment as the page shows a stop of the past. @param {ShownMoment} moment */
export function pastOf(moment) {
  const frames = moment.stack.map(({function: name, file, line, row}) =>
    ({name, row, isUserCode: true, location: {file, line, functionName: name}}));
  const {location} = frames[0];
  return {
    moment: {...moment, at: `#${moment.row}`},
    location,
    exception: null,
    frames,
    locals: localsOf(moment),
    threadId: moment.thread,
    threads: [{id: moment.thread, name: threadOf(moment), state: 'Suspended', location}],
    readings: [],
    sources: [],
  };
}

/** A thread of a record has no name, but begins in a function, where the stack is whole. @param {ShownMoment} moment */
function threadOf({thread, stack, frames}) {
  return stack.length === frames ? `${stack[frames - 1].function} (${thread})` : null;
}

/** @param {Moment} moment */
const localsOf = ({variables}) =>
  Object.entries(variables).map(([name, value]) => ({name, value, type: null, path: name, childCount: 0}));

/** @param {Moment} moment @param {string} expression */
function watchAt({variables}, expression) {
  const value = Object.hasOwn(variables, expression) ? variables[expression] : undefined;
  return value === undefined ? {expression, error: 'not a variable of that moment'} : {expression, value, type: null};
}
