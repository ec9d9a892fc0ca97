// The end of a list that is not shown whole: how many there are, and a button for more of them.

import {el} from './dom.js';

/**
 * Return a row that says how much of a list is shown, or null if it is all. Without `load` there is no more to be had here.
 *
 * @param {number} shown
 * @param {number | null | undefined} total
 * @param {(() => Promise<unknown>) | null} [load]
 * @returns {HTMLElement | null}
 */
export function moreRow(shown, total, load = null) {
  if (!total || total <= shown) return null;
  const words = `${shown.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  if (load === null) return el('p', {className: 'more-row'}, words);
  const button = el('button', {type: 'button', className: 'more-row', ariaLabel: `${words} shown. Show more`}, `${words}, show more`);
  button.addEventListener('click', async () => {
    button.ariaDisabled = 'true';
    await load();
    button.ariaDisabled = 'false';
  });
  return button;
}
