// The texts of files as they ran in a recorded run, with how often each line did.

import {versionOf} from './run_moments.js';

const MOST_BYTES = 10_000_000;

/** Texts of files, of all runs. */
const KEPT_TEXTS = 20;

export class RunSources {
  /** @type {Map<string, {text: string, note: string, ran: Map<number, number>}>} */
  #texts = new Map();
  /** What names the runs whose texts were asked for. @type {Map<string, {run: string, process: number | null}>} */
  #versions = new Map();

  /** @param {import('../store.js').Store} store @param {(name: string, args: object) => Promise<any>} call */
  constructor(store, call) {
    this.call = call;
    store.watch(['past', 'run'], ({past, run}) => {
      if (run) this.#know({run: run.id, process: run.process});
      if (past?.moment) this.#know(past.moment);
    });
  }

  #know({run, process}) {
    this.#versions.set(versionOf({run, process}), {run, process});
  }

  /** Whether a version of a text is that of a run. @param {string} version */
  has(version) {
    return this.#versions.has(version);
  }

  /** @param {string} file @param {string} version */
  async text(file, version) {
    const key = `${version} ${file}`;
    const known = this.#texts.get(key);
    if (known) return known;
    const {run, process} = /** @type {{run: string, process: number | null}} */ (this.#versions.get(version));
    const found = await this.call('source_get', {file, run, ...(process === null ? {} : {process}), max_result_bytes: MOST_BYTES});
    const text = found.lines.map(({text: line}) => line).join('\n');
    const note = found.lines.length < found.total ? `The first ${found.lines.length} of ${found.total} lines` : '';
    const whole = {text, note, ran: new Map(Object.entries(found.counts).map(([line, count]) => [Number(line), count]))};
    this.#texts.set(key, whole);
    if (this.#texts.size > KEPT_TEXTS) this.#texts.delete(/** @type {string} */ (this.#texts.keys().next().value));
    return whole;
  }
}
