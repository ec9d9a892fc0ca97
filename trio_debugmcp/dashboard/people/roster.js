// Who is connected, as the timeline tells it. What says so is kept here when it has fallen out of the page's events.

const TYPES = new Set(['clientJoined', 'clientLeft', 'sessionStarted']);

const isBeginning = ({type, payload}) => type === 'sessionStarted' && (payload.parentSessionId ?? null) === null;

/** @typedef {{name: string | null, version?: string, role?: string, count: number}} Client */

export class Roster {
  /** @type {Map<number, any>} */
  #kept = new Map();

  /**
   * Return the clients that joined and have not left, and those that call tools, since the timeline may have begun after
   * they joined. At the start of every session the server records again who is connected.
   *
   * @param {any[]} all
   * @returns {Client[]}
   */
  clients(all) {
    if (all.length === 0) this.#kept.clear(); // another connection
    for (const event of all) if (TYPES.has(event.type)) this.#kept.set(event.eventId, event);
    const told = [...this.#kept.values()].sort((one, other) => one.eventId - other.eventId);
    const start = told.findLast(isBeginning)?.eventId ?? 0;
    for (const {eventId} of told) if (eventId < start) this.#kept.delete(eventId);
    /** @type {Map<string, Client>} */
    const present = new Map();
    for (const {type, payload, eventId} of told) {
      if (eventId < start || type === 'sessionStarted') continue;
      const key = `${payload.name} ${payload.version} ${payload.role}`;
      const count = (present.get(key)?.count ?? 0) + (type === 'clientJoined' ? 1 : -1);
      if (count > 0) present.set(key, {...payload, count});
      else present.delete(key);
    }
    for (const client of callers(all, told, start)) {
      if (![...present.values()].some(({name}) => name === client)) present.set(client, {name: client, count: 1});
    }
    return [...present.values()];
  }
}

/** The clients that have called tools, and have not left since. @returns {Set<string>} */
function callers(all, told, start) {
  const left = new Map(told.filter(({type}) => type === 'clientLeft').map(({payload, eventId}) => [payload.name, eventId]));
  const calls = all.filter(({type, payload, eventId}) => type === 'toolCalled' && payload.client && eventId > start);
  return new Set(calls.filter(({payload, eventId}) => eventId > (left.get(payload.client) ?? 0)).map(({payload}) => payload.client));
}
