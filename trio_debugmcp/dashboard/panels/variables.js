// Variables as rows: name, value, value at the previous stop. A page in control can open their children.

import {byId, el, redraw, setText} from '../dom.js';
import {clock} from '../words.js';

/** What the user has opened stays open from stop to stop. */
const opened = new Set();

export function createLocals(store, actions) {
  const view = byId('locals');
  const note = byId('locals-note');
  store.watch(['frames', 'changed', 'stack', 'role'], ({frames, changed, stack, role}) => {
    const marks = frames.following ? changed : new Map();
    const stale = stack?.stale ?? false;
    view.dataset.stale = String(stale);
    setText(note, noteOf(frames, stack, marks));
    const look = role === 'control' && !stale ? actions.children : null;
    const hint = hintOf(frames, role);
    const rows = (frames.locals ?? []).map((variable) => variableRow(variable, marks, look));
    redraw(view, hint ? [el('p', {className: 'nothing'}, hint)] : rows);
  });
}

function noteOf(frames, stack, marks) {
  if (stack === null) return '';
  if (stack.stale) return stack.capturedAt ? `as of ${clock(stack.capturedAt)}` : '';
  return marks.size > 0 ? `${marks.size} changed` : frames.list[frames.index]?.name ?? '';
}

function hintOf({locals, list, following}, role) {
  if (list.length === 0) return 'Shown when the program stops.';
  if (locals?.length === 0) return 'No local variables.';
  if (!locals && !following && role === 'observe') return 'An observer sees the locals of the top frame.';
  return '';
}

/** Create a row; with `look(path)` and children, it is a disclosure that fetches them when it is opened. */
function variableRow(variable, marks, look) {
  const {path, childCount} = variable;
  const dataset = {path, changed: String(marks.has(path))};
  const content = contentOf(variable, marks);
  if (!look || childCount === 0) return el('div', {className: 'variable', dataset}, ...content);
  const inside = el('div', {className: 'inside'});
  const summary = el('summary', {dataset: {key: path}}, ...content);
  const row = el('details', {className: 'variable', dataset}, summary, inside);
  row.addEventListener('toggle', async (event) => {
    if (event.target !== row) return;
    if (row.open) opened.add(path);
    else opened.delete(path);
    if (!row.open || inside.hasChildNodes()) return;
    const children = await look(path);
    inside.replaceChildren(...children.map((child) => variableRow(child, new Map(), look)));
  });
  row.open = opened.has(path);
  return row;
}

function contentOf({name, value, type, path}, marks) {
  const content = [
    el('span', {className: 'name', title: name}, name),
    el('span', {className: 'value', title: type ? `${type}\n${value}` : value}, value),
  ];
  if (!marks.has(path)) return content;
  const before = marks.get(path);
  if (before === null) return [...content, el('span', {className: 'badge'}, 'new')];
  return [
    ...content,
    el('span', {className: 'before', title: before}, el('span', {className: 'unseen'}, 'before: '), before),
    el('span', {className: 'badge'}, 'changed'),
  ];
}
