// Keys that are a letter or a sign alone. A person who speaks to the browser, or strikes a key by mistake, can switch them off;
// this browser remembers it. (WCAG 2.1.4, Character Key Shortcuts)

import {isTyping} from './dom.js';

const KEY = 'trio-debugmcp.single-keys';

export const areOn = () => localStorage.getItem(KEY) !== 'off';

/** @param {boolean} on */
export function switchTo(on) {
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
}

/**
 * Whether a key is pressed alone, and is for the page: not where it is text, nor where it chooses from a list.
 *
 * @param {KeyboardEvent} event
 * @param {string} key
 */
export function isPressed(event, key) {
  const alone = event.key === key && !event.ctrlKey && !event.metaKey && !event.altKey;
  return alone && areOn() && !isTyping(event.target) && !(event.target instanceof HTMLSelectElement);
}
