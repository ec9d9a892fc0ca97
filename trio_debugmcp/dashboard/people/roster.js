// Who is connected, as the timeline tells it. What says so is kept here when it has fallen out of the page's events.

const TYPES = new Set(['clientJoined', 'clientLeft']);

/** @typedef {{name: string | null, version?: string, role?: string, count: number}} Client */

export class Roster {
  /** @type {Map<number, any>} */
  #kept = new Map();

  /**
   * Return the clients that joined and have not left, and those that call tools: that they joined may be so long ago that
   * the server does not keep it any more.
   *
   * @param {any[]} all
   * @returns {Client[]}
   */
  clients(all) {
    if (all.length === 0) this.#kept.clear(); // another connection
    for (const event of all) if (TYPES.has(event.type)) this.#kept.set(event.eventId, event);
    const told = [...this.#kept.values()].sort((one, other) => one.eventId - other.eventId);
    /** @type {Map<string, Client>} */
    const present = new Map();
    for (const {type, payload} of told) {
      const key = `${payload.name} ${payload.version} ${payload.role}`;
      const count = (present.get(key)?.count ?? 0) + (type === 'clientJoined' ? 1 : -1);
      if (count > 0) present.set(key, {...payload, count});
      else present.delete(key);
    }
    for (const client of callers(all, told)) {
      if (![...present.values()].some(({name}) => name === client)) present.set(client, {name: client, count: 1});
    }
    return [...present.values()];
  }
}

/** The clients that have called tools, and have not left since. @returns {Set<string>} */
function callers(all, told) {
  const left = new Map(told.filter(({type}) => type === 'clientLeft').map(({payload, eventId}) => [payload.name, eventId]));
  const calls = all.filter(({type, payload}) => type === 'toolCalled' && payload.client);
  return new Set(calls.filter(({payload, eventId}) => eventId > (left.get(payload.client) ?? 0)).map(({payload}) => payload.client));
}
