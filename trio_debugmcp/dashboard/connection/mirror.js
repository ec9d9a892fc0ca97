// Mirrors the server's resources: subscribes once, and reads each again when it is reported to have changed.

import {McpError, Unanswered, untilAnswered} from './mcp.js';

const SCHEME = 'debugger://';

/** A subscription takes long that has no answer by then. */
const SLOW_SECONDS = 2;

/** The resources that every session has for itself, by the last part of their URIs. */
const OF_SESSIONS = new Set(['session', 'threads', 'stack', 'output']);

/** Run `task` one at a time; all requests that come during a run share one more run after it. */
export function coalesced(task) {
  let wanted = false;
  /** @type {Promise<void> | null} */
  let running = null;
  async function loop() {
    try {
      while (wanted) {
        wanted = false;
        await task();
      }
    } finally {
      running = null; // also when one has failed: the next is another
    }
  }
  return () => {
    wanted = true;
    running ??= loop();
    return running;
  };
}

/**
 * Coalesced reads of what the page mirrors. One that the server was too slow for is made again: what is shown would stay
 * old, while the connection holds. What else goes wrong is `onError`'s.
 *
 * @param {() => Promise<any>} task
 * @param {(error: any) => void} onError
 */
export function mirrored(task, onError) {
  const read = coalesced(() => task().catch(failed));
  /** @param {any} error */
  function failed(error) {
    if (!(error instanceof Unanswered)) return onError(error);
    console.error(error);
    setTimeout(read);
    return undefined;
  }
  return read;
}

/**
 * Subscribe, and then read: in this order no change is lost between the two. Where that takes long, what there is is read
 * before as well: the page would be empty.
 *
 * @param {() => Promise<any>} subscribe
 * @param {() => Promise<any>} read
 */
export async function followed(subscribe, read) {
  const subscribed = untilAnswered(subscribe).then(() => true);
  subscribed.catch(() => undefined); // it is waited for below
  const isSoon = await Promise.race([subscribed, new Promise((resolve) => setTimeout(resolve, SLOW_SECONDS * 1000))]);
  if (!isSoon) await read();
  await subscribed;
  await read();
}

/** Reads the first of the URIs before the others. */
export class Mirror {
  #client;
  #uris;
  #readers = new Map();
  #listed = new Set();
  /** The session whose resources are read in place of those in focus. @type {string | null} */
  #session = null;
  /** What the server was asked to subscribe to, and what it has said that it is: addresses. @type {Set<string>} */
  #asked = new Set();
  /** @type {Set<string>} */
  #subscribed = new Set();
  /** One change at a time: of two that cross, the later one counts. */
  #follow = coalesced(() => this.#subscribeToNamed());

  /** Calls `onPayload(uri, payload)` after each read, and `onActive(active)` after each listing. */
  constructor(client, uris, {onPayload, onActive, onError}) {
    this.#client = client;
    this.#uris = uris;
    this.onPayload = onPayload;
    this.onActive = onActive;
    const guarded = (task) => mirrored(task, onError);
    this.list = guarded(() => this.#list());
    for (const uri of uris) this.#readers.set(uri, guarded(() => this.#read(uri)));
  }

  /** Subscribe to everything, and read. */
  start() {
    return followed(this.#follow, this.list);
  }

  notified(method, params) {
    if (method === 'notifications/resources/list_changed') this.list();
    if (method === 'notifications/resources/updated') this.#updated(params.uri);
  }

  /** Read the resources of that session from now on; null: of the one in focus. @param {string | null} session */
  async choose(session) {
    this.#session = session;
    await followed(this.#follow, () => this.refresh());
  }

  /** Where a resource is read: that of a session has the session's id in it. @param {string} uri */
  #address(uri) {
    const name = uri.slice(SCHEME.length);
    return this.#session !== null && OF_SESSIONS.has(name) ? `${SCHEME}sessions/${this.#session}/${name}` : uri;
  }

  /** @param {string} address */
  #updated(address) {
    const uri = this.#uris.find((each) => this.#address(each) === address);
    if (uri !== undefined) this.#readers.get(uri)?.();
  }

  /** Read everything again at once, without waiting to be notified. */
  async refresh() {
    const [first, ...others] = this.#listed; // whose session it is, before what is in it
    if (first === undefined) return;
    await this.#readers.get(first)();
    await Promise.all(others.map((uri) => this.#readers.get(uri)()));
  }

  /** Have subscriptions to what is named now, and to nothing else. */
  async #subscribeToNamed() {
    const named = this.#uris.map((uri) => this.#address(uri));
    const ends = await Promise.allSettled([
      ...named.filter((uri) => !this.#subscribed.has(uri)).map((uri) => this.#subscribe(uri)),
      ...[...this.#asked].filter((uri) => !named.includes(uri)).map((uri) => this.#unsubscribe(uri)),
    ]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** @param {string} uri */
  async #subscribe(uri) {
    this.#asked.add(uri); // the server may take it, and be too slow to say so
    await this.#request('resources/subscribe', uri);
    this.#subscribed.add(uri);
  }

  /** @param {string} uri */
  async #unsubscribe(uri) {
    this.#subscribed.delete(uri);
    await this.#request('resources/unsubscribe', uri);
    this.#asked.delete(uri);
  }

  /** @param {string} method @param {string} uri */
  async #request(method, uri) {
    try {
      await this.#client.request(method, {uri});
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // This server does not have the resource: the page works without it.
    }
  }

  async #list() {
    const listed = new Set((await this.#client.request('resources/list')).resources.map(({uri}) => uri));
    this.#listed = new Set(this.#uris.filter((uri) => listed.has(uri)));
    this.onActive(this.#listed.size > 0);
    await this.refresh();
  }

  async #read(uri) {
    try {
      const address = this.#address(uri);
      const payload = await this.#client.readJson(address);
      if (address === this.#address(uri)) this.onPayload(uri, payload);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // The session has ended meanwhile; list_changed will follow.
    }
  }
}
