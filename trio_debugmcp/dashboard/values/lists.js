// What is not in the resources of a long list: further locals, children and frames, a page at a time.

import {variablesOf} from '../answers.js';

/** Variables of a page: a stop brings the first hundred. */
const PAGE = 200;
const PAGE_BYTES = 500_000;

/** Frames that are fetched for one press of the button; what an answer has room for is less. */
const MOST_FRAMES = 5000;

export class Lists {
  #store;

  /**
   * @param {import('../store.js').Store} store
   * @param {(name: string, args: object) => Promise<any>} ask  Returns undefined where there is no answer.
   */
  constructor(store, ask) {
    this.#store = store;
    this.ask = ask;
  }

  /** Fetch locals of the frame that is shown, from the one with this number on. @param {number} start */
  async locals(start) {
    const found = await this.ask('variables_get', {...this.#where(), scope: 'locals', ...page(start)});
    return found ? variablesOf(found) : [];
  }

  /** Fetch children of a variable of the frame that is shown. @param {string} path @param {number} start */
  async children(path, start = 0) {
    const found = await this.ask('variables_get', {...this.#where(), path, ...page(start)});
    return found ? variablesOf(found) : [];
  }

  /** Fetch the first frames of a thread, and how many it has. @param {number} threadId */
  async frames(threadId, start = 0, count = 50) {
    const found = await this.ask('stacktrace_get', {thread_id: threadId, start, count});
    return found ? {list: found.frames, total: found.total} : null;
  }

  /** Fetch the other frames of the stack that is shown, down to its root. */
  async moreFrames() {
    const begun = this.#store.state.frames.list.length;
    for (;;) {
      const {frames} = this.#store.state;
      const found = await this.frames(frames.threadId, frames.list.length, 1000);
      const now = this.#store.state.frames;
      if (!found?.list.length || now.list !== frames.list) return; // it is another stack by now
      const list = [...frames.list, ...found.list];
      this.#store.update({frames: {...now, list, total: found.total}});
      if (list.length >= found.total || list.length - begun >= MOST_FRAMES) return;
    }
  }

  #where() {
    const {frames} = this.#store.state;
    return {frame_index: frames.index, thread_id: frames.threadId};
  }
}

/** @param {number} start */
const page = (start) => ({start, count: PAGE, max_result_bytes: PAGE_BYTES});
