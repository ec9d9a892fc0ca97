// Variables as a tree for the keyboard: → opens one, ← closes it or leads to what it is in, ↑ and ↓ move.

import {el} from './dom.js';
import {stepOf} from './roving.js';

/**
 * Create a row of a variable that can be opened; what is inside is fetched when it is opened first.
 *
 * @param {{path: string, changed?: string}} dataset
 * @param {Node[]} content  Of the row itself.
 * @param {string} key  By which the row keeps the focus when it is drawn again.
 * @param {Set<string>} opened  The paths that are open, also of the rows that are drawn later.
 * @param {(inside: HTMLElement) => unknown} fill
 */
export function disclosure(dataset, content, key, opened, fill) {
  const {path} = dataset;
  const inside = el('div', {className: 'inside'});
  const row = el('details', {className: 'variable', dataset}, el('summary', {dataset: {key}}, ...content), inside);
  row.addEventListener('toggle', (event) => {
    // It is one inside, or the row was drawn again meanwhile: what can be asked for may be other by now.
    if (event.target !== row || !row.isConnected) return;
    if (row.open) opened.add(path);
    else opened.delete(path);
    if (row.open && !inside.hasChildNodes()) fill(inside);
  });
  row.open = opened.has(path);
  return row;
}

/** What the focus can be on: what opens, and what has nothing inside. */
const ROW = 'summary, div.variable[data-path]';

/**
 * Create a row of a variable without anything inside. The keys lead to it: its value can be seen whole, and be set.
 *
 * @param {{path: string, changed?: string}} dataset
 * @param {(Node | null)[]} content
 */
export const leaf = (dataset, content) =>
  el('div', {className: 'variable', dataset: {...dataset, key: dataset.path}, tabIndex: -1}, ...content);

/** Make the first of these rows one that Tab leads to; those that open are so by themselves. @param {HTMLElement[]} rows */
export function withTabStop(rows) {
  if (rows[0]?.matches(ROW)) rows[0].tabIndex = 0;
  return rows;
}

/** Let the arrow keys walk among the rows of a view, now and later. @param {HTMLElement} view */
export function walkDisclosures(view) {
  view.addEventListener('keydown', (event) => {
    const row = event.target;
    if (!(row instanceof HTMLElement) || !row.matches(ROW) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const details = row.parentElement instanceof HTMLDetailsElement ? row.parentElement : null;
    if (event.key === 'ArrowRight' && details?.open === false) details.open = true;
    else if (event.key === 'ArrowLeft' && details?.open) details.open = false;
    else {
      const around = (details ?? row).parentElement?.closest('details')?.querySelector('summary');
      const next = event.key === 'ArrowLeft' ? around ?? row : moved(view, row, event.key);
      if (!next) return;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation(); // ← and → go through time elsewhere
  });
}

/** @param {HTMLElement} view @param {HTMLElement} row @param {string} key @returns {HTMLElement | undefined} */
function moved(view, row, key) {
  const rows = /** @type {NodeListOf<HTMLElement>} */ (view.querySelectorAll(ROW));
  const seen = [...rows].filter((each) => each.checkVisibility());
  const index = seen.indexOf(row);
  const next = stepOf(key === 'ArrowRight' ? 'ArrowDown' : key, index, seen.length - 1);
  return next === null ? undefined : seen[next];
}
