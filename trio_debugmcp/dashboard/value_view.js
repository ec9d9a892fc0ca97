// A value in a dialog of its own: whole, to be read, copied, and in control set anew.

import {copy} from './clipboard.js';
import {field, openDialog} from './dialog.js';
import {el} from './dom.js';
import {frameArguments, isCut} from './frame.js';
import {lastStop} from './moment.js';

const MOST_CHARACTERS = 1_000_000;
const MOST_BYTES = 10_000_000;

/**
 * Return the whole value of a path in the frame that is shown. An observer's question runs no code of the program.
 *
 * @param {(name: string, args: object) => Promise<any>} call
 * @param {{frames: any, stack: any, role: string | null}} state
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function wholeValue(call, state, path) {
  const where = {...frameArguments(state), max_value_length: MOST_CHARACTERS};
  if (state.role !== 'control') return valueOf(await call('evaluate_safe', {expression: path, ...where}));
  if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(path)) {
    const args = {...where, scope: 'all', names: [path], max_result_bytes: MOST_BYTES};
    const {variables} = await call('variables_get', args);
    const value = variables[path];
    if (value !== undefined && value !== '<there is none of this name>') return value;
  } else {
    const {value} = await call('variables_get', {...where, path, count: 1, max_result_bytes: MOST_BYTES});
    if (value !== undefined) return value;
  }
  // Of something with parts, what its list shows is its repr: this has all of it.
  return valueOf(await call('evaluate', {expression: path, ...where}));
}

const valueOf = ({value, type}) => (value === undefined ? '(no value)' : type ? `${value} (${type})` : value);

/**
 * Show a value. `load` gets the whole one; with `path` it can be set, where the page is in control.
 *
 * @param {{title: string, shown?: string, load?: () => Promise<string>, path?: string | null}} value
 * @param {any} store
 * @param {any} actions
 */
export function showValue({title, shown = '', load, path = null}, store, actions) {
  const text = el('pre', {className: 'whole', tabIndex: 0, ariaLabel: `Value of ${title}`}, shown);
  const note = el('p', {className: 'hint', role: 'status'}, load ? 'Fetching all of it…' : lengthOf(shown));
  const button = el('button', {type: 'button', className: 'button', onclick: () => copy(text.textContent ?? '', button)}, 'Copy');
  const settable = path !== null && store.state.role === 'control' && store.state.stack?.stale === false;
  const setter = settable ? setterOf(path, shown, actions, store, (value) => (show(value), (note.textContent = 'Set.'))) : null;
  openDialog({title, className: 'wide'}, text, el('div', {className: 'under'}, note, button), setter?.node);
  text.focus();
  load?.().then(
    (value) => {
      show(value);
      setter?.begin(value);
    },
    (error) => (note.textContent = error.message),
  );

  /** @param {string} value */
  function show(value) {
    text.textContent = value;
    note.textContent = lengthOf(value);
  }
}

function lengthOf(text) {
  if (isCut(text)) return 'Not all of it: the server shortens values as large as this. Open it in its list, or evaluate a part.';
  return `${text.length.toLocaleString('en')} ${text.length === 1 ? 'character' : 'characters'}, all of it`;
}

/** The stop at which the program is, as far as the page knows. */
const stopNow = ({session, events}) =>
  `${session?.sessionId} ${session?.state} ${lastStop(events, session?.sessionId)?.payload.stop}`;

/** The field that sets it. The earlier text can be put back: it is set again, as an expression. */
function setterOf(path, shown, actions, store, done) {
  const input = el('textarea', {className: 'typed', rows: 1, value: shown, autocomplete: 'off', spellcheck: false});
  const {node, refuse} = field('New value', input, 'An expression. Enter sets it, Escape leaves it as it is.');
  const where = frameArguments(store.state);
  const begun = stopNow(store.state);
  let before = shown;
  let touched = false;
  const undo = el('button', {type: 'button', className: 'button', hidden: true, onclick: () => set(before, true)}, 'Undo');
  const form = el(
    'form',
    {onsubmit: (event) => (event.preventDefault(), set(input.value, false))},
    node,
    el('footer', {}, undo, el('button', {type: 'submit', className: 'button main'}, 'Set')),
  );
  input.addEventListener('input', () => (touched = true));
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  async function set(value, isUndo) {
    refuse('');
    if (!value.trim()) return refuse('Type an expression.');
    // Its frame has the number of another one by now, which may have the same name: nothing says that it was not meant.
    if (stopNow(store.state) !== begun) return refuse('The program has moved since this was opened. Open the value again.');
    try {
      const {variable} = await actions.call('variable_set', {path, value, ...where});
      await actions.refresh();
      undo.hidden = isUndo || isCut(before);
      undo.title = `Set it to ${before.slice(0, 200)} again`;
      if (isUndo) input.value = before;
      done(variable[path] ?? value);
    } catch (error) {
      refuse(error.message);
    }
  }

  /** The whole text has come: it is what is edited, unless something was typed meanwhile. */
  function begin(value) {
    before = value;
    if (!touched && !isCut(value)) input.value = value;
  }

  return {node: form, begin};
}
