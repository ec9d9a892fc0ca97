// Back in time: any stop that the server keeps is shown with its source, stack and locals as they were. The panels draw
// what is pinned in the store; what is now is kept beside it meanwhile, and is put back by `now`.

import {isAnswer} from '../connection/mcp.js';
import {asRead, frameOf, lastStop, NOT_READ, readingOf, shownFrame, stopAfter, stopBefore, stopNow, stopOf, watchAt} from './moment.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */

/** Stops that need not be fetched again; the server keeps 200. */
const KEPT = 60;

/** Texts of files, of all versions. */
const KEPT_TEXTS = 20;

export class History {
  /** @type {Map<number, any>} */
  #stops = new Map();
  /** @type {Map<string, any>} */
  #texts = new Map();
  /** The number of the stop that was asked for last, which is shown or on its way; 0 for now. */
  #wanted = 0;

  /**
   * @param {import('../live_side.js').LiveSide} live
   * @param {import('../program/follow.js').Follow} follow
   * @param {(name: string, args: object) => Promise<any>} call
   * @param {(uri: string) => Promise<any>} readJson
   */
  constructor(live, follow, call, readJson) {
    this.live = live;
    this.follow = follow;
    this.store = live.store;
    this.call = call;
    this.readJson = readJson;
  }

  get on() {
    return Boolean(this.store.state.past);
  }

  /** Whether a stop of the past is shown, or is on its way. */
  get away() {
    return this.#from > 0;
  }

  /** The number of the last stop there was: the timeline has it first, and forgets those of the program before. */
  get last() {
    const {events, keptStops} = this.store.state;
    return Math.max(keptStops.last, lastStop(events)?.payload.stop ?? 0);
  }

  /** The number of the stop that holds now; 0 while the program runs, and after the end. */
  get current() {
    return stopNow(this.live.state);
  }

  /** The number of the stop that is shown, of the past or of now. */
  get shown() {
    return this.store.state.past?.stop ?? this.current;
  }

  /** The number of the stop before the one that is shown; 0 if there is none, or it is not kept. */
  get before() {
    const {last, current} = this;
    return stopBefore(this.#from, {first: this.store.state.keptStops.first, last, current});
  }

  /** The number of the stop after the one that is shown; 0 for now. */
  get after() {
    return stopAfter(this.#from, this);
  }

  /** Where a further step in time starts: keys may be pressed faster than stops come. */
  get #from() {
    return this.#wanted || (this.store.state.past?.stop ?? 0);
  }

  /** Forget all stops: it may be another server. */
  forget() {
    this.#wanted = 0;
    this.live.release({past: null});
    this.#stops.clear();
    this.#texts.clear();
  }

  previous() {
    if (this.before) return this.go(this.before);
    return undefined;
  }

  next() {
    if (!this.away) return undefined;
    if (this.after) return this.go(this.after);
    return this.now();
  }

  /** Show a stop. Of several that are asked for at once only the last one is shown. @param {number} number */
  async go(number) {
    this.#wanted = number;
    let found = this.#stops.get(number);
    if (!found) {
      try {
        found = await this.#fetch(number);
      } catch (error) {
        if (!isAnswer(error)) throw error;
        if (this.#wanted === number) this.#show({stop: number, problem: error.message});
        return;
      }
      if (number !== this.current) this.#keep(number, found);
    }
    if (this.#wanted === number) this.#show(found);
  }

  /** Let what is on its way be for nothing: the person has gone elsewhere. */
  leave = () => void (this.#wanted = 0);

  /** Show what is now. */
  now() {
    this.#wanted = 0;
    this.live.release({past: null});
    this.follow.back();
  }

  /** Show the stop that an event is about, and return whether it is about one of the past. @param {TimelineEvent} event */
  leadsTo(event) {
    const stop = stopOf(event);
    if (stop && stop !== this.current) {
      this.go(stop);
      return true;
    }
    if (this.away) this.now();
    return false;
  }

  async #fetch(number) {
    // The resource, whose reads leave no trace in the timeline; it is there as long as a session is.
    if (this.store.state.active) return await this.readJson(`debugger://stop/${number}`);
    return this.#asked({stop: number});
  }

  /** @param {number} number @param {any} found */
  #keep(number, found) {
    this.#stops.set(number, found);
    if (this.#stops.size > KEPT) this.#stops.delete(/** @type {number} */ (this.#stops.keys().next().value));
  }

  /** @param {any} past  A stop as the server has it, or its number with a problem. */
  #show(past) {
    const {events, watches} = this.store.state;
    const event = events.find((each) => stopOf(each) === past.stop) ?? null;
    if (past.problem) this.learn();
    const frames = past.problem
      ? {threadId: null, index: 0, list: [], locals: null, following: false, hint: past.problem}
      : {...frameOf(past, 0), threadId: past.threadId, list: past.frames};
    this.follow.leave();
    this.live.pin({
      past: past.problem ? past : this.#withSource(past),
      event,
      frames,
      place: past.problem ? null : this.#placeOf(past, shownFrame(past.frames)),
      stack: {
        threadId: past.threadId ?? null,
        frames: past.frames ?? [],
        total: past.totalFrames ?? 0,
        locals: past.locals ?? null,
        capturedAt: past.capturedAt ?? null,
        stale: true,
      },
      threads: {threads: past.threads ?? [], capturedAt: past.capturedAt ?? null, stale: true},
      changed: new Map(Object.entries(past.changed ?? {})),
      watches: watches.map(({expression}) => watchAt(past, expression)),
    });
  }

  /** Learn which stops are kept: those of the program before are not on the timeline. */
  async learn() {
    try {
      await this.#asked({});
    } catch (error) {
      if (!isAnswer(error)) throw error; // none is kept
    }
  }

  async #asked(which) {
    const {stop, ...kept} = await this.call('stop_get', which);
    this.store.update({keptStops: {first: kept.first, last: kept.last}});
    return stop;
  }

  // --- Looking around at that moment ----------------------------------------------------------------------------------

  /** @param {number} index */
  selectFrame(index) {
    const {past, frames} = this.store.state;
    const frame = frames.list[index];
    if (!frame) return;
    const own = frames.threadId === past.threadId;
    const found = own ? frameOf(past, index) : {index, locals: null, following: false, hint: NOT_READ};
    this.store.update({frames: {...frames, ...found}, place: this.#placeOf(past, frame)});
  }

  /** @param {number} threadId */
  selectThread(threadId) {
    const {past} = this.store.state;
    const thread = past.threads?.find(({id}) => id === threadId);
    const {location} = thread ?? {};
    const list = threadId === past.threadId ? past.frames
      : location ? [{index: 0, name: location.functionName ?? '', location, isUserCode: true}] : [];
    this.store.update({frames: {threadId, index: 0, list, locals: null, following: false, hint: NOT_READ}});
    this.selectFrame(0);
  }

  /** What was read inside of a variable of the frame that is shown. @param {string} path */
  children(path) {
    const {past, frames} = this.store.state;
    const found = readingOf(past, frames, (reading) => reading.of === 'variables' && reading.path === path) ?? [];
    return found.map((each) => asRead(past, frames, each));
  }

  /** Show a place in another file: as it ran then, if that is known. @param {string} file @param {number} line */
  showPlace(file, line) {
    this.store.update({place: this.#placeOf(this.store.state.past, {location: {file, line}})});
  }

  /** Say whether the file has changed since, as far as its text was fetched. */
  #withSource(past) {
    const {file, version} = this.#placeOf(past, past) ?? {};
    return {...past, edited: this.#texts.get(`${version} ${file}`)?.changed ?? false};
  }

  #placeOf(past, frame) {
    const {file, line} = frame?.location ?? {};
    if (!file) return null;
    return {file, line, version: past.sources?.find((source) => source.file === file)?.version ?? null};
  }

  /** The text of a file as it ran at a stop. @param {string} file @param {string} version @param {number} stop */
  async text(file, version, stop) {
    const key = `${version} ${file}`;
    let found = this.#texts.get(key);
    if (!found) {
      found = await this.call('stop_get', {stop, source: file});
      this.#texts.set(key, found);
      if (this.#texts.size > KEPT_TEXTS) this.#texts.delete(/** @type {string} */ (this.#texts.keys().next().value));
    }
    const {past} = this.store.state;
    if (past?.stop === stop) this.store.update({past: this.#withSource(past)});
    return found.text;
  }
}
