// The recorded runs that the server keeps, the oldest first. Mirrors `debugger://runs`, which can be read without a session too.

import {unlessAnswer} from '../connection/mcp.js';
import {followed, mirrored} from '../connection/mirror.js';

export const RUNS = 'debugger://runs';

/**
 * `bytes` and `endedAt` are null while it is recorded.
 *
 * @typedef {{id: string, state: 'Recording' | 'Recorded', what: string, session: string, begunAt: string,
 *   endedAt: string | null, exitCode: number | null, signal: string | null, killed: boolean, bytes: number | null}} KeptRun
 */

export class KeptRuns {
  #store;
  /** @type {import('../connection/mcp.js').McpClient | null} */
  #client = null;
  #read = mirrored(() => this.#readAll(), unlessAnswer);

  /** @param {import('../store.js').Store} store */
  constructor(store) {
    this.#store = store;
  }

  /** Subscribe and read. @param {import('../connection/mcp.js').McpClient} client */
  async opened(client) {
    this.#client = client;
    try {
      await followed(() => client.request('resources/subscribe', {uri: RUNS}), this.#read);
    } catch (error) {
      unlessAnswer(error); // an older server: the page works without
      await this.#read();
    }
  }

  /** @param {string} method @param {{uri?: string}} params */
  notified(method, params) {
    if (method === 'notifications/resources/updated' && params.uri === RUNS) this.#read();
  }

  async #readAll() {
    const client = this.#client;
    const found = await client?.readJson(RUNS);
    if (found !== undefined && client === this.#client) this.#store.update({runs: found.runs});
  }
}

/** How a run ended, in words. @param {KeptRun} run */
export function endOfRun({state, killed, signal, exitCode}) {
  if (state === 'Recording') return 'being recorded';
  if (killed) return 'ended by the debugger';
  if (signal) return `ended by ${signal}`;
  return exitCode === null ? 'recorded' : `exit code ${exitCode}`;
}
