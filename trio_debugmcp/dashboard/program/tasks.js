// The tasks of asyncio or Trio while the program runs: a tree, in which many alike are one row.

import {byId, el, redraw, setText} from '../view/dom.js';
import {placeNode} from '../view/places.js';
import {rove} from '../view/roving.js';
import {plural} from '../view/words.js';

/** @typedef {import('./now.js').TaskNow} TaskNow @typedef {{task: TaskNow, names: string[]}} TaskRow */

/** Rows that are drawn; the rest is counted. */
const MOST_ROWS = 300;
const NAMED = 20;

/** @param {import('../store.js').Store} store */
export function createTasks(store, actions) {
  const [list, note] = [byId('tasks'), byId('tasks-note')];
  const settle = rove(list, '[role=treeitem]');
  store.watch(['now', 'past'], ({now, past}) => {
    const tasks = past ? [] : now?.tasks ?? [];
    byId('tasks-panel').hidden = tasks.length === 0;
    const rows = rowsOf(tasks);
    const left = now ? now.totalTasks - tasks.length : 0;
    setText(note, `${plural(now?.totalTasks ?? 0, 'task')} now${left > 0 ? `, ${left} not shown` : ''}`);
    const hidden = rows.length - MOST_ROWS;
    redraw(list, [
      ...rows.slice(0, MOST_ROWS).map((row) => taskNode(row, actions)),
      ...(hidden > 0 ? [el('li', {className: 'row note', role: 'treeitem', tabIndex: -1}, `${plural(hidden, 'more row')}`)] : []),
    ]);
    settle();
  });
}

/** Where a task is in the user's code; else in a library. @param {TaskNow} task */
export const placeOf = ({frames}) => (frames.findLast(({isUserCode}) => isUserCode) ?? frames.at(-1))?.location ?? null;

/**
 * Return a row for each task; those without tasks below them that are at the same place, for the same, are one.
 *
 * @param {TaskNow[]} tasks  Each before those of its nurseries.
 * @returns {TaskRow[]}
 */
export function rowsOf(tasks) {
  /** @type {TaskRow[]} */
  const rows = [];
  /** The rows of the nursery that is open at each depth, by what is the same in them. @type {Map<string, TaskRow>[]} */
  const open = [];
  tasks.forEach((task, index) => {
    open.length = Math.min(open.length, task.depth + 1);
    const isLeaf = (tasks[index + 1]?.depth ?? 0) <= task.depth;
    const siblings = (open[task.depth] ??= new Map());
    const key = JSON.stringify([task.state, task.waitsFor, task.threadId, placeOf(task), task.frames.map(({name}) => name)]);
    const known = isLeaf ? siblings.get(key) : undefined;
    if (known) {
      known.names.push(task.name);
      return;
    }
    const row = {task, names: [task.name]};
    if (isLeaf) siblings.set(key, row);
    rows.push(row);
  });
  return rows;
}

/** @param {TaskRow} row */
function taskNode({task, names}, actions) {
  const there = placeOf(task);
  const show = () => there?.file && actions.showPlace(there.file, there.line);
  const waits = task.waitsFor ? `waits for ${task.waitsFor}` : task.state;
  const chain = task.frames.map(({name}) => name).join(' › ');
  return el(
    'li',
    {
      role: 'treeitem', className: 'row task', tabIndex: -1, ariaLevel: String(task.depth + 1),
      dataset: {key: names[0], depth: String(Math.min(3, task.depth))},
      title: [names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ` and ${names.length - NAMED} more` : ''), chain, waits].join('\n'),
      onclick: show,
      onkeydown: (event) => { if (event.key === 'Enter') show(); },
    },
    el('span', {className: `dot thread-${task.state.toLowerCase()}`}),
    el(
      'span', {className: 'grow'},
      el('span', {className: 'name'}, names.length > 1 ? `${names[0]} … ${names.at(-1)}` : names[0]),
      names.length > 1 ? el('span', {className: 'badge many'}, `× ${names.length}`) : null,
      el('span', {className: 'detail'}, waits),
    ),
    there ? placeNode(there) : null,
  );
}
