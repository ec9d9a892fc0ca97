// Where a program is that does not stop: its threads and tasks, asked for while it runs and the page is seen.

import {isAnswer} from '../connection/mcp.js';
import {deadlocksOf} from './deadlock.js';

/** For so long a program runs before the page asks: most stop sooner. */
const QUIET_SECONDS = 2;
const LOOK_SECONDS = 1;

/** An answer that takes long is asked for the less often: it is a part of so many of the program's time. */
const SHARE = 5;

/** Where there were no tasks there may be some later. */
const LOOKS_WITHOUT_TASKS = 10;
const MOST_TASKS = 1000;

/** An answer has room for some hundred tasks. */
const MOST_PAGES = 5;

/**
 * @typedef {{file: string | null, line: number | null, functionName?: string | null}} Place
 * @typedef {{id: number, name: string | null, state: string, location: Place | null, waitsFor: string | null}} ThreadNow
 * @typedef {{name: string, library: string, depth: number, state: string, waitsFor: string | null, threadId: number | null,
 *   frames: {name: string, isUserCode: boolean, location: Place}[]}} TaskNow
 *
 * @typedef {object} Look  What was seen. `deadlocks`: threads, each of which waits for the next.
 * @property {ThreadNow[]} threads
 * @property {number} total
 * @property {ThreadNow[][]} deadlocks
 * @property {TaskNow[]} tasks
 * @property {number} totalTasks
 */

export class Now {
  #store;
  #timer = 0;
  /** Counts the times that the program has begun to run: what is answered later is not about that. */
  #turn = 0;
  #running = '';
  #without = 0;

  /**
   * `call(name, args)` asks the server; what it refuses is left out.
   *
   * @param {import('../store.js').Store} store
   * @param {(name: string, args: object) => Promise<any>} call
   */
  constructor(store, call) {
    this.#store = store;
    this.call = call;
    store.watch(['session', 'active', 'link'], () => this.#consider());
    document.addEventListener('visibilitychange', () => this.#consider());
  }

  /** Begin to look when a program runs, and end when it stops, or the page is out of sight. */
  #consider() {
    const {session, active, link} = this.#store.state;
    const runs = active && session?.state === 'Running' && link.status === 'open' && document.visibilityState === 'visible';
    const running = runs ? `${session.sessionId} ${session.attachedAt}` : '';
    if (running === this.#running) return;
    this.#running = running;
    this.#turn += 1;
    this.#without = 0;
    clearTimeout(this.#timer);
    if (this.#store.state.now !== null && link.status === 'open' && !(runs && !document.hidden)) this.#store.update({now: null});
    if (runs) this.#later(QUIET_SECONDS);
  }

  /** @param {number} seconds */
  #later(seconds) {
    const turn = this.#turn;
    this.#timer = window.setTimeout(() => this.#look(turn), seconds * 1000);
  }

  /** @param {number} turn */
  async #look(turn) {
    const began = performance.now();
    const threads = await this.#asked('threads_list', {});
    const asksTasks = this.#without % LOOKS_WITHOUT_TASKS === 0;
    const tasks = asksTasks && turn === this.#turn ? await this.#tasks(turn) : null;
    if (turn !== this.#turn) return;
    this.#without = tasks?.tasks.length ? 0 : this.#without + 1;
    const now = lookOf(threads, tasks);
    if (!isSame(now, this.#store.state.now)) this.#store.update({now});
    this.#later(Math.max(LOOK_SECONDS, ((performance.now() - began) / 1000) * SHARE));
  }

  /** Ask for all tasks, a page at a time. @param {number} turn */
  async #tasks(turn) {
    const tasks = [];
    let total = 0;
    for (let page = 0; page < MOST_PAGES && turn === this.#turn; page += 1) {
      const found = await this.#asked('tasks_list', {start: tasks.length, count: MOST_TASKS});
      total = found?.total ?? total;
      tasks.push(...(found?.tasks ?? []));
      if (!found?.tasks.length || tasks.length >= total) break;
    }
    return {tasks, total};
  }

  /** @param {string} name @param {object} args */
  async #asked(name, args) {
    try {
      return await this.call(name, args);
    } catch (error) {
      if (isAnswer(error)) return null; // it has ended, or its language has no such thing
      throw error;
    }
  }
}

/**
 * Return what was seen; null if it is not more than the last stop.
 *
 * @param {any} threads
 * @param {any} tasks
 * @returns {Look | null}
 */
function lookOf(threads, tasks) {
  if (!threads || (threads.source ?? 'stop') === 'stop') return null;
  return {
    threads: threads.threads,
    total: threads.total,
    deadlocks: deadlocksOf(threads),
    tasks: tasks?.tasks ?? [],
    totalTasks: tasks?.total ?? 0,
  };
}

/** @param {Look | null} one @param {Look | null} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
