// Variables as rows: name, value, what it was at the stop before. A page in control can look inside them.

import {byId, el, setText} from '../dom.js';
import {clock} from '../words.js';

export function createLocals(store, actions) {
  const view = byId('locals');
  const note = byId('locals-note');
  store.watch(['frames', 'changed', 'stack', 'role'], ({frames, changed, stack, role}) => {
    const marks = frames.following ? changed : new Map();
    const stale = stack?.stale ?? false;
    view.dataset.stale = String(stale);
    setText(note, noteOf(frames, stack, marks));
    const open = role === 'control' && !stale ? actions.children : null;
    view.replaceChildren(...(frames.locals ?? []).map((variable) => variableRow(variable, marks, open)));
    if (frames.locals?.length === 0) view.replaceChildren(el('p', {className: 'nothing'}, 'No local variables.'));
    if (!frames.locals && frames.list.length > 0 && !frames.following && role === 'observe') {
      view.replaceChildren(el('p', {className: 'nothing'}, 'An observer sees the locals of the top frame.'));
    }
  });
}

function noteOf(frames, stack, marks) {
  if (stack === null) return '';
  if (stack.stale) return stack.capturedAt ? `as of ${clock(stack.capturedAt)}` : '';
  return marks.size > 0 ? `${marks.size} changed` : frames.list[frames.index]?.name ?? '';
}

/** A row, or with `open(path)` and something inside, a disclosure that fetches its children when it is opened. */
export function variableRow(variable, marks, open) {
  const {name, value, type, path, childCount} = variable;
  const changed = marks.has(path);
  const before = marks.get(path);
  const content = [
    el('span', {className: 'name'}, name),
    el('span', {className: 'value', title: type ? `${type}\n${value}` : value}, value),
    changed ? el('span', {className: 'badge', title: before === null ? '' : `before: ${before}`}, before === null ? 'new' : 'changed') : null,
    changed && before !== null ? el('span', {className: 'before'}, el('span', {className: 'unseen'}, 'before: '), before) : null,
  ];
  const dataset = {path, changed: String(changed)};
  if (!open || childCount === 0) return el('div', {className: 'variable', dataset}, ...content);
  const inside = el('div', {className: 'inside'});
  return el(
    'details',
    {
      className: 'variable',
      dataset,
      ontoggle: async (event) => {
        event.stopPropagation();
        if (!event.currentTarget.open || inside.hasChildNodes()) return;
        const children = await open(path);
        inside.replaceChildren(...children.map((child) => variableRow(child, new Map(), open)));
      },
    },
    el('summary', {}, ...content),
    inside,
  );
}
