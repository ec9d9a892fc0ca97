// Variables that can be opened, as a tree for the keyboard: → opens, ← closes or leads to what it is in, ↑ and ↓ move.

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
    if (event.target !== row) return; // one inside
    if (row.open) opened.add(path);
    else opened.delete(path);
    if (row.open && !inside.hasChildNodes()) fill(inside);
  });
  row.open = opened.has(path);
  return row;
}

/** Let the arrow keys walk among the disclosures of a view, now and later. @param {HTMLElement} view */
export function walkDisclosures(view) {
  view.addEventListener('keydown', (event) => {
    const summary = event.target;
    if (!(summary instanceof HTMLElement) || !summary.matches('summary') || event.altKey || event.ctrlKey || event.metaKey) return;
    const details = /** @type {HTMLDetailsElement} */ (summary.parentElement);
    if (event.key === 'ArrowRight' && !details.open) details.open = true;
    else if (event.key === 'ArrowLeft' && details.open) details.open = false;
    else {
      const next = event.key === 'ArrowLeft' ? details.parentElement?.closest('details')?.querySelector('summary') : moved(view, summary, event.key);
      if (!next) return;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation(); // ← and → go through time elsewhere
  });
}

/** @returns {HTMLElement | undefined} */
function moved(view, summary, key) {
  const seen = [...view.querySelectorAll('summary')].filter((each) => each.checkVisibility());
  const index = seen.indexOf(summary);
  const next = stepOf(key === 'ArrowRight' ? 'ArrowDown' : key, index, seen.length - 1);
  return next === null ? undefined : seen[next];
}
