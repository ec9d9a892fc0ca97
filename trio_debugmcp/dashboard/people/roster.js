// Who is connected, as the timeline tells it. What says so is kept here when it has fallen out of the page's events.

import {Continued} from '../view/continued.js';

const TYPES = new Set(['clientJoined', 'clientLeft']);

/** @typedef {{name: string | null, version?: string, role?: string, count: number}} Client */

export class Roster {
  /** @type {Map<number, any>} */
  #kept = new Map();
  #continued = new Continued();
  /** The last call of each client. @type {Map<string, number>} */
  #called = new Map();

  /**
   * Return the clients that joined and have not left, and those that call tools: that they joined may be so long ago that
   * the server does not keep it any more.
   *
   * @param {any[]} all
   * @returns {Client[]}
   */
  clients(all) {
    if (all.length === 0) this.#kept.clear(); // another connection
    const fresh = this.#continued.next(all);
    if (fresh === 0) this.#called.clear();
    for (const event of all.slice(fresh)) {
      if (TYPES.has(event.type)) this.#kept.set(event.eventId, event);
      if (event.type === 'toolCalled' && event.payload.client) this.#called.set(event.payload.client, event.eventId);
    }
    const told = [...this.#kept.values()].sort((one, other) => one.eventId - other.eventId);
    /** @type {Map<string, Client>} */
    const present = new Map();
    for (const {type, payload} of told) {
      const key = `${payload.name} ${payload.version} ${payload.role}`;
      const count = (present.get(key)?.count ?? 0) + (type === 'clientJoined' ? 1 : -1);
      if (count > 0) present.set(key, {...payload, count});
      else present.delete(key);
    }
    const left = new Map(told.filter(({type}) => type === 'clientLeft').map(({payload, eventId}) => [payload.name, eventId]));
    for (const [client, eventId] of this.#called) {
      if (eventId < (left.get(client) ?? 0)) continue;
      if (![...present.values()].some(({name}) => name === client)) present.set(client, {name: client, count: 1});
    }
    return [...present.values()];
  }
}
