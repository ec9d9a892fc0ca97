// Searching in rows that are not all in the document, where the browser's own search finds a part only.

import {el} from './dom.js';
import {isPressed} from './single_keys.js';

/** Marks of what is found: more would cost more than they show. */
const MOST_MARKS = 2000;

/**
 * A search field for a panel: `search(word)`, in lower case, returns what has it, `show(target)` brings that into view.
 *
 * @template Target
 * @param {{label: string, keys?: string, view: HTMLElement, search: (word: string) => Target[],
 *   show: (target: Target) => void}} options
 */
export function createFind({label, keys = '', view, search: searched, show}) {
  const input = el('input', {type: 'search', className: 'find', placeholder: 'Find', ariaLabel: label, spellcheck: false, autocomplete: 'off',
    title: `${keys ? `${keys} · ` : ''}Enter: the next, Shift+Enter: the one before`});
  const note = el('span', {className: 'note', ariaLive: 'polite'});
  /** @type {Target[]} */
  let found = [];
  let at = -1;
  let word = '';

  input.addEventListener('input', () => search(true));
  input.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key === 'Escape') {
      input.value = '';
      search(true);
      view.focus();
    }
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    search(false);
    if (found.length) go(at + (event.shiftKey ? -1 : 1));
  });
  document.addEventListener('keydown', (event) => {
    if (!isPressed(event, keys) || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  /** Look again: rows may have come meanwhile. @param {boolean} anew */
  function search(anew) {
    word = input.value;
    const lower = word.toLowerCase();
    found = lower ? searched(lower) : [];
    if (anew) at = -1;
    if (anew && found.length) go(0);
    else tell();
    if (!lower) mark(view, '');
  }

  /** @param {number} index */
  function go(index) {
    at = (index + found.length) % found.length;
    show(found[at]);
    tell();
    requestAnimationFrame(() => mark(view, word));
  }

  function tell() {
    note.textContent = word === '' ? '' : found.length ? `${at + 1} of ${found.length}` : 'not found';
  }

  view.addEventListener('scroll', () => word && requestAnimationFrame(() => mark(view, word)), {passive: true});
  return {node: el('span', {className: 'finder'}, input, note), input};
}

/** Mark what is found in the rows that are drawn, without touching them. @param {HTMLElement} view @param {string} word */
function mark(view, word) {
  if ('highlights' in CSS) CSS.highlights.set('found', new Highlight(...(word ? rangesOf(view, word.toLowerCase()) : [])));
}

/** Where a word is in the texts of a view. @param {HTMLElement} view @param {string} word  in lower case */
export function rangesOf(view, word) {
  const ranges = [];
  const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MOST_MARKS; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLowerCase();
    if (text.length !== node.textContent?.length) continue; // of letters that are two in lower case
    for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + word.length)) {
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, from + word.length);
      ranges.push(range);
    }
  }
  return ranges;
}
