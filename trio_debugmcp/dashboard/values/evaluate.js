// Evaluating in the frame that is shown: a field with a history, and its results.

import {evaluated as asShown} from '../answers.js';
import {keepAtEnd} from '../view/at_end.js';
import {byId, el, setText} from '../view/dom.js';
import {TYPED} from '../timeline/events.js';
import {frameArguments, frameName, frameOfStop, isCut, isPath} from '../program/frame.js';
import {showValue, wholeValue} from './value_view.js';
import {brief, plural} from '../view/words.js';

const KEY = 'trio-debugmcp.history';
const KEPT_EXPRESSIONS = 100;
const KEPT_RESULTS = 50;
const MOST_CHARACTERS = 1_000_000;
const SHOWN_CHARACTERS = 2000;

const AS_IT_WAS = 'As it was when it was evaluated';
const NOT_SET = 'It cannot be set from here: the program has moved since, or another frame is shown. Evaluate it again.';

export function createEvaluate(store, actions) {
  const panel = byId('evaluate-panel');
  const results = byId('evaluations');
  const note = byId('evaluate-note');
  const history = stored();
  let at = history.length;
  let draft = '';
  let forgotten = 0;

  const input = el('textarea', {
    name: 'evaluate',
    rows: 1,
    className: 'typed',
    placeholder: 'Expression',
    ariaLabel: 'Expression to evaluate',
    title: 'An expression, or statements. Enter evaluates, Shift+Enter begins a line, ↑ and ↓ are the history',
    autocomplete: 'off',
    spellcheck: false,
  });
  const form = el('form', {onsubmit: submitted}, input, el('button', {type: 'submit', className: 'button'}, 'Evaluate'));
  input.addEventListener('keydown', typed);
  results.after(form);
  keepAtEnd(results);

  store.watch(['role'], ({role}) => {
    panel.hidden = role !== 'control';
  });
  store.watch(['frames', 'stack', 'active', 'session', 'past', 'follow'], (state) => {
    setText(note, state.active ? `in ${frameName(state)}` : '');
    note.title = note.textContent ?? ''; // where there is no room for all of it
  });

  /** @param {KeyboardEvent} event */
  function typed(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
    // The history begins where the text ends: within several lines, the arrows move the caret first.
    const before = input.value.slice(0, input.selectionStart).includes('\n');
    const after = input.value.slice(input.selectionEnd).includes('\n');
    if (event.key === 'ArrowUp' && !before) browse(-1, event);
    if (event.key === 'ArrowDown' && !after) browse(1, event);
  }

  /** @param {number} step @param {KeyboardEvent} event */
  function browse(step, event) {
    const to = at + step;
    if (to < 0 || to > history.length) return;
    event.preventDefault();
    if (at === history.length) draft = input.value;
    at = to;
    input.value = history[at] ?? draft;
    input.setSelectionRange(input.value.length, input.value.length);
  }

  /** @param {SubmitEvent} event */
  async function submitted(event) {
    event.preventDefault();
    const expression = input.value.trim();
    if (!expression) return;
    remember(expression);
    form.reset();
    const row = el('li', {className: 'evaluation', ariaBusy: 'true'}, el('code', {className: 'asked'}, expression));
    results.append(row);
    while (results.childElementCount > KEPT_RESULTS) {
      results.firstElementChild?.remove();
      forgotten += 1;
      setText(byId('evaluations-note'), `${plural(forgotten, 'earlier result')} not kept`);
    }
    results.scrollTop = results.scrollHeight;
    const where = {name: frameName(store.state), frame: frameOfStop(store.state)};
    row.append(answerOf(expression, where, await evaluated(expression)));
    row.ariaBusy = null;
    results.scrollTop = results.scrollHeight;
    actions.refresh();
  }

  async function evaluated(expression) {
    const args = {expression, ...frameArguments(store.state), max_value_length: MOST_CHARACTERS, ...TYPED};
    try {
      return asShown(await actions.call('evaluate', args));
    } catch (error) {
      return {error: error.message};
    }
  }

  function answerOf(expression, where, {value, type, printed, executed, error}) {
    const text = error ?? [printed, value === undefined ? (executed ? 'done' : '') : value].filter(Boolean).join('\n');
    const shown = brief(text, SHOWN_CHARACTERS);
    const whole = () => {
      const path = isPath(expression) && !error ? expression : null;
      // Set is what is there now: of an earlier stop, or another frame, that is something else.
      const isHere = where.frame !== null && where.frame === frameOfStop(store.state);
      const load = path && isHere ? () => wholeValue(actions.call, store.state, path) : undefined;
      showValue({title: expression, shown: text, type, path, load, why: path && !isHere ? `${AS_IT_WAS} in ${where.name}. ${NOT_SET}` : ''}, store, actions);
    };
    return el(
      'button',
      {
        type: 'button',
        className: `plain answer${error ? ' problem' : ''}`,
        title: `in ${where.name}; a click shows all of it`,
        onclick: whole,
      },
      shown,
      type ? el('span', {className: 'type'}, ` ${type}`) : null,
      isCut(text) ? el('span', {className: 'type'}, ' (cut)') : null,
    );
  }

  function remember(expression) {
    if (history.at(-1) !== expression) history.push(expression);
    history.splice(0, history.length - KEPT_EXPRESSIONS);
    at = history.length;
    draft = '';
    sessionStorage.setItem(KEY, JSON.stringify(history));
  }
}

/** @returns {string[]} */
function stored() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string').slice(-KEPT_EXPRESSIONS) : [];
  } catch {
    return [];
  }
}
