// What is known of the run that is open as a whole: how much it did, what of it is missing, and its processes, one of which is asked.

import {isAnswer} from '../connection/mcp.js';
import {el} from '../view/dom.js';
import {endOfRun} from './kept_runs.js';

/** @typedef {{pids: number[], events: number, lines: number, dropped: number, problems: string[], programs?: string[]}} Facts */

export class RunFacts {
  /** @type {Facts | null} */
  #facts = null;

  /**
   * @param {import('../store.js').Store} store
   * @param {(name: string, args: object) => Promise<any>} ask
   * @param {() => void} chosen  Called when the person has chosen another process.
   */
  constructor(store, ask, chosen) {
    this.store = store;
    this.ask = ask;
    this.select = el('select', {ariaLabel: 'Process of the run', hidden: true, onchange: () => this.#choose(chosen)});
  }

  #choose(chosen) {
    const {run} = this.store.state;
    this.store.update({run: {...run, process: Number(this.select.value)}});
    chosen();
  }

  /** Ask about the run that is open, and draw what comes of it. @param {() => void} draw */
  async opened(draw) {
    const {id} = this.store.state.run;
    this.#facts = null;
    this.select.hidden = true;
    try {
      const {facts} = await this.ask('run_list', {});
      this.store.update({runFacts: facts});
      if (this.store.state.run?.id === id) this.#facts = facts[id] ?? null;
    } catch (error) {
      if (!isAnswer(error)) throw error; // the questions to the run say what is wrong
    }
    draw();
  }

  /** Draw the processes, and return what there is to say. @param {import('./kept_runs.js').KeptRun | undefined} kept */
  words(kept) {
    if (!kept) return 'It is not kept any more.';
    const {pids = [], programs = [], events = 0, dropped = 0, problems = []} = this.#facts ?? {};
    const process = this.store.state.run?.process ?? pids[0];
    const named = (/** @type {number} */ at) => programs[at] ? `process ${pids[at]} (${programs[at]})` : `process ${pids[at]}`;
    this.select.replaceChildren(...pids.map((pid, at) => el('option', {value: String(pid), selected: pid === process}, named(at))));
    this.select.hidden = pids.length < 2;
    return [
      kept.what, endOfRun(kept),
      events ? `${events.toLocaleString('en')} events` : '',
      dropped ? `the first ${dropped.toLocaleString('en')} are not kept` : '',
      ...problems,
    ].filter(Boolean).join(' · ');
  }
}
