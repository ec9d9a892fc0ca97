// Watched expressions of a page in control, evaluated at every stop.

import {byId, el, redraw} from '../dom.js';

export function createWatches(store, actions) {
  const panel = byId('watches-panel');
  const view = byId('watches');
  const rows = el('div');
  let evaluatedAt = null;

  const input = el('input', {
    name: 'expression',
    placeholder: 'Expression to watch',
    ariaLabel: 'Expression to watch',
    autocomplete: 'off',
    spellcheck: false,
  });
  const form = el('form', {onsubmit: submitted}, input, el('button', {type: 'submit'}, 'Add'));

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

  store.watch(['watches', 'stack'], ({watches, stack}) => {
    rows.dataset.stale = String(stack?.stale ?? true);
    redraw(rows, watches.map((watch) => row(watch, actions)));
  });

  store.watch(['stack', 'role'], ({stack, role}) => {
    if (role !== 'control' || !stack || stack.stale || stack.capturedAt === evaluatedAt) return;
    evaluatedAt = stack.capturedAt;
    actions.evaluateWatches();
  });
}

function row({expression, value, error, before}, actions) {
  const changed = before !== undefined && value !== undefined && before !== value;
  return el(
    'div',
    {className: 'variable', dataset: {path: expression, changed: String(changed)}},
    el('span', {className: 'name'}, expression),
    el('span', {className: error ? 'value error' : 'value', title: error ?? value}, error ?? value ?? '…'),
    changed ? el('span', {className: 'badge', title: `before: ${before}`}, 'changed') : null,
    el('button', {
      type: 'button',
      className: 'remove',
      ariaLabel: `Stop watching ${expression}`,
      title: 'Remove',
      onclick: () => actions.removeWatch(expression),
    }, '×'),
  );
}
