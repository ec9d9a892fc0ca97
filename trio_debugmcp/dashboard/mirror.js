// The server's resources, mirrored: subscribed once, read again whenever they are said to have changed.

import {McpError} from './mcp.js';

/** Run `task` one at a time; whoever asks during a run is served by one more run after it. */
export function coalesced(task) {
  let wanted = false;
  let running = null;
  async function loop() {
    while (wanted) {
      wanted = false;
      await task();
    }
    running = null;
  }
  return () => {
    wanted = true;
    running ??= loop();
    return running;
  };
}

/** The first of the URIs is read before the others. */
export class Mirror {
  #client;
  #uris;
  #readers = new Map();
  #listed = new Set();

  /** `onPayload(uri, payload)` after each read; `onActive(active)` after each listing. */
  constructor(client, uris, {onPayload, onActive, onError}) {
    this.#client = client;
    this.#uris = uris;
    this.onPayload = onPayload;
    this.onActive = onActive;
    const guarded = (task) => coalesced(() => task().catch(onError));
    this.list = guarded(() => this.#list());
    for (const uri of uris) this.#readers.set(uri, guarded(() => this.#read(uri)));
  }

  /** Subscribe to everything, then look. In this order no change falls between the two. */
  async start() {
    await Promise.all(this.#uris.map((uri) => this.#subscribe(uri)));
    await this.list();
  }

  notified(method, params) {
    if (method === 'notifications/resources/list_changed') this.list();
    if (method === 'notifications/resources/updated') this.#readers.get(params.uri)?.();
  }

  /** Read everything again at once, without waiting to be notified. */
  async refresh() {
    const [first, ...others] = this.#listed; // whose session it is, before what is in it
    if (first === undefined) return;
    await this.#readers.get(first)();
    await Promise.all(others.map((uri) => this.#readers.get(uri)()));
  }

  async #subscribe(uri) {
    try {
      await this.#client.request('resources/subscribe', {uri});
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // A server that does not have this resource: the page does without.
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
      this.onPayload(uri, JSON.parse(await this.#client.readText(uri)));
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // The session ended meanwhile; list_changed is on its way.
    }
  }
}
