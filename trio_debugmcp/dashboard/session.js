// Turns resource payloads into what the page shows.

import {endOf, eventsOf, outputOf, withoutSession} from './answers.js';
import {Changes} from './changes.js';
import {ConnectionLost, McpError, ToolError} from './mcp.js';

export const URIS = {
  session: 'debugger://session',
  breakpoints: 'debugger://breakpoints',
  threads: 'debugger://threads',
  stack: 'debugger://stack',
  output: 'debugger://output',
  timeline: 'debugger://timeline',
};

const KEYS = new Map(Object.entries(URIS).map(([key, uri]) => [uri, key]));
const KEPT_OUTPUT = 2000;
const KEPT_EVENTS = 5000;
const LAST_WORDS_SECONDS = 1.5;

export const initialState = () => ({
  link: {status: 'connecting'},
  server: null,
  role: null,
  active: false,
  session: null,
  last: null,
  breakpoints: null,
  threads: null,
  stack: null,
  output: {entries: [], nextSeq: 0, dropped: 0},
  events: [],
  changed: new Map(),
  frames: {threadId: null, index: 0, list: [], locals: null, following: true},
  place: null,
  event: null,
  watches: [],
  busy: null,
  notice: null,
  freshAt: null,
});

export class SessionView {
  #store;
  #changes = new Changes();
  #sessionKey = null;
  #processName = null;

  /** `call(name, args)` calls a tool of the server. */
  constructor(store, call) {
    this.#store = store;
    this.call = call;
  }

  payload(uri, payload) {
    const key = KEYS.get(uri);
    if (key === 'session') this.#session(payload);
    else if (key === 'stack') this.#stack(payload);
    else if (key === 'output') this.#output(payload);
    else if (key === 'timeline') this.#timeline(payload.events);
    else this.#store.update({[key]: payload});
    this.#store.update({freshAt: Date.now()});
  }

  /** Start afresh after a handshake: it may be another server, or the session may have continued meanwhile. */
  connected() {
    const {link, server, role, watches, ...rest} = initialState();
    this.#sessionKey = null;
    this.#store.update(rest);
  }

  /** Record, after each listing, whether there is a session. */
  async active(active) {
    const before = this.#store.state;
    if (active) {
      const {stack, threads, frames, place, changed} = initialState();
      if (!before.active) this.#store.update({active, last: null, event: null, stack, threads, frames, place, changed});
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
    // The last events of a session follow its end, when there are no notifications any more: read them once, later.
    setTimeout(() => this.#store.state.active || this.#readRest(), LAST_WORDS_SECONDS * 1000);
  }

  /** Follow the program again after looking elsewhere. */
  follow() {
    const {stack} = this.#store.state;
    this.#store.update({event: null, ...(stack ? followed(stack) : {})});
  }

  #session(session) {
    const key = `${session.sessionId} ${session.attachedAt}`;
    if (key !== this.#sessionKey) {
      this.#sessionKey = key;
      this.#changes = new Changes();
    }
    this.#processName = session.processName;
    this.#store.update({session});
  }

  #stack(stack) {
    const before = this.#store.state.stack;
    this.#store.update({stack, changed: this.#changes.since(stack)});
    const another = before?.capturedAt !== stack.capturedAt;
    if (another) this.#store.update({event: null});
    if (another || this.#store.state.frames.following) this.#store.update(followed(stack));
  }

  #output(payload) {
    const {output} = this.#store.state;
    const restarted = payload.nextSeq < output.nextSeq;
    const first = payload.entries[0]?.seq ?? payload.nextSeq;
    const kept = restarted ? [] : output.entries.filter(({seq}) => seq < first);
    this.#store.update({output: {...payload, entries: [...kept, ...payload.entries].slice(-KEPT_OUTPUT)}});
  }

  /** Fetch the events between those that are known and those in the resource, which has only the last ones. */
  #timeline(events) {
    const last = this.#store.state.events.at(-1)?.eventId ?? 0;
    const missing = events.length > 0 && events[0].eventId > last + 1;
    this.#add(events);
    if (missing) this.#fill(last, events[0].eventId);
  }

  async #fill(after, before) {
    const missed = await this.#eventsAfter(after);
    this.#add(missed.filter(({eventId}) => eventId < before));
  }

  async #eventsAfter(after) {
    const found = await this.#tried('timeline_query', {after_event_id: after, count: 1000});
    const {events, session} = this.#store.state;
    const files = events.map(({payload}) => (payload.location ?? payload).file);
    return found ? eventsOf(found, [...files, session?.executablePath]) : [];
  }

  #add(events) {
    const known = new Map(this.#store.state.events.map((event) => [event.eventId, event]));
    for (const event of events) known.set(event.eventId, event);
    const all = [...known.values()].sort((one, other) => one.eventId - other.eventId);
    this.#store.update({events: all.slice(-KEPT_EVENTS)});
  }

  async #readLast() {
    const processName = this.#processName;
    const found = await this.#tried('debug_state');
    const last = found && endOf(found);
    if (last !== undefined) this.#store.update({last: last && {processName, ...last}});
  }

  async #readBreakpoints() {
    const found = await this.#tried('breakpoint_list');
    const {active, breakpoints} = this.#store.state;
    if (found && !active) this.#store.update({breakpoints: withoutSession(breakpoints, found)});
  }

  /** Fetch the end of the output and of the events, which can come after the resources are gone. */
  async #readRest() {
    const {output, events} = this.#store.state;
    const rest = await this.#tried('process_read_output', {since_seq: output.nextSeq, max_bytes: 65536});
    if (rest?.entries.length) this.#output(outputOf(rest, output.nextSeq));
    this.#add(await this.#eventsAfter(events.at(-1)?.eventId ?? 0));
  }

  /** Call a tool, and return its result, or undefined if the server does not have it or is gone. */
  async #tried(name, args = {}) {
    try {
      return await this.call(name, args);
    } catch (error) {
      if (error instanceof ToolError || error instanceof McpError || error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }
}

/** Return the top frame of the active thread, and the first place on the stack that has a source. */
function followed(stack) {
  const shown = stack.frames.find(({location}) => location.file) ?? stack.frames[0];
  return {
    frames: {threadId: stack.threadId, index: 0, list: stack.frames, locals: stack.locals, following: true},
    ...(shown ? {place: {file: shown.location.file, line: shown.location.line}} : {}),
  };
}
