// What can be done with a value in a list: a double click, F2 or Enter shows all of it, to be copied or set.

import {showValue, wholeValue} from './value_view.js';
import {frameArguments} from '../program/frame.js';
import {byId} from '../view/dom.js';
import {pictureOf} from './inside.js';

/** Return what shows all of the value of a row. */
export function createValueActions(store, actions) {
  for (const id of ['locals', 'watches']) {
    const view = byId(id);
    view.addEventListener('dblclick', (event) => opened(event));
    view.addEventListener('keydown', (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const enter = event.key === 'Enter' && target.matches('[data-path]:not(details)');
      if (event.key === 'F2' || enter) opened(event);
    });
  }

  /** @param {Event} event */
  function opened(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest('input, button, textarea')) return;
    const row = /** @type {HTMLElement | null} */ (target.closest('[data-path]'));
    const path = row?.dataset.path;
    if (!row || !path) return;
    event.preventDefault();
    show(row);
  }

  /** @param {HTMLElement} row */
  function show(row) {
    const path = row.dataset.path ?? '';
    const shown = row.querySelector('.value')?.textContent ?? '';
    const stale = store.state.stack?.stale !== false;
    const load = stale ? undefined : () => wholeValue(actions.call, store.state, path);
    const opens = row.matches('details') && load && store.state.role === 'control';
    const picture = opens ? () => pictureOf(actions.call, frameArguments(store.state), path) : undefined;
    showValue({title: path, shown, load, path, picture}, store, actions);
  }

  return show;
}
