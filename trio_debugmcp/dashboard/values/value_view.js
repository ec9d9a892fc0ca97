// A value in a dialog of its own: whole, to be read, copied, and in control set anew.

import {evaluated} from '../answers.js';
import {copy} from '../view/clipboard.js';
import {field, openDialog} from '../view/dialog.js';
import {el, setText} from '../view/dom.js';
import {frameArguments, isCut} from '../program/frame.js';
import {editable, isLiteral} from './literal.js';
import {lastStop} from '../past/moment.js';

/** @typedef {import('./literal.js').Value} Value */

const MOST_CHARACTERS = 1_000_000;
const MOST_BYTES = 10_000_000;

/**
 * Return the whole value of a path in the frame that is shown. An observer's question runs no code of the program.
 *
 * @param {(name: string, args: object) => Promise<any>} call
 * @param {{frames: any, stack: any, role: string | null}} state
 * @param {string} path
 * @returns {Promise<Value>}
 */
export async function wholeValue(call, state, path) {
  const where = {...frameArguments(state), max_value_length: MOST_CHARACTERS};
  if (state.role !== 'control') return valueOf(await call('evaluate_safe', {expression: path, ...where}));
  const wanted = {...where, max_result_bytes: MOST_BYTES};
  if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(path)) {
    const [variable] = (await call('variables_get', {...wanted, scope: 'all', names: [path]})).variables;
    if (variable) return variable;
  } else {
    const {value} = await call('variables_get', {...wanted, path, count: 1});
    if (value !== null) return value;
  }
  // Of something with parts, what its list shows is its repr: this has all of it.
  return valueOf(await call('evaluate', {expression: path, ...where}));
}

/** @returns {Value} */
function valueOf(answer) {
  const {value = '(no value)', type} = evaluated(answer);
  return {value, type};
}

/**
 * Show a value. `load` gets the whole one as it is now; with that and a `path` it can be set, where the page is in control.
 * `why`: a sentence on why it cannot be set. `picture` gets what is inside of it as a picture, if it is like a table or numbers.
 *
 * @param {{title: string, shown?: string, type?: string | null, load?: () => Promise<Value>, path?: string | null, why?: string,
 *   picture?: () => Promise<HTMLElement | null>}} value
 * @param {any} store
 * @param {any} actions
 */
export function showValue({title, shown = '', type = null, load, path = null, why = '', picture}, store, actions) {
  let raw = shown;
  const text = el('pre', {className: 'whole', tabIndex: 0, ariaLabel: `Value of ${title}`}, shown);
  const note = el('p', {className: 'hint', role: 'status'}, load ? 'Fetching all of it…' : lengthOf({value: shown, type}));
  const button = el('button', {type: 'button', className: 'button', onclick: () => copy(raw, button)}, 'Copy');
  button.disabled = Boolean(load); // until there is all of it: what is cut would be taken for the value
  const settable = path !== null && load && store.state.role === 'control' && store.state.stack?.stale === false;
  const setter = settable ? setterOf(path, actions, store, isSet) : null;
  const inside = el('div', {hidden: true});
  openDialog({title, className: 'wide'}, inside, text, el('div', {className: 'under'}, note, button), setter?.node, why && el('p', {className: 'hint'}, why));
  text.focus();
  picture?.().then(
    (node) => {
      if (!node) return;
      inside.hidden = false; // it has a size only then
      inside.append(node);
    },
    () => undefined, // what can be said of it is said below
  );
  load?.().then(
    (value) => {
      if (setter?.begin(value) === false) return; // it was set meanwhile, and this is older: that one is shown
      show(value);
    },
    (error) => {
      note.textContent = error.message;
      button.textContent = 'Copy this part';
      button.disabled = false;
    },
  );

  /** @param {Value} value */
  function show(value) {
    raw = value.value;
    setText(text, raw); // with marks for what is not seen, which are not copied
    note.textContent = lengthOf(value);
    button.textContent = isCut(value.value) ? 'Copy this part' : 'Copy';
    button.disabled = false;
  }

  /** @param {string} said  What the server has answered: shown if it is not read again. */
  async function isSet(said) {
    show(await /** @type {() => Promise<Value>} */ (load)().catch(() => ({value: said, type: null})));
    note.textContent = 'Set.';
  }
}

/** @param {Value} value */
function lengthOf({value, type}) {
  if (isCut(value)) return 'Not all of it: the server shortens values as large as this. Open it in its list, or evaluate a part.';
  const length = `${value.length.toLocaleString('en')} ${value.length === 1 ? 'character' : 'characters'}, all of it`;
  return type ? `${length} · of type ${type}` : length;
}

/** The stop whose stack is shown; null once the program has moved, of which the timeline may know before the stack. */
function stopShown({session, stack, events}) {
  if (stack?.stale !== false) return null;
  const last = lastStop(events, session?.sessionId)?.payload.stop ?? 0;
  if (last > (stack.stop ?? Infinity)) return null;
  return `${session?.sessionId} ${session?.attachedAt} ${stack.stop ?? stack.capturedAt}`;
}

/** The field that sets it. What it was at opening can be put back, if an expression can say it: it is set again. */
function setterOf(path, actions, store, done) {
  const input = el('textarea', {className: 'typed', rows: 1, autocomplete: 'off', spellcheck: false});
  const {node, refuse} = field('New value', input, 'An expression. Enter sets it, Escape leaves it as it is.');
  const where = frameArguments(store.state);
  const begun = stopShown(store.state);
  /** @type {string | null}  Null until it has come: nothing can be put back that is not known. */
  let before = null;
  let touched = false;
  let isSet = false;
  const undo = el('button', {type: 'button', className: 'button', hidden: true, onclick: () => set(before ?? '', true)}, 'Undo');
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
    if (begun === null || stopShown(store.state) !== begun) return refuse('The program has moved since this was opened. Open the value again.');
    try {
      const {variable} = await actions.call('variable_set', {path, value, ...where});
      isSet = true;
      await actions.refresh();
      undo.hidden = isUndo || before === null || isCut(before) || !isLiteral(before);
      undo.title = `Set it to ${(before ?? '').slice(0, 200)} again`;
      if (isUndo) input.value = value;
      await done(variable.value);
    } catch (error) {
      refuse(error.message);
    }
  }

  /** The whole value has come: it is what is edited, unless something was typed meanwhile. @param {Value} value */
  function begin(value) {
    if (isSet) return false;
    before = editable(value);
    if (!touched && !isCut(before)) {
      input.value = before;
      if (document.activeElement === input) input.select(); // a person is about to type: that takes its place
    }
    return true;
  }

  return {node: form, begin};
}
