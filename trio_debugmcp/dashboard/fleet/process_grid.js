// Many processes as a grid: a cell for each, in groups. Of a change only the cells are drawn that are others.

import {el, setData, setText} from '../view/dom.js';
import {stepOf} from '../view/roving.js';
import {BY_PLACE, cellGroups, countsOf, groupings, STATES} from './fleet_cells.js';

/** @typedef {import('./fleet_cells.js').Process} Process @typedef {import('./fleet_cells.js').Cell} Cell @typedef {import('./fleet_cells.js').CellGroup} CellGroup */

const CHOICE = 'trio-debugmcp.grouped';

export class ProcessGrid {
  /** @type {Map<string, {node: HTMLElement, cell: Cell}>} */
  #cells = new Map();
  #laidOut = '';
  #offered = '';
  /** What the pointer or the focus is at: of that the line below tells, else of the one that is chosen. @type {string | null} */
  #pointed = null;
  #tabStop = '';
  /** @type {{processes: Process[], chosen: string | null, seen: Map<string, any>}} */
  #shown = {processes: [], chosen: null, seen: new Map()};

  /** @param {{choose: (id: string) => void, look: () => void}} ways  `look`: where those that run are has to be known. */
  constructor({choose, look}) {
    this.choose = choose;
    this.look = look;
    this.select = el('select', {onchange: () => this.#grouped()});
    this.legend = el('p', {className: 'cell-legend'});
    this.cells = el('div', {className: 'cells', role: 'listbox', ariaLabel: 'Processes, a cell for each'});
    this.told = el('p', {className: 'cell-told'});
    const by = el('label', {className: 'cells-by'}, 'Grouped by ', this.select);
    this.node = el('div', {className: 'process-grid', hidden: true}, by, this.legend, this.cells, this.told);
    this.cells.addEventListener('click', (event) => this.#at(event, (id) => choose(id)));
    this.cells.addEventListener('pointerover', (event) => this.#at(event, (id) => this.#point(id)));
    this.cells.addEventListener('pointerleave', () => this.#point(null));
    this.cells.addEventListener('focusout', () => this.#point(null));
    this.cells.addEventListener('focusin', (event) => this.#at(event, (id) => (this.#stopTabAt(id), this.#point(id))));
    this.cells.addEventListener('keydown', (event) => this.#pressed(event));
  }

  /** @param {Process[]} processes @param {string | null} chosen @param {Map<string, any>} seen */
  show(processes, chosen, seen) {
    this.#shown = {processes, chosen, seen};
    this.#offer(groupings(processes));
    const groups = cellGroups(processes, this.select.value, seen);
    const layout = JSON.stringify(groups.map(({name, cells}) => [name, cells.map(({id}) => id)]));
    if (layout !== this.#laidOut) this.#layOut(groups);
    this.#laidOut = layout;
    for (const {cells} of groups) for (const cell of cells) this.#draw(cell, cell.id === chosen);
    const counts = countsOf(groups).map(([state, count]) => `${STATES[state].sign} ${count} ${STATES[state].words}`);
    setText(this.legend, counts.join(' · '));
    if (!this.#cells.has(this.#tabStop)) this.#stopTabAt(chosen !== null && this.#cells.has(chosen) ? chosen : groups[0]?.cells[0]?.id ?? '');
    this.#tell();
  }

  /** @param {string[]} choices */
  #offer(choices) {
    const offered = choices.join('\n');
    if (offered === this.#offered) return;
    this.#offered = offered;
    const wanted = this.select.value || localStorage.getItem(CHOICE) || '';
    this.select.replaceChildren(...choices.map((each) => el('option', {value: each}, each)));
    this.select.value = choices.includes(wanted) ? wanted : choices[0];
  }

  #grouped() {
    localStorage.setItem(CHOICE, this.select.value);
    const {processes, chosen, seen} = this.#shown;
    this.show(processes, chosen, seen);
    if (this.select.value === BY_PLACE) this.look();
  }

  /** Put the cells into their groups; those that are there already are moved. @param {CellGroup[]} groups */
  #layOut(groups) {
    const focused = document.activeElement instanceof HTMLElement && this.cells.contains(document.activeElement) ? document.activeElement : null;
    const before = this.#cells;
    this.#cells = new Map();
    const nodes = groups.map(({name, cells}) => {
      const rows = cells.map((cell) => {
        const known = before.get(cell.id) ?? {node: el('span', {role: 'option', className: 'cell', tabIndex: -1, dataset: {key: cell.id}}), cell: {...cell, says: ''}};
        this.#cells.set(cell.id, known);
        return known.node;
      });
      const head = name && el('p', {className: 'cell-head', ariaHidden: 'true'}, `${name} · ${cells.length}`);
      return el('div', {role: 'group', ariaLabel: `${name || 'all'}, ${cells.length} of them`}, ...(head ? [head] : []), el('div', {className: 'cell-rows', role: 'presentation'}, ...rows));
    });
    this.cells.replaceChildren(...nodes);
    if (focused?.isConnected) focused.focus();
  }

  /** @param {Cell} cell @param {boolean} isChosen */
  #draw(cell, isChosen) {
    const known = /** @type {{node: HTMLElement, cell: Cell}} */ (this.#cells.get(cell.id));
    const {node} = known;
    setData(node, 'state', cell.state);
    setText(node, STATES[cell.state].sign);
    if (known.cell.says !== cell.says) node.ariaLabel = cell.says;
    if (node.ariaSelected !== String(isChosen)) node.ariaSelected = String(isChosen);
    known.cell = cell;
  }

  /** @param {string | null} id */
  #point(id) {
    this.#pointed = id;
    this.#tell();
  }

  #tell() {
    const told = this.#cells.get(this.#pointed ?? '') ?? this.#cells.get(this.#shown.chosen ?? '');
    setText(this.told, told?.cell.says ?? 'Point at a cell, or use the arrow keys.');
  }

  /** @param {string} id */
  #stopTabAt(id) {
    if (id === this.#tabStop) return;
    const [before, now] = [this.#cells.get(this.#tabStop), this.#cells.get(id)];
    if (before) before.node.tabIndex = -1;
    if (now) now.node.tabIndex = 0;
    this.#tabStop = id;
  }

  /** @param {Event} event @param {(id: string) => void} act */
  #at({target}, act) {
    const id = target instanceof HTMLElement ? target.dataset.key : undefined;
    if (id !== undefined) act(id);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === 'Enter' || event.key === ' ') this.#at(event, (id) => this.choose(id));
    else {
      const nodes = [...this.#cells.values()].map(({node}) => node);
      const next = nextOf(event.key, nodes, nodes.indexOf(/** @type {HTMLElement} */ (event.target)));
      if (next === null) return;
      nodes[next].focus();
    }
    event.preventDefault();
    event.stopPropagation(); // ← and → go through time elsewhere
  }
}

/**
 * To which cell a key leads: along a row, or to the nearest of the row above or below.
 *
 * @param {string} key
 * @param {HTMLElement[]} nodes
 * @param {number} index
 */
function nextOf(key, nodes, index) {
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return stepOf(key, index, nodes.length - 1, {horizontal: true});
  const step = key === 'ArrowDown' ? 1 : -1;
  const {offsetTop: top, offsetLeft: left} = nodes[index];
  let [best, row] = [index, top];
  for (let at = index + step; at >= 0 && at < nodes.length; at += step) {
    if (nodes[at].offsetTop === top) continue;
    if (row === top) [best, row] = [at, nodes[at].offsetTop];
    if (nodes[at].offsetTop !== row) break;
    if (Math.abs(nodes[at].offsetLeft - left) < Math.abs(nodes[best].offsetLeft - left)) best = at;
  }
  return best;
}
