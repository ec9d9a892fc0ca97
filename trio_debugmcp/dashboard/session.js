// Turns resource payloads into what the page shows.

import {endOf} from './answers.js';
import {fetchEarlier, joined} from './output/console.js';
import {EventLog} from './connection/eventlog.js';
import {following} from './program/follow.js';
import {NOBODY} from './people/people.js';
import {ConnectionLost, McpError, ToolError, untilAnswered} from './connection/mcp.js';
import {inFlightOf, storyOf} from './story/story.js';

export const URIS = {
  session: 'debugger://session',
  sessions: 'debugger://sessions',
  breakpoints: 'debugger://breakpoints',
  threads: 'debugger://threads',
  stack: 'debugger://stack',
  output: 'debugger://output',
  timeline: 'debugger://timeline',
};

const KEYS = new Map(Object.entries(URIS).map(([key, uri]) => [uri, key]));
const LAST_WORDS_SECONDS = 1.5;

/** Between two questions for what clients do while there is no session. */
const IDLE_SECONDS = 3;

/** `active` is null, and `last` undefined, until the server has said whether there is a session, and how the last one ended. */
export const initialState = () => ({
  link: {status: 'connecting'},
  server: null,
  role: null,
  active: null,
  chosen: null,
  session: null,
  sessions: null,
  last: undefined,
  breakpoints: null,
  threads: null,
  now: null,
  processor: {},
  fleet: null,
  stack: null,
  output: {entries: [], nextSeq: 0, dropped: 0},
  events: [],
  keptStops: {first: 1, last: 0},
  gaps: [],
  forgotten: 0,
  changed: new Map(),
  follow: following(),
  frames: {threadId: null, index: 0, list: [], locals: null, following: true},
  place: null,
  event: null,
  watches: [],
  busy: null,
  late: null,
  notice: null,
  freshAt: null,
  inputs: [],
  endedHere: false,
  people: NOBODY,
  me: null,
  runs: [],
  run: null,
  path: [],
  runFacts: {},
});

/** What the page shows of a process, while it knows nothing of it yet. */
export function blankProcess() {
  const {stack, threads, now, frames, place, changed} = initialState();
  return {stack, threads, now, frames, place, changed};
}

export class SessionView {
  #store;
  #follow;
  /** @type {string | null} */
  #sessionKey = null;
  #processName = null;
  /** @type {number | undefined} */
  #nextRead;

  /**
   * `call(name, args)` calls a tool of the server; `onOpenedLate(last)` is called on a page that comes after the end of
   * a session, with how that ended.
   */
  constructor(store, call, follow, onOpenedLate = async (_last) => {}) {
    this.#store = store;
    this.#follow = follow;
    this.onOpenedLate = onOpenedLate;
    this.call = call;
    this.log = new EventLog(
      (args) => this.#tried('timeline_query', args),
      (log) => store.update(log),
    );
  }

  payload(uri, payload) {
    const key = KEYS.get(uri);
    if (key === 'session') this.#session(payload);
    else if (key === 'stack') this.#follow.stack(payload, new Map(Object.entries(payload.changed)));
    else if (key === 'output') this.#output(payload);
    else if (key === 'timeline') this.log.resource(payload);
    else if (key !== undefined) this.#store.update({[key]: payload});
    this.#forgetEarlierPlace();
    this.#store.update({freshAt: Date.now()});
  }

  /** A program that has not stopped yet is nowhere: the place that is shown was that of the program before it. */
  #forgetEarlierPlace() {
    const {session, frames, follow, place} = this.#store.state;
    if (place && follow.on && session?.state === 'Running' && frames.list.length === 0) this.#store.update({place: null});
  }

  /** Start afresh after a handshake: it may be another server, or the session may have continued meanwhile. */
  connected() {
    const {link, server, role, watches, people, me, ...rest} = initialState();
    this.#sessionKey = null;
    this.#store.update(rest);
    this.#follow.reset();
    this.log.clear();
  }

  /** Record, after each listing, whether there is a session. */
  async active(active) {
    const before = this.#store.state;
    if (active) {
      if (before.active) return;
      this.#follow.reset();
      this.#store.update({active, last: undefined, endedHere: false, event: null, chosen: null, ...blankProcess()});
      return;
    }
    this.#store.update({
      active: false,
      session: null,
      stack: before.stack && {...before.stack, stale: true},
      threads: before.threads && {...before.threads, stale: true},
      freshAt: Date.now(),
    });
    await Promise.all([this.#readLast(), this.#readBreakpoints(), this.#readRest()]);
    const {last, stack} = this.#store.state;
    if (last && !stack?.frames.length) await this.onOpenedLate(last); // a page that was there has what was seen last
    // The last output and events of a session follow its end, when there are no notifications any more.
    this.#readLater(LAST_WORDS_SECONDS, () => this.#readRest());
  }

  /** Read what has come, and on until there is a session: of what clients do before that there are no notifications. */
  #readLater(seconds, read = () => this.log.loadNew()) {
    clearTimeout(this.#nextRead);
    this.#nextRead = setTimeout(async () => {
      const {active, link} = this.#store.state;
      if (active || link.status !== 'open') return;
      await read();
      const {events, gaps} = this.#store.state;
      this.#readLater(inFlightOf(storyOf(events, gaps)).length > 0 ? LAST_WORDS_SECONDS : IDLE_SECONDS);
    }, seconds * 1000);
  }

  #session(session) {
    const key = `${session.sessionId} ${session.attachedAt}`;
    if (key !== this.#sessionKey) {
      if (this.#sessionKey !== null) this.#store.update({notice: null}); // it was about the program before
      this.#sessionKey = key;
      this.#follow.reset();
    }
    this.#processName = session.processName;
    this.#store.update({session});
  }

  #output(payload) {
    this.#store.update({output: joined(this.#store.state.output, payload)});
  }

  /** Fetch the output from the start, as far as the server still has it. */
  earlierOutput() {
    const ask = (name, args) => this.#tried(name, args);
    return fetchEarlier(ask, () => this.#store.state.output, (output) => this.#store.update({output}));
  }

  async #readLast() {
    const processName = this.#processName;
    const found = await this.#tried('debug_state');
    const last = found ? endOf(found) : null;
    if (!this.#store.state.active) this.#store.update({last: last && {processName, ...last}});
  }

  async #readBreakpoints() {
    const found = await this.#tried('breakpoint_list');
    if (found && !this.#store.state.active) this.#store.update({breakpoints: found});
  }

  /** Fetch the end of the output and of the events, which can come after the resources are gone. */
  async #readRest() {
    const {output} = this.#store.state;
    const rest = await this.#tried('process_read_output', {since_seq: output.nextSeq, max_bytes: 65536});
    if (rest?.entries.length) this.#output(rest);
    await this.log.loadNew();
  }

  /** Call a tool that only reads, and return its result, or undefined if the server does not have it or is gone. */
  async #tried(name, args = {}) {
    try {
      return await untilAnswered(() => this.call(name, args));
    } catch (error) {
      if (error instanceof ToolError || error instanceof McpError || error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }
}
