// The agent's story: the calls of all clients with what came of them, grouped by the stop at which they were made.

import {isBookkeeping, wordsOf} from '../timeline/events.js';
import {callOf, finish} from './calls.js';
import {tellChange} from './changes.js';
import {Continued} from '../view/continued.js';

/** @typedef {import('./calls.js').Entry} Entry */

/**
 * A stop, a start or an end, and what was done from then on; `event` is null before the first.
 *
 * `of`: the session that it is about.
 *
 * @typedef {{key: string, title: string, event: any, entries: Entry[], of: string | null}} Chapter
 */

/** Words of the filter that ask for what an entry is, and not for what is written in it. @type {Record<string, (entry: Entry) => boolean>} */
const KINDS = {
  agent: ({person}) => !person,
  person: ({person}) => person,
  failed: ({failed}) => failed,
};

/** Events that begin a chapter. @type {Record<string, (event: any, roots: Set<string>) => boolean>} */
const CHAPTERS = {
  stopped: () => true,
  sessionStarted: ({payload}) => (payload.parentSessionId ?? null) === null,
  sessionEnded: ({payload}, roots) => roots.size === 0 || roots.has(payload.sessionId),
};

/** The story of events; with more of them it is taken up where it was. */
export class Story {
  #continued = new Continued();
  #gaps = '';
  /** @type {Chapter[]} */
  chapters = [];
  /** @type {Map<number, Entry>} */
  #inFlight = new Map();
  /** @type {Set<string>} */
  #roots = new Set();
  /** @type {Set<string>} */
  #files = new Set();
  /** The values of each function at its last stop. @type {Map<string, Map<string, string>>} */
  #values = new Map();
  #last = 0;

  /**
   * Tell the story of these events, which are in order. Between `gaps` there are others that are not loaded yet. Where events
   * are missing besides, they are forgotten: a call that was in flight before may be over.
   *
   * @param {any[]} events
   * @param {{after: number, before: number}[]} [gaps]
   * @returns {Chapter[]}
   */
  tell(events, gaps = []) {
    const holes = JSON.stringify(gaps);
    let fresh = this.#continued.next(events);
    if (holes !== this.#gaps) fresh = 0;
    this.#gaps = holes;
    if (fresh === 0) this.#begin(events[0]?.eventId ?? 0);
    for (const event of events.slice(fresh)) this.#take(event, gaps);
    return this.chapters;
  }

  /** The calls that are not over, the latest first. */
  get inFlight() {
    return [...this.#inFlight.values()].filter(({lost}) => !lost).reverse();
  }

  /** @param {number} first */
  #begin(first) {
    this.chapters = [{key: 'first', title: '', event: null, entries: [], of: null}];
    for (const known of [this.#inFlight, this.#roots, this.#files, this.#values]) known.clear();
    this.#last = first;
  }

  /** @param {any} event @param {{after: number, before: number}[]} gaps */
  #take(event, gaps) {
    const {type, payload, eventId} = event;
    const last = this.#last;
    this.#last = eventId;
    if (eventId > last + 1 && !gaps.some(({after, before}) => before > last && after < eventId)) {
      for (const entry of this.#inFlight.values()) entry.lost = true;
    }
    if (type === 'toolStarted' || type === 'toolCalled') {
      if (!isBookkeeping(event)) this.#call(event);
      return;
    }
    if (payload.location?.file) this.#files.add(payload.location.file);
    if (type === 'sessionStarted' && CHAPTERS.sessionStarted(event, this.#roots)) this.#roots.add(payload.sessionId);
    if (CHAPTERS[type]?.(event, this.#roots)) {
      const chapter = {key: `chapter-${event.eventId}`, title: wordsOf(event), event, entries: [], of: payload.sessionId ?? null};
      if (type === 'sessionStarted') take(chapter, this.chapters, this.#inFlight);
      this.chapters.push(chapter);
    }
    if (type === 'stopped' && payload.location?.file) for (const entry of this.#inFlight.values()) entry.place = payload.location;
  }

  /** @param {any} event  The start of a call, or its end. */
  #call(event) {
    const {type, payload} = event;
    const known = this.#inFlight.get(payload.call);
    if (type === 'toolStarted') {
      if (known) { // recorded by a server that repeated it when a session began
        known.lost = false;
        return;
      }
      const entry = callOf(event, this.#files);
      this.#inFlight.set(payload.call, entry);
      this.#add(entry);
      return;
    }
    const entry = known ?? callOf(event, this.#files);
    const before = sessionOf(entry);
    this.#inFlight.delete(payload.call);
    finish(entry, event);
    if (!known) this.#add(entry);
    else if (sessionOf(entry) !== before) move(entry, this.chapters);
    tellChange(entry, this.#values);
  }

  /** @param {Entry} entry */
  #add(entry) {
    entry.after = this.chapters.length;
    chapterOf(entry, this.chapters).entries.push(entry);
  }
}

/** Tell the story of all these events. @param {any[]} events @param {{after: number, before: number}[]} [gaps] */
export const storyOf = (events, gaps = []) => new Story().tell(events, gaps);

/** Which of several sessions a call is about. @param {Entry} entry @returns {string | null} */
const sessionOf = ({event}) => event.payload.sessionId ?? null;

/**
 * The chapter of a call: the last one of the session that it is about, when it began. Several processes stop in turns.
 *
 * @param {Entry} entry
 * @param {Chapter[]} chapters
 */
function chapterOf(entry, chapters) {
  const session = sessionOf(entry);
  const own = session === null ? undefined
    : chapters.findLast(({of}, index) => index < entry.after && of === session) ?? chapters.find(({of}) => of === session);
  return own ?? chapters[entry.after - 1];
}

/** Put a call that turned out to be about another session into its chapter. @param {Entry} entry @param {Chapter[]} chapters */
function move(entry, chapters) {
  const before = chapters.findLast(({entries}) => entries.includes(entry));
  before?.entries.splice(before.entries.indexOf(entry), 1);
  const {entries} = chapterOf(entry, chapters);
  const later = entries.findIndex(({began}) => began > entry.began);
  entries.splice(later < 0 ? entries.length : later, 0, entry);
}

/** The calls by which sessions begin; what they are about comes after them. */
const STARTING = new Set(['debug_launch', 'debug_attach', 'debug_restart', 'debug_listen']);

/**
 * Take the call that has started a session out of the chapter in which it began: of another program, it may be.
 *
 * @param {Chapter} chapter
 * @param {Chapter[]} chapters
 * @param {Map<number, Entry>} inFlight
 */
function take(chapter, chapters, inFlight) {
  const starting = new Set([...inFlight.values()].filter(({title}) => STARTING.has(title)));
  for (const before of starting.size ? chapters : []) {
    if (!before.entries.some((entry) => starting.has(entry))) continue;
    chapter.entries.push(...before.entries.filter((entry) => starting.has(entry)));
    before.entries = before.entries.filter((entry) => !starting.has(entry));
  }
}

/** The calls that are not over, the latest first. @param {Chapter[]} chapters */
export const inFlightOf = (chapters) =>
  chapters.flatMap(({entries}) => entries.filter(({seconds, lost}) => seconds === null && !lost)).reverse();

/**
 * Whether an entry has all these words, in any part; “failed”, “agent” and “person” ask for the calls that are so.
 *
 * @param {Entry} entry
 * @param {string} wanted
 */
export function matches(entry, wanted) {
  const {who, title, words, say, result} = entry;
  const whole = [who, title, words, say ?? '', result].join(' ').toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => KINDS[word]?.(entry) ?? whole.includes(word));
}
