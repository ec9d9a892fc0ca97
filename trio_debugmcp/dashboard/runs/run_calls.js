// The calls of the run that is open, as a tree that folds. What is below its lines is asked for when it is opened.

import {el, setText} from '../view/dom.js';
import {stepOf} from '../view/roving.js';
import {place} from '../view/words.js';
import {callsOf, INSIDE} from './run_answers.js';

/**
 * A line of the tree. `count` above one: it stands for so many equal calls, and `at` is the last of them. `inside` is null
 * while it is not known what it called.
 *
 * @typedef {object} Call
 * @property {string} at
 * @property {string} file
 * @property {number} line
 * @property {string} function
 * @property {string[]} values
 * @property {number} count
 * @property {number} depth
 * @property {boolean} open
 * @property {Call[] | null} inside
 */

/** Levels of an answer. */
const LEVELS = 2;

/**
 * Make a tree of the lines of an answer, each of which has its depth. Those on the last level say how much there is inside.
 *
 * @param {any[]} lines
 * @param {number} [depth]  Of the first ones.
 * @returns {Call[]}
 */
export function treeOf(lines, depth = 0) {
  /** @type {Call[]} */
  const roots = [];
  /** @type {Call[]} */
  const above = [];
  for (const line of lines) {
    const call = {...line, depth: line.depth + depth, open: line.depth === 0, inside: INSIDE.test(line.values.at(-1) ?? '') ? null : []};
    above.length = line.depth;
    (above.at(-1)?.inside ?? roots).push(call);
    above.push(call);
  }
  return roots;
}

/** The lines that are to be seen, from the top. @param {Call[]} calls @returns {Call[]} */
export const seenOf = (calls) => calls.flatMap((call) => [call, ...(call.open && call.inside ? seenOf(call.inside) : [])]);

/** Whether there is, or may be, something inside. @param {Call} call */
const opens = ({inside}) => inside === null || inside.length > 0;

export class CallsView {
  name = 'Calls';
  #turn = 0;
  /** @type {Call[]} */
  #roots = [];
  #chosen = '';
  #asked = false;

  /**
   * @param {import('../store.js').Store} store
   * @param {import('../past/travel.js').Travel} travel
   * @param {(name: string, args: object) => Promise<any>} call  Asks about the run that is open.
   */
  constructor(store, travel, call) {
    this.travel = travel;
    this.call = call;
    this.input = el('input', {
      className: 'typed', spellcheck: false, autocomplete: 'off', placeholder: 'A function, or a pattern; nothing: all from the start',
      ariaLabel: 'Calls of this function; empty: all calls',
    });
    const asked = (event) => {
      event.preventDefault();
      this.#ask();
    };
    this.status = el('p', {className: 'asked-about note', role: 'status'});
    this.tree = el('ol', {className: 'calls', role: 'tree', ariaLabel: 'Calls'});
    this.tree.addEventListener('click', (event) => this.#clicked(event));
    this.tree.addEventListener('keydown', (event) => this.#pressed(event));
    this.node = el('div', {},
      el('form', {className: 'ask', onsubmit: asked}, this.input, el('button', {type: 'submit', className: 'button'}, 'Show')),
      this.status, this.tree);
    store.watch(['past'], () => this.#draw());
  }

  /** Another run is open: it is asked once this is looked at. */
  opened() {
    this.#turn += 1;
    this.input.value = '';
    this.#roots = [];
    this.#asked = false;
    this.#draw();
  }

  shown() {
    if (!this.#asked) this.#ask();
  }

  async #ask() {
    const turn = ++this.#turn;
    this.#asked = true;
    setText(this.status, 'Asking…');
    const name = this.input.value.trim();
    const found = await callsOf(this.call, {depth: LEVELS, ...(name ? {function: name} : {})});
    if (turn !== this.#turn) return;
    this.#roots = found.problem ? [] : treeOf(found.lines);
    this.status.classList.toggle('problem', Boolean(found.problem));
    setText(this.status, found.problem || wordsOf(found));
    this.#draw();
  }

  #draw() {
    const seen = seenOf(this.#roots);
    if (!seen.some(({at}) => at === this.#chosen)) this.#chosen = seen[0]?.at ?? '';
    const focused = this.tree.contains(document.activeElement);
    const moment = this.travel.moments.shown?.asked;
    this.tree.replaceChildren(...seen.map((call) => row(call, call.at === this.#chosen, call.at === moment)));
    if (focused) this.#focus();
  }

  #focus() {
    const node = /** @type {HTMLElement | null} */ (this.tree.querySelector('[tabindex="0"]'));
    node?.focus();
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const target = /** @type {Element} */ (event.target);
    const at = target.closest('li')?.dataset.at;
    const call = seenOf(this.#roots).find((each) => each.at === at);
    if (!call) return;
    this.#chosen = call.at;
    if (target.closest('.twisty') && opens(call)) this.#toggle(call);
    else this.travel.goMoment(call.at);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const seen = seenOf(this.#roots);
    const focused = /** @type {HTMLElement} */ (event.target).closest('li')?.dataset.at;
    const index = seen.findIndex(({at}) => at === focused);
    const call = seen[index];
    if (!call) return;
    const step = stepOf(event.key, index, seen.length - 1);
    if (step !== null) this.#choose(seen[step]);
    else if (event.key === 'ArrowRight' && opens(call)) call.open && call.inside ? this.#choose(seen[index + 1]) : this.#toggle(call);
    else if (event.key === 'ArrowLeft' && call.open && opens(call)) this.#toggle(call);
    else if (event.key === 'ArrowLeft') this.#choose(seen.slice(0, index).findLast(({depth}) => depth < call.depth) ?? call);
    else if (event.key === 'Enter' || event.key === ' ') this.travel.goMoment(call.at);
    else if (event.key !== 'ArrowRight') return;
    event.preventDefault();
    event.stopPropagation(); // ← and → go through time elsewhere
  }

  /** @param {Call} call */
  #choose(call) {
    this.#chosen = call.at;
    this.#draw();
    this.#focus();
  }

  /** @param {Call} call */
  async #toggle(call) {
    call.open = !call.open;
    this.#draw();
    if (call.inside !== null || !call.open) return;
    const turn = this.#turn;
    const found = await callsOf(this.call, {depth: LEVELS, under: call.at});
    if (turn !== this.#turn) return;
    call.inside = treeOf(found.lines, call.depth + 1);
    if (found.problem || found.omitted) setText(this.status, found.problem || `${call.at}: ${wordsOf(found)}`);
    this.#draw();
  }
}

/** What an answer has, and what it leaves out. @param {{lines: any[], total: number, omitted: number, notes: string[]}} found */
const wordsOf = ({lines, total, omitted, notes}) => [
  `${total.toLocaleString('en')} calls on ${LEVELS} levels`,
  omitted ? `${omitted.toLocaleString('en')} of them are not shown here: open one, or name a function` : '',
  ...(lines.length ? notes : ['nothing was called that was recorded', ...notes]),
].filter(Boolean).join(' · ');

/** @param {Call} call @param {boolean} isStop @param {boolean} current */
function row(call, isStop, current) {
  const {at, depth, function: name, values, count, open} = call;
  const several = count > 1 ? `${count.toLocaleString('en')} more of ` : '';
  return el(
    'li',
    {
      role: 'treeitem', className: 'called', tabIndex: isStop ? 0 : -1, dataset: {at, current: String(current)},
      ariaLevel: String(depth + 1), ariaExpanded: opens(call) ? String(open) : null, ariaSelected: String(current),
      title: `${at} ${several}${name} ${values.join(' ')}\n${call.file}:${call.line}`,
    },
    ...[...Array(Math.min(depth, 20)).keys()].map(() => el('span', {className: 'level'})),
    el('span', {className: 'twisty', ariaHidden: 'true'}, opens(call) ? (open ? '▾' : '▸') : ''),
    el('span', {className: 'at'}, at),
    el('span', {className: 'name'}, `${several}${name}`),
    el('span', {className: 'said'}, (open && call.inside ? values.filter((value) => !INSIDE.test(value)) : values).join(' ')),
    el('span', {className: 'where'}, place(call)),
  );
}
