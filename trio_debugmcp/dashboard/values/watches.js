// Watched expressions of a page in control, evaluated at every stop in the frame that is shown.

import {disclosure, leaf, withTabStop} from '../view/disclosures.js';
import {byId, el, redraw, setText} from '../view/dom.js';
import {frameKey, frameName, isPath} from '../program/frame.js';

/** What the user has opened stays open from stop to stop. */
const opened = new Set();

export function createWatches(store, actions) {
  const panel = byId('watches-panel');
  const view = byId('watches');
  const note = byId('watches-note');
  const rows = el('div');
  let evaluatedAt = '';
  let sessionKey = '';
  let known = new Set();
  /** The expression that is being edited, if one is. */
  let edited = null;

  const input = el('input', {
    name: 'expression',
    placeholder: 'Expression to watch',
    ariaLabel: 'Expression to watch',
    autocomplete: 'off',
    spellcheck: false,
  });
  const form = el('form', {onsubmit: submitted}, input, el('button', {type: 'submit'}, 'Add'));

  /** @param {SubmitEvent} event */
  function submitted(event) {
    event.preventDefault();
    const expression = input.value.trim();
    if (expression) actions.addWatch(expression);
    form.reset();
  }

  store.watch(['role'], ({role}) => {
    panel.hidden = role !== 'control';
    view.replaceChildren(...(role === 'control' ? [rows, form] : []));
  });

  // Values belong to one session: those of an earlier one, or of a server that is gone, are dropped.
  store.watch(['session', 'link'], ({session, link}) => {
    const key = session ? `${session.sessionId} ${session.attachedAt}` : sessionKey;
    if (key === sessionKey && link.status === 'open') return;
    sessionKey = link.status === 'open' ? key : '';
    evaluatedAt = '';
    if (store.state.watches.some((each) => 'value' in each || 'error' in each)) actions.forgetWatchValues();
  });

  store.watch(['watches', 'stack', 'frames'], (state) => {
    const {watches, stack} = state;
    rows.dataset.stale = String(stack?.stale ?? true);
    setText(note, watches.length && stack?.stale === false ? `in ${frameName(state)}` : '');
    if (edited === null) redraw(rows, watches.map((watch) => row(watch)));
  });

  // What is new is due at once; in the past nothing is evaluated, and it is due when now is shown again.
  store.watch(['watches'], ({watches}) => {
    const expressions = watches.map(({expression}) => expression);
    if (expressions.some((each) => !known.has(each))) evaluatedAt = '';
    known = new Set(expressions);
  });

  store.watch(['watches', 'stack', 'role', 'frames', 'session'], (state) => {
    const {stack, role, link} = state;
    const key = frameKey(state);
    if (role !== 'control' || link.status !== 'open' || !stack || stack.stale || key === evaluatedAt) return;
    evaluatedAt = key;
    evaluate(key);
  });

  /** @param {string} key */
  async function evaluate(key) {
    const all = await actions.evaluateWatches();
    if (!all && evaluatedAt === key) evaluatedAt = ''; // that frame may be shown again: at a start the page is drawn anew
  }

  function row({expression, value, error, before}) {
    const changed = before !== undefined && value !== undefined && before !== value;
    const dataset = {path: expression, changed: String(changed)};
    const content = [
      el('span', {className: 'name', title: expression}, expression),
      el('span', {className: error ? 'value error' : 'value', title: error ?? value}, error ? withoutExpression(error, expression) : value ?? '…'),
      changed ? el('span', {className: 'badge', title: `before: ${before}`}, 'changed') : null,
    ];
    const opens = isPath(expression) && value !== undefined && store.state.stack?.stale === false;
    return el(
      'div',
      {className: 'watch'},
      opens ? opening(expression, dataset, content, actions) : withTabStop([leaf(dataset, content)])[0],
      button('✎', `Edit ${expression}`, (event) => edit(event, expression)),
      button('×', `Stop watching ${expression}`, () => actions.removeWatch(expression)),
    );
  }

  /** Put a field in the place of a row; Enter keeps what was typed, Escape what was there. */
  function edit(event, expression) {
    const place = event.target.closest('.watch');
    edited = expression;
    const field = el('input', {value: expression, className: 'typed', ariaLabel: `Expression in place of ${expression}`, spellcheck: false});
    const done = (text) => {
      if (edited === null) return;
      edited = null;
      if (text && text !== expression) actions.changeWatch(expression, text);
      else store.update({watches: [...store.state.watches]});
    };
    field.addEventListener('keydown', (each) => {
      each.stopPropagation();
      if (each.key === 'Enter') done(field.value.trim());
      if (each.key === 'Escape') done('');
    });
    field.addEventListener('blur', () => done(field.value.trim()));
    place.replaceWith(el('div', {className: 'variable'}, field));
    field.select();
  }
}

const button = (sign, label, onclick) =>
  el('button', {type: 'button', className: 'remove', ariaLabel: label, title: label, onclick}, sign);

function opening(path, dataset, content, actions) {
  return disclosure(dataset, content, `in-${path}`, opened, async (inside) => {
    const children = await actions.children(path);
    inside.replaceChildren(...(children.length ? children.map((each) => childRow(each, actions)) : [el('p', {className: 'nothing'}, 'Nothing inside.')]));
  });
}

function childRow({name, value, path, childCount}, actions) {
  const content = [el('span', {className: 'name', title: name}, name), el('span', {className: 'value', title: value}, value)];
  const dataset = {path};
  return childCount === 0 || path === null ? leaf(dataset, content) : opening(path, dataset, content, actions);
}

/** An error as its row shows it, beside the expression. */
function withoutExpression(error, expression) {
  const known = `\`${expression}\` failed: `;
  return error.startsWith(known) ? error.slice(known.length) : error;
}
