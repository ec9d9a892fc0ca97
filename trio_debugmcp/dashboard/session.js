// From resource payloads to what the page shows.

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
    else if (key === 'timeline') this.#events(payload.events);
    else this.#store.update({[key]: payload});
    this.#store.update({freshAt: Date.now()});
  }

  /** After each listing: is there a session? */
  async active(active) {
    const before = this.#store.state;
    if (active) {
      this.#store.update({active: true, last: null});
      return;
    }
    this.#store.update({
      active: false,
      stack: before.stack && {...before.stack, stale: true},
      threads: before.threads && {...before.threads, stale: true},
      freshAt: Date.now(),
    });
    await Promise.all([this.#readLast(), this.#readBreakpoints(), this.#readRest()]);
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
      this.#store.update({stack: null, threads: null, changed: new Map(), place: null, event: null});
      this.#store.update({frames: initialState().frames});
    }
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

  #events(events) {
    const known = this.#store.state.events;
    const first = events[0]?.eventId ?? Infinity;
    const kept = known.filter(({eventId}) => eventId < first);
    // Ids that begin again belong to another server.
    const restarted = (events.at(-1)?.eventId ?? Infinity) < (known.at(-1)?.eventId ?? 0);
    this.#store.update({events: [...(restarted ? [] : kept), ...events].slice(-KEPT_EVENTS)});
  }

  async #readLast() {
    const {lastSession} = await this.#tried('debug_state') ?? {};
    if (lastSession !== undefined) this.#store.update({last: lastSession});
  }

  async #readBreakpoints() {
    const breakpoints = await this.#tried('breakpoint_list');
    if (breakpoints) this.#store.update({breakpoints});
  }

  /** The end of the output and of the events can come after the resources are gone. */
  async #readRest() {
    const {output, events} = this.#store.state;
    const rest = await this.#tried('process_read_output', {since_seq: output.nextSeq, max_bytes: 65536});
    if (rest?.entries.length) this.#output(rest);
    const later = await this.#tried('timeline_query', {after_event_id: events.at(-1)?.eventId ?? 0, count: 1000});
    if (later?.events.length) this.#events(later.events);
  }

  /** What a tool says, or undefined where a server does not have it or is gone. */
  async #tried(name, args = {}) {
    try {
      return await this.call(name, args);
    } catch (error) {
      if (error instanceof ToolError || error instanceof McpError || error instanceof ConnectionLost) return undefined;
      throw error;
    }
  }
}

/** The top frame of the active thread, and the first place on the stack that has a source. */
function followed(stack) {
  const shown = stack.frames.find(({location}) => location.file) ?? stack.frames[0];
  return {
    frames: {threadId: stack.threadId, index: 0, list: stack.frames, locals: stack.locals, following: true},
    ...(shown ? {place: {file: shown.location.file, line: shown.location.line}} : {}),
  };
}
