// Variables as rows: name, value, value at the previous stop. A page in control can open their children.

import {disclosure, leaf, withTabStop} from '../view/disclosures.js';
import {byId, el, redraw, setText} from '../view/dom.js';
import {frameKey} from '../program/frame.js';
import {moreRow} from '../view/more.js';
import {clock, oneLine} from '../view/words.js';
import {functionKey, ValueSeries} from './series.js';
import {sparkline} from './sparkline.js';

/** What the user has opened stays open from stop to stop. */
const opened = new Set();

/** `valuesOf(name, sessionId)` asks for the values that a variable had at the stops that are kept. */
export function createLocals(store, actions, valuesOf) {
  const series = new ValueSeries();
  const view = byId('locals');
  const note = byId('locals-note');
  /** Locals that the reader asked for beyond those of the stop, until another frame or stop is shown. */
  let further = {key: '', list: /** @type {any[]} */ ([])};

  const more = async () => {
    const key = frameKey(store.state);
    const list = further.key === key ? further.list : [];
    const found = await actions.lists.locals((store.state.frames.locals ?? []).length + list.length);
    if (frameKey(store.state) !== key) return;
    further = {key, list: [...list, ...found]};
    store.update({frames: store.state.frames});
  };

  /** What draws the numbers of a variable beside it, in the frame of a stop. */
  function lineOf({frames, changed, stack, past, session}) {
    const [stop, sessionId] = [past?.stop ?? stack?.stop, past?.sessionId ?? session?.sessionId];
    const isTop = frames.index === 0 && frames.threadId === stack?.threadId;
    if (!stop || !isTop || !frames.locals) return noLine;
    const key = functionKey(sessionId, frames.list[0]);
    series.look(key, stop, frames.locals);
    series.fill(key, [...changed.keys()], (name) => valuesOf(name, sessionId)).then((more) => more && store.update({frames: store.state.frames}));
    return (/** @type {{name: string}} */ {name}) => {
      const numbers = series.upTo(key, name, stop);
      return numbers.length ? sparkline(numbers) : null;
    };
  }

  store.watch(['frames', 'changed', 'stack', 'role', 'past'], (state) => {
    const {frames, changed, stack, role, past} = state;
    const marks = frames.following ? changed : new Map();
    const stale = stack?.stale ?? false;
    view.dataset.stale = String(stale);
    setText(note, noteOf(frames, stack, marks));
    const look = past ? (path) => actions.history.children(path) : role === 'control' && !stale ? actions.children : null;
    const line = lineOf(state);
    const hint = hintOf(frames, role, stale);
    const all = [...(frames.locals ?? []), ...(further.key === frameKey(store.state) ? further.list : [])];
    const rows = withTabStop(all.map((variable) => variableRow(variable, marks, look, line)));
    const rest = moreRow(all.length, totalOf(frames, stack), look && !past ? more : null);
    redraw(view, hint ? [el('p', {className: 'nothing'}, hint)] : [...rows, ...(rest ? [rest] : [])]);
  });
}

/** How many locals the frame has, of which a stop brings the first. */
function totalOf({locals, following}, stack) {
  return locals?.total ?? (following && locals === stack?.locals ? stack?.localsTotal : null);
}

function noteOf(frames, stack, marks) {
  if (stack === null || frames.seenAt) return '';
  if (stack.stale) return stack.capturedAt ? `as of ${clock(stack.capturedAt)}` : '';
  if (marks.size === 0) return frames.list[frames.index]?.name ?? '';
  const among = stack.locals?.length < stack.localsTotal ? ` of the first ${stack.locals.length}` : '';
  return `${marks.size} changed${among}${stack.comparedWith ? ` since stop ${stack.comparedWith}` : ''}`;
}

function hintOf({locals, list, following, hint}, role, stale) {
  if (hint) return hint;
  if (list.length === 0) return 'Shown when the program stops.';
  if (locals?.length === 0) return 'No local variables.';
  if (!locals && stale) return 'The program went on before the values of this frame were read.';
  if (!locals && !following && role === 'observe') return 'An observer sees the locals of the top frame.';
  return '';
}

/** @type {(variable: any) => Element | null} */
const noLine = () => null;

/** Create a row; with `look(path)` and children, it is a disclosure that fetches them when it is opened. */
function variableRow(variable, marks, look, line = noLine) {
  const {path, childCount} = variable;
  const dataset = {path, changed: String(marks.has(keyOf(variable)))};
  const content = contentOf(variable, marks, line(variable));
  if (!look || childCount === 0 || path === null) return leaf(dataset, content); // what has no path cannot be asked for
  return disclosure(dataset, content, path, opened, (inside) => {
    const page = async () => {
      const shown = inside.querySelectorAll(':scope > .variable').length;
      const children = await look(path, shown);
      inside.querySelector(':scope > .more-row')?.remove();
      inside.append(...children.map((child) => variableRow(child, new Map(), look)));
      const rest = children.length ? moreRow(shown + children.length, children.total, page) : null;
      if (rest) inside.append(rest);
    };
    return page();
  });
}

/** What the server knows a local by. */
const keyOf = ({name, path}) => path ?? name;

/** @param {any} variable @param {Map<string, any>} marks @param {Element | null} line  Its last numbers. */
function contentOf(variable, marks, line) {
  const {name, value, type} = variable;
  const content = [
    el('span', {className: 'name', title: name}, name),
    el('span', {className: 'value', title: type ? `${type}\n${value}` : value}, oneLine(value)),
    ...(line ? [line] : []),
  ];
  if (!marks.has(keyOf(variable))) return content;
  const before = marks.get(keyOf(variable));
  if (before === value) {
    const title = 'What is shown is the same; it has changed behind the cut, or inside.';
    return [...content, el('span', {className: 'badge', title}, 'changed inside')];
  }
  if (before === null) return [...content, el('span', {className: 'badge'}, 'new')];
  return [
    ...content,
    el('span', {className: 'before', title: before}, el('span', {className: 'unseen'}, 'before: '), oneLine(before)),
    el('span', {className: 'badge'}, 'changed'),
  ];
}
