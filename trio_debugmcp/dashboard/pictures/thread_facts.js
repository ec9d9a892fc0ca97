// What is seen of threads besides events: their names, and for what each was seen to wait. It is kept within bounds.

import {threadKey} from './tracks.js';

const MOST_NAMES = 20_000;
const MOST_WAITS = 200;

export class ThreadFactsLog {
  /** @type {Map<string, string>} */
  names = new Map();
  /** Of processes. @type {Map<string, string>} */
  processes = new Map();
  /** @type {Map<string, import('./tracks.js').Wait[]>} */
  waits = new Map();

  /** Forget it all: it may be another server. */
  clear() {
    this.names.clear();
    this.processes.clear();
    this.waits.clear();
  }

  /** @param {string} session @param {{id: number, name: string | null}[]} threads */
  name(session, threads) {
    if (this.names.size > MOST_NAMES) this.names.clear();
    for (const {id, name} of threads) if (name) this.names.set(threadKey(session, id), name);
  }

  /**
   * Take a look at where threads are now: what each waits for, it has waited for since it was seen first.
   *
   * @param {string} session
   * @param {{id: number, name: string | null, waitsFor?: string | null}[]} threads
   * @param {number} seconds
   */
  look(session, threads, seconds) {
    this.name(session, threads);
    for (const {id, waitsFor} of threads) {
      const key = threadKey(session, id);
      const all = this.waits.get(key) ?? [];
      const last = all.at(-1);
      if (last?.open) {
        last.to = seconds;
        if (last.text === waitsFor) continue;
        last.open = false;
      }
      if (!waitsFor) continue;
      all.push({from: seconds, to: seconds, text: waitsFor, open: true});
      if (all.length > MOST_WAITS) all.shift();
      this.waits.set(key, all);
    }
  }

  /** The waits that were seen last are over, or are not looked at any more. */
  close() {
    for (const all of this.waits.values()) {
      const last = all.at(-1);
      if (last?.open) last.open = false;
    }
  }

  /** Waits without an end last until now. @param {number} seconds */
  extend(seconds) {
    for (const all of this.waits.values()) {
      const last = all.at(-1);
      if (last?.open) last.to = Math.max(last.to, seconds);
    }
  }
}
