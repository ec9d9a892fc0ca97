// The way to a variable's values over the stops: a button in the row that the pointer or the focus is on, and the key h.

import {byId, el} from '../view/dom.js';
import {isPressed} from '../view/single_keys.js';
import {showValues} from './values.js';

/**
 * Return what shows the values of a row over the stops.
 *
 * @param {import('../store.js').Store} store
 * @param {import('./history.js').History} history
 * @param {(name: string, args: object) => Promise<any>} call
 * @param {{history: (question: object) => void}} run  The recorded run that is open: it has the values over itself.
 */
export function createValues(store, history, call, run) {
  const button = el('button', {
    type: 'button',
    className: 'over-stops',
    tabIndex: -1,
    onclick: () => open(pointed),
  }, '∿');
  /** The row that the button is about: it stands beside the row, as a disclosure has no buttons in it. @type {HTMLElement | null} */
  let pointed = null;

  button.addEventListener('pointerleave', () => unpoint());

  for (const id of ['locals', 'watches']) {
    const view = byId(id);
    view.addEventListener('pointerover', (event) => move(event.target));
    view.addEventListener('focusin', (event) => move(event.target));
    view.addEventListener('pointerleave', (event) => event.relatedTarget !== button && unpoint());
    view.addEventListener('scroll', unpoint, {passive: true});
    new MutationObserver(() => follow(view)).observe(view, {childList: true, subtree: true});
    view.addEventListener('keydown', (event) => {
      if (isPressed(event, 'h')) open(rowOf(event.target));
    });
  }

  function unpoint() {
    if (pointed) lineOf(pointed).classList.remove('pointed');
    pointed = null;
    button.remove();
  }

  /** The rows were drawn anew: stand beside the same variable. A finger that is gone says nothing more. @param {HTMLElement} view */
  function follow(view) {
    if (!pointed || pointed.isConnected || !view.closest('.panel')?.contains(button)) return;
    const same = view.querySelector(`[data-path="${CSS.escape(pointed.dataset.path ?? '')}"]`);
    unpoint();
    move(same);
  }

  /** @param {EventTarget | null} target */
  function move(target) {
    const row = rowOf(target);
    const path = row?.dataset.path;
    if (!row || !path || (row === pointed && button.isConnected)) return;
    const panel = /** @type {HTMLElement} */ (row.closest('.panel'));
    unpoint();
    pointed = row;
    button.ariaLabel = `Values of ${path} over the stops`;
    button.title = `Values of ${path} over the stops (h)`;
    const line = lineOf(row);
    line.classList.add('pointed');
    const top = line.getBoundingClientRect().top - panel.getBoundingClientRect().top - panel.clientTop;
    button.style.setProperty('--row-top', `${top}px`);
    panel.append(button); // the list is drawn anew at each stop
  }

  /** @param {HTMLElement | null} row */
  function open(row) {
    const name = row?.dataset.path;
    if (!name) return;
    const {past, session, frames, stack} = store.state;
    if (past?.moment && store.state.run) return run.history({expression: name});
    const top = frames.index === 0 && frames.threadId === stack?.threadId;
    showValues(name, history, {
      call,
      functionName: top ? frames.list[0]?.location.functionName ?? frames.list[0]?.name ?? null : null,
      sessionId: past?.sessionId ?? session?.sessionId ?? null,
    });
  }

  return open;
}

/** The line of a row, which may have more below it. @param {HTMLElement} row */
const lineOf = (row) => row.querySelector('summary') ?? row;

/** @param {EventTarget | null} target @returns {HTMLElement | null} */
const rowOf = (target) => (target instanceof Element ? target.closest('[data-path]') : null);
