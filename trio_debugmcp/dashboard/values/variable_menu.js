// The menu of a variable, by a right click, the menu key, or Shift+F10: copy, watch, set, and what led to its value.

import {copy} from '../view/clipboard.js';
import {byId} from '../view/dom.js';
import {isCut} from '../program/frame.js';
import {openMenu} from '../view/menu.js';
import {wholeValue} from './value_view.js';

/** The debug adapters that stop where memory is written. */
const WATCH_MEMORY = new Set(['gdb', 'lldb-dap', 'codelldb']);

/**
 * @typedef {object} Ways  What is done with a row elsewhere.
 * @property {(row: HTMLElement) => void} show  All of its value, to be read and set.
 * @property {(row: HTMLElement) => void} overStops
 * @property {(path: string) => void} references  What refers to it, and what it refers to.
 * @property {(question: object) => void} why  In the recorded run that is shown.
 */

/** @param {import('../store.js').Store} store @param {any} actions @param {Ways} ways */
export function createVariableMenu(store, actions, ways) {
  for (const id of ['locals', 'watches']) {
    byId(id).addEventListener('contextmenu', (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const row = /** @type {HTMLElement | null} */ (target.closest('[data-path]'));
      // A right click on chosen text is for the browser's own menu, which copies it.
      if (!row || target.closest('input') || !getSelection()?.isCollapsed) return;
      event.preventDefault();
      const line = row.querySelector('summary') ?? row;
      line.focus(); // where the menu gives the focus back to
      const box = line.getBoundingClientRect();
      const byKey = event.clientX === 0 && event.clientY === 0;
      const at = byKey ? {x: box.left + 16, y: box.bottom} : {x: event.clientX, y: event.clientY};
      openMenu(at, `Variable ${row.dataset.path}`, items(row, id === 'watches'));
    });
  }

  /** @param {HTMLElement} row @param {boolean} isWatched */
  function items(row, isWatched) {
    const path = row.dataset.path ?? '';
    const {role, stack, session, past, run} = store.state;
    const isNow = stack?.stale === false && !past;
    const inControl = role === 'control';
    const watch = {name: 'Watch', run: () => actions.addWatch(path)};
    const stop = {name: 'Stop when it changes', run: () => actions.stopAtWrites(path)};
    const why = {name: `Why in ${run?.id}`, run: () => ways.why({expression: path})};
    return [
      {name: 'Copy value', run: () => copyValue(row, path, isNow)},
      {name: 'Copy name', run: () => copy(path)},
      {name: inControl && isNow ? 'Show all, set…' : 'Show all', hint: 'F2', run: () => ways.show(row)},
      {name: 'Over the stops', hint: 'h', run: () => ways.overStops(row)},
      ...(isNow && session?.language === 'Python' ? [{name: 'References', run: () => ways.references(path)}] : []),
      ...(inControl && !isWatched ? [watch] : []),
      ...(inControl && isNow && WATCH_MEMORY.has(session?.adapter) ? [stop] : []),
      ...(past?.moment && run ? [why] : []),
    ];
  }

  /** Copy all of a value; where it cannot be asked for any more, what is shown. @param {HTMLElement} row @param {string} path @param {boolean} isNow */
  async function copyValue(row, path, isNow) {
    const shown = row.querySelector('.value')?.textContent ?? '';
    try {
      const {value} = isNow ? await wholeValue(actions.call, store.state, path) : {value: shown};
      const copied = await copy(value);
      const part = isNow && !isCut(value) ? '' : ', as far as it is here';
      store.update({notice: copied ? `Copied the value of ${path}${part}.` : 'The browser does not allow to copy.'});
    } catch (error) {
      store.update({notice: `The value of ${path} was not copied: ${error.message}`});
    }
  }
}
