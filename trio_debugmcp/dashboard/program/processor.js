// How much of a processor each process uses: asked for while one runs and the page is seen.

import {isAnswer} from '../connection/mcp.js';

export const PROCESSOR = 'debugger://processor';

const LOOK_SECONDS = 1;

/** @typedef {{at: number, processes: {sessionId: string, seconds: number | null}[]}} Reading */

/**
 * The per cent of a processor that each process has used from one reading to another, by the ids of their sessions.
 *
 * @param {Reading | null} earlier
 * @param {Reading} later
 * @returns {Record<string, number>}
 */
export function sharesOf(earlier, later) {
  const before = new Map(earlier?.processes.map(({sessionId, seconds}) => [sessionId, seconds]));
  const passed = later.at - (earlier?.at ?? later.at);
  if (passed <= 0) return {};
  const known = later.processes.flatMap(({sessionId, seconds}) => {
    const was = before.get(sessionId) ?? null;
    // What has begun again in the same session has used less than before.
    return seconds === null || was === null || seconds < was ? [] : [[sessionId, Math.round((100 * (seconds - was)) / passed)]];
  });
  return Object.fromEntries(known);
}

/**
 * In words; empty where it is not known, or the process does not run.
 *
 * @param {Record<string, number>} shares
 * @param {{sessionId: string, state: string}} process
 */
export const shareInWords = (shares, {sessionId, state}) =>
  state === 'Running' && sessionId in shares ? `${shares[sessionId]} % CPU` : '';

export class Processor {
  #store;
  #timer = 0;
  /** @type {Reading | null} */
  #last = null;
  #looks = false;
  /** A server of before does not know it; the one of the next connection may. @type {any} */
  #unknownTo = null;

  /**
   * @param {import('../store.js').Store} store
   * @param {(uri: string) => Promise<any>} readJson
   */
  constructor(store, readJson) {
    this.#store = store;
    this.readJson = readJson;
    store.watch(['session', 'sessions', 'active', 'link'], () => this.#consider());
    document.addEventListener('visibilitychange', () => this.#consider());
  }

  /** Look as long as a process runs and the page is in sight. */
  #consider() {
    const {session, sessions, active, link} = this.#store.state;
    const all = (sessions ?? session)?.sessions ?? [];
    const runs = [session, ...all].some((each) => each?.state === 'Running');
    const looks = active && runs && link.status === 'open' && document.visibilityState === 'visible';
    if (looks === this.#looks) return;
    this.#looks = looks;
    clearTimeout(this.#timer);
    this.#last = null;
    if (looks) this.#later();
    else if (Object.keys(this.#store.state.processor).length > 0) this.#store.update({processor: {}});
  }

  #later() {
    this.#timer = window.setTimeout(() => this.#look(), LOOK_SECONDS * 1000);
  }

  async #look() {
    const {server} = this.#store.state;
    if (server !== null && this.#unknownTo === server) return;
    const timer = this.#timer;
    const reading = await this.#read();
    if (timer !== this.#timer || !this.#looks) return;
    if (reading === null) {
      this.#unknownTo = server;
      return;
    }
    const processor = sharesOf(this.#last, reading);
    this.#last = reading;
    if (JSON.stringify(processor) !== JSON.stringify(this.#store.state.processor)) this.#store.update({processor});
    this.#later();
  }

  /** @returns {Promise<Reading | null>} */
  async #read() {
    try {
      return await this.readJson(PROCESSOR);
    } catch (error) {
      if (isAnswer(error)) return null;
      throw error;
    }
  }
}
