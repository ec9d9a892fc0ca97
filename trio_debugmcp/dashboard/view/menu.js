// A menu at a place on the page: arrow keys, letters, Enter, Escape; the focus returns to where it was.

import {byId, el} from './dom.js';

const EDGE_PIXELS = 8;

/** @type {(() => void) | null} */
let close = null;

/**
 * @param {{x: number, y: number}} place  in the window
 * @param {string} label
 * @param {{name: string, hint?: string, run: () => void}[]} items
 */
export function openMenu({x, y}, label, items) {
  close?.();
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  const buttons = items.map(({name, hint, run}) =>
    el(
      'button',
      {type: 'button', role: 'menuitem', tabIndex: -1, onclick: () => (leave(), run())},
      el('span', {}, name),
      hint ? el('kbd', {}, hint) : null,
    ),
  );
  const menu = el('div', {className: 'menu', role: 'menu', ariaLabel: label, onkeydown: walk}, ...buttons);
  const outside = (event) => menu.contains(event.target) || leave();

  function leave() {
    close = null;
    document.removeEventListener('pointerdown', outside, true);
    window.removeEventListener('blur', leave);
    const inside = menu.contains(document.activeElement);
    menu.remove();
    if (inside && opener?.isConnected) opener.focus();
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    event.stopPropagation(); // the page's own keys are not for it while the menu is open
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const last = buttons.length - 1;
    const to = {ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last}[event.key];
    const letter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    const named = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)].find(
      (each) => letter && event.key !== ' ' && each.textContent?.toLowerCase().startsWith(event.key.toLowerCase()),
    );
    if (event.key === 'Escape' || event.key === 'Tab') leave();
    else if (to !== undefined) buttons[to].focus();
    else if (named) named.focus();
    else return;
    event.preventDefault();
  }

  close = leave;
  byId('main').append(menu); // a part of the page's content, as screen readers see it
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(EDGE_PIXELS, Math.min(x, innerWidth - box.width - EDGE_PIXELS))}px`;
  menu.style.top = `${Math.max(EDGE_PIXELS, Math.min(y, innerHeight - box.height - EDGE_PIXELS))}px`;
  document.addEventListener('pointerdown', outside, true);
  window.addEventListener('blur', leave);
  buttons[0]?.focus();
}
