// The stacks of all processes merged: what is common to many stands once, with how many have it, the rarest first.

import {el, redraw, setText} from '../view/dom.js';
import {placeNode} from '../view/places.js';
import {rove} from '../view/roving.js';
import {clock} from '../view/words.js';

/** @typedef {import('./fleet_looks.js').Branch} Branch @typedef {import('./fleet_looks.js').FleetSeen} FleetSeen */

/** Functions at either end of a chain of calls that are shown. */
const CHAIN = 2;

export class StackTree {
  /** Branches that are closed, by their numbers. @type {Set<number>} */
  #closed = new Set();
  /** @type {FleetSeen | null} */
  #seen = null;

  /** @param {{choose: (id: string) => void, look: () => void}} ways */
  constructor({choose, look}) {
    this.choose = choose;
    this.note = el('span', {className: 'note'});
    this.list = el('ol', {className: 'rows branches', role: 'tree', ariaLabel: 'Stacks of all processes, merged'});
    const again = el('button', {type: 'button', className: 'small', onclick: look}, 'Look again');
    this.node = el('div', {className: 'stack-tree', hidden: true}, el('p', {className: 'seen'}, this.note, again), this.list);
    this.settle = rove(this.list, '[role=treeitem]');
    this.list.addEventListener('keydown', (event) => this.#pressed(event));
    this.list.addEventListener('click', ({target}) => {
      const number = numberOf(target);
      if (number === null) return;
      if (target instanceof Element && target.closest('.twisty')) this.#fold(number, !this.#closed.has(number));
      else this.#chosen(number);
    });
  }

  /** @param {FleetSeen | null} seen */
  show(seen) {
    if (seen !== this.#seen) this.#closed.clear();
    this.#seen = seen;
    const {tree = [], totalBranches = 0, problem = '', at = 0} = seen ?? {};
    const left = totalBranches - tree.length;
    setText(this.note, problem || (seen ? `Seen at ${clock(new Date(at).toISOString())}${left > 0 ? `, ${left} more branches` : ''}` : 'Looking…'));
    let hidden = Infinity;
    redraw(this.list, tree.flatMap((branch, number) => {
      if (branch.depth > hidden) return [];
      hidden = this.#closed.has(number) ? branch.depth : Infinity;
      return [this.#row(branch, number, (tree[number + 1]?.depth ?? 0) > branch.depth)];
    }));
    this.settle();
  }

  /** @param {Branch} branch @param {number} number @param {boolean} opens */
  #row({depth, count, who, frames, sessionIds}, number, opens) {
    const last = frames[frames.length - 1];
    const row = el(
      'li',
      {
        role: 'treeitem', className: 'row branch', tabIndex: -1, ariaLevel: String(depth + 1), dataset: {key: String(number)},
        ariaExpanded: opens ? String(!this.#closed.has(number)) : null,
        title: [who, frames.map(({name}) => name).join(' › '), sessionIds.length ? `Enter or a click shows ${sessionIds[0]}${count > 1 ? ', the first of them' : ''}` : ''].filter(Boolean).join('\n'),
      },
      el('span', {className: 'twisty', ariaHidden: 'true'}),
      el('span', {className: 'badge many'}, String(count)),
      el('span', {className: 'grow'}, el('span', {className: 'name'}, chainOf(frames)), el('span', {className: 'detail'}, who)),
      placeNode(last.location),
    );
    row.style.setProperty('--depth', String(Math.min(depth, 8)));
    return row;
  }

  /** @param {number} number */
  #chosen(number) {
    const [id] = this.#seen?.tree[number]?.sessionIds ?? [];
    if (id !== undefined) this.choose(id);
  }

  /** @param {number} number @param {boolean} closed */
  #fold(number, closed) {
    const tree = this.#seen?.tree ?? [];
    if ((tree[number + 1]?.depth ?? 0) <= tree[number].depth) return;
    if (closed) this.#closed.add(number);
    else this.#closed.delete(number);
    this.show(this.#seen);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const number = numberOf(event.target);
    if (number === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === 'Enter' || event.key === ' ') this.#chosen(number);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') this.#fold(number, event.key === 'ArrowLeft');
    else return;
    event.preventDefault();
    event.stopPropagation(); // ← and → go through time elsewhere
  }
}

/** @param {EventTarget | null} target */
function numberOf(target) {
  const key = target instanceof Element ? target.closest('.branch')?.getAttribute('data-key') : null;
  return key === null || key === undefined ? null : Number(key);
}

/** The functions of a chain, those in the middle counted. @param {import('./fleet_looks.js').BranchFrame[]} frames */
export function chainOf(frames) {
  const names = frames.map(({name}) => name);
  if (names.length > 2 * CHAIN + 1) names.splice(CHAIN, names.length - 2 * CHAIN, `… ${names.length - 2 * CHAIN} more`);
  return names.join(' › ');
}
