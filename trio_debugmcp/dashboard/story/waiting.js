// The calls in flight, each with a running clock: what an agent does now.

import {byId, el, setText} from '../view/dom.js';

/** @typedef {import('./calls.js').Entry} Entry */

/** Return a function that draws these calls, with how long each has been in flight at `now`, the server's seconds. */
export function createWaiting() {
  const view = byId('story-now');
  /** @type {Map<string, HTMLElement>} */
  let drawn = new Map();

  /** @param {Entry[]} entries @param {number} now */
  return (entries, now) => {
    drawn = new Map(entries.map((entry) => [entry.key, drawn.get(entry.key) ?? line(entry)]));
    view.hidden = entries.length === 0;
    for (const child of [...view.children]) if (!drawn.has(child.getAttribute('data-call') ?? '')) child.remove();
    for (const entry of entries) {
      const node = /** @type {HTMLElement} */ (drawn.get(entry.key));
      if (node.parentElement !== view) view.append(node);
      setText(/** @type {HTMLElement} */ (node.querySelector('.age')), ageOf(entry, now));
    }
  };
}

/** @param {Entry} entry */
function line({key, who, person, title}) {
  const age = el('span', {className: 'age'});
  const waits = [el('strong', {}, who), ' waits in ', el('code', {}, title), ', ', age];
  return el('p', {dataset: {person, call: key}}, ...waits);
}

/** How long a call has been in flight. @param {Entry} entry @param {number} now */
export const ageOf = ({began}, now) => `${Math.max(0, Math.round(now - began))} s`;
