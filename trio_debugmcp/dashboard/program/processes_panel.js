// The processes of all programs: choosing one shows it, until it ends or one goes back to where the program is. Few are a list,
// many a grid; what all of them do is a tree of their stacks.

import {ProcessGrid} from '../fleet/process_grid.js';
import {StackTree} from '../fleet/stack_tree.js';
import {byId, el, setData, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {placeNode} from '../view/places.js';
import {depthOf, namesOf, partsOf, processesOf} from './processes.js';
import {shareInWords} from './processor.js';
import {whyPaused} from '../view/words.js';

/** Of more processes than these each is one line. */
const MOST_TALL = 5;

/** More processes than these are a grid. */
const MOST_LISTED = 24;

/** @typedef {import('./processes.js').Process} Process */

/** @param {import('../store.js').Store} store @param {(id: string) => void} choose @param {() => Promise<void>} look  At all of them. */
export function createProcesses(store, choose, look) {
  const list = byId('children');
  const grid = new ProcessGrid({choose, look});
  const tree = new StackTree({choose, look});
  list.after(grid.node, tree.node);
  const stacks = el('button', {type: 'button', className: 'small', ariaPressed: 'false', title: 'The stacks of all processes, merged', onclick: toggle}, 'Stacks');
  byId('children-tools').append(stacks);
  /** @type {string | null} */
  let revealed = null;

  function toggle() {
    const shown = stacks.ariaPressed !== 'true';
    stacks.ariaPressed = String(shown);
    if (shown) void look();
    draw(store.state);
  }

  store.watch(['session', 'sessions', 'active', 'chosen', 'processor', 'fleet'], draw);

  function draw(state) {
    const processes = processesOf(state);
    byId('children-panel').hidden = processes.length < 2;
    if (processes.length < 2) return;
    const many = processes.length > MOST_LISTED;
    setText(byId('children-note'), state.chosen === null ? `${processes.length} processes` : 'kept to one');
    const merged = stacks.ariaPressed === 'true';
    list.hidden = merged || many;
    grid.node.hidden = merged || !many;
    tree.node.hidden = !merged;
    if (merged) tree.show(state.fleet);
    else if (many) grid.show(processes, state.session?.sessionId ?? null, state.fleet?.processes ?? new Map());
    else drawList(state, processes);
  }

  /** @param {any} state @param {Process[]} processes */
  function drawList(state, processes) {
    const names = namesOf(processes);
    const focus = state.sessions?.focus ?? null;
    setData(list, 'many', String(processes.length > MOST_TALL));
    drawListbox(list, processes.map((each) => rowOf(each, processes, names, focus, state)), choose);
    const shown = state.session?.sessionId ?? null;
    if (shown === revealed) return; // the person may have scrolled from there
    revealed = shown;
    const row = /** @type {HTMLElement | null} */ (list.querySelector('[aria-selected="true"]'));
    if (row) list.scrollTop = row.offsetTop - list.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
  }
}

/** @param {Process} each @param {Process[]} processes @param {Map<string, string>} names @param {string | null} focus @param {any} state */
const rowOf = (each, processes, names, focus, state) => ({
  key: each.sessionId,
  selected: each.sessionId === state.session?.sessionId,
  title: [each.processName, whyPaused(each.pauseReason), detailOf(each, focus)].filter(Boolean).join(', '),
  dataset: {depth: String(Math.min(3, depthOf(each, processes)))},
  content: [
    el('span', {className: `dot thread-${each.state === 'Paused' ? 'suspended' : 'running'}`}),
    el(
      'span', {className: 'grow'},
      nameNode(names.get(each.sessionId) ?? '', each),
      el('span', {className: 'detail'}, detailOf(each, focus)),
    ),
    el('span', {className: 'cpu', title: 'Of one processor, over the last second'}, shareInWords(state.processor, each)),
    each.currentLocation ? placeNode(each.currentLocation) : el('span', {className: 'where'}, each.state),
  ],
});

/** @param {string} name @param {Process} process */
function nameNode(name, process) {
  const [program, label] = partsOf(name, process);
  if (!label) return el('span', {className: 'name'}, name);
  return el('span', {className: 'name', title: name}, el('span', {className: 'program'}, `${program} `), el('span', {className: 'label'}, label));
}

const detailOf = ({sessionId, processId, state}, focus) =>
  [processId && `pid ${processId}`, sessionId, state, sessionId === focus && 'in focus'].filter(Boolean).join(' · ');
