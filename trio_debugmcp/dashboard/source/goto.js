// Go to a file, or to a line of it: a list of the program's sources that is filtered as one types.

import {openDialog} from '../view/dialog.js';
import {byId, el, isTyping} from '../view/dom.js';
import {baseName, plural} from '../view/words.js';

const SHOWN_FILES = 200;

export function createGoTo(store, actions) {
  const button = el('button', {
    type: 'button',
    className: 'small',
    ariaLabel: 'Go to file',
    title: 'Go to a file or a line (Ctrl+P)',
    'aria-keyshortcuts': 'Control+P',
    onclick: open,
  }, 'Go to…');
  byId('source-tools').append(button);
  store.watch(['active'], ({active}) => {
    button.hidden = !active;
  });
  document.addEventListener('keydown', (event) => {
    const mine = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'p';
    // Without a session there is nothing to go to, and the browser prints.
    if (!mine || isTyping(event.target) || !store.state.active) return;
    event.preventDefault();
    open();
  });

  function open() {
    const input = el('input', {
      className: 'typed',
      role: 'combobox',
      ariaLabel: 'File, or file:line',
      ariaExpanded: 'true',
      'aria-controls': 'goto-files',
      autocomplete: 'off',
      spellcheck: false,
      placeholder: 'Part of a name · name:120 · :120',
    });
    const list = el('ul', {id: 'goto-files', role: 'listbox', ariaLabel: 'Source files', className: 'files'});
    const note = el('p', {className: 'hint', role: 'status'}, 'Asking for the files…');
    const dialog = openDialog({title: 'Go to', className: 'wide'}, el('div', {}, input), list, note);
    let files = /** @type {string[]} */ ([]);
    let shown = /** @type {string[]} */ ([]);
    let chosen = 0;
    input.addEventListener('input', () => draw());
    input.addEventListener('keydown', walk);
    list.addEventListener('click', (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest('li');
      if (row) go(shown[[...list.children].indexOf(row)]);
    });
    input.focus();
    sources(actions.call).then(
      (found) => {
        files = found;
        draw();
      },
      (error) => (note.textContent = error.message),
    );

    function draw() {
      const {words} = parsed(input.value);
      const found = matching(files, words);
      shown = found.slice(0, SHOWN_FILES);
      chosen = 0;
      list.replaceChildren(...shown.map((path, index) => fileRow(path, index)));
      const more = found.length > shown.length ? `, the first ${shown.length} shown` : '';
      note.textContent = `${plural(found.length, 'file')} of ${files.length} that the program is known to have${more}`;
      choose(0);
    }

    function choose(index) {
      if (shown.length === 0) return input.removeAttribute('aria-activedescendant');
      chosen = Math.max(0, Math.min(shown.length - 1, index));
      [...list.children].forEach((row, at) => (row.ariaSelected = String(at === chosen)));
      list.children[chosen].scrollIntoView({block: 'nearest'});
      input.setAttribute('aria-activedescendant', list.children[chosen].id);
    }

    /** @param {KeyboardEvent} event */
    function walk(event) {
      const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10}[event.key];
      if (step) {
        event.preventDefault();
        choose(chosen + step);
      } else if (event.key === 'Enter' && !event.isComposing) {
        event.preventDefault();
        go(shown[chosen]);
      }
    }

    /** @param {string | undefined} path */
    function go(path) {
      const {words, line} = parsed(input.value);
      const file = words === '' && line !== null ? store.state.place?.file : path;
      if (!file) return;
      dialog.close();
      actions.showPlace(file, line ?? (file === store.state.place?.file ? store.state.place?.line : 1));
      byId('source').focus();
    }
  }
}

/** All files, page by page: the answer is cut at what fits in one. */
async function sources(call) {
  /** @type {string[]} */
  const found = [];
  for (;;) {
    const {sources: page, total} = await call('sources_list', {start: found.length, count: 10_000});
    found.push(...page.map(({file}) => file));
    if (page.length === 0 || found.length >= total) return found;
  }
}

/** @param {string} text  part of a name, with `:line` at its end */
export function parsed(text) {
  const [, words, line] = /^(.*?)(?::(\d+))?:?$/s.exec(text.trim()) ?? ['', text, undefined];
  return {words: words.trim(), line: line ? Number(line) : null};
}

/** The files that have all words, those first whose name has them. */
export function matching(files, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = files.filter((path) => wanted.every((word) => path.toLowerCase().includes(word)));
  const rank = (path) => (wanted.every((word) => baseName(path).toLowerCase().includes(word)) ? 0 : 1);
  return found.sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : one > other ? 1 : 0));
}

function fileRow(path, index) {
  const name = baseName(path);
  return el(
    'li',
    {role: 'option', id: `goto-${index}`, className: 'row', title: path},
    el('span', {className: 'name'}, name),
    el('span', {className: 'grow where'}, path.slice(0, path.length - name.length)),
  );
}
