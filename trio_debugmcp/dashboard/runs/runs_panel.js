// The list of the recorded runs, the latest first: choosing one opens it.

import {byId, el, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {clock, plural, size} from '../view/words.js';
import {endOfRun} from './kept_runs.js';

/** @typedef {import('./kept_runs.js').KeptRun} KeptRun */

/** @param {import('../store.js').Store} store @param {(id: string) => void} open */
export function createRuns(store, open) {
  const [panel, list, note] = [byId('runs-panel'), byId('runs'), byId('runs-note')];
  store.watch(['runs', 'run'], ({runs, run}) => {
    panel.hidden = runs.length === 0;
    setText(note, plural(runs.length, 'run'));
    drawListbox(list, runs.map((/** @type {KeptRun} */ each) => row(each, each.id === run?.id)).reverse(), open);
  });
}

/** @param {KeptRun} run @param {boolean} selected */
const row = (run, selected) => ({
  key: run.id,
  selected,
  title: `${run.what}\n${endOfRun(run)}`,
  dataset: {failed: String(Boolean(run.exitCode || run.signal))},
  content: [
    el(
      'span', {className: 'grow'},
      el('span', {className: 'name'}, run.what),
      el('span', {className: 'detail'},
        `${run.id} · `, el('span', {className: 'ended'}, endOfRun(run)), ` · ${clock(run.begunAt)}`, run.bytes === null ? '' : ` · ${size(run.bytes)}`),
    ),
  ],
});
