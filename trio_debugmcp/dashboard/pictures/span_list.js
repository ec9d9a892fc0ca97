// The spans of a picture as a list, in words: the same for those who do not see the picture, and to be searched.

import {el} from '../view/dom.js';
import {Rows} from '../view/rows.js';
import {stepOf} from '../view/roving.js';

const HEIGHT = 22;

/** @typedef {{row: import('./drawing.js').Row, span: import('./drawing.js').Span | null}} Line */

export class SpanList {
  /** @type {Line[]} */
  #lines = [];
  #focused = 0;

  /** @param {string} label @param {(line: Line) => void} onChoose */
  constructor(label, onChoose) {
    this.onChoose = onChoose;
    this.node = el('div', {className: 'span-list', role: 'listbox', ariaLabel: `${label}, as a list`, hidden: true});
    this.rows = new Rows(this.node, {height: HEIGHT, make: (index) => this.#make(index)});
    this.node.addEventListener('click', (event) => this.#choose(this.rows.indexOf(/** @type {Element} */ (event.target))));
    this.node.addEventListener('keydown', (event) => this.#pressed(event));
  }

  /** @param {import('./drawing.js').Drawing} drawing */
  show(drawing) {
    const lines = drawing.rows.flatMap((row) => [{row, span: null}, ...row.spans.map((span) => ({row, span}))]);
    if (lines.length === this.#lines.length && lines.every((line, index) => wordsOf(line) === wordsOf(this.#lines[index]))) {
      this.#lines = lines;
      return;
    }
    const focused = this.node.contains(document.activeElement);
    const top = this.node.scrollTop;
    this.#lines = lines;
    this.#focused = Math.min(this.#focused, Math.max(0, lines.length - 1));
    this.rows.kept = this.#focused;
    this.rows.reset(lines.length);
    this.rows.kept = this.#focused;
    this.node.scrollTop = top;
    this.rows.draw();
    if (focused) this.rows.reached(this.#focused).focus();
  }

  /** @param {number} index */
  #make(index) {
    const {row, span} = this.#lines[index];
    const name = span ? el('span', {className: `kind ${span.kind}`}) : null;
    return el('div', {
      role: 'option', className: `span-line${span ? '' : ' head'}`, tabIndex: index === this.#focused ? 0 : -1, ariaSelected: 'false',
    }, name, el('span', {className: 'says', dir: 'auto'}, span ? span.says : row.says));
  }

  /** @param {number} index */
  #choose(index) {
    if (index >= 0) this.onChoose(this.#lines[index]);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const index = this.rows.indexOf(document.activeElement);
    const step = stepOf(event.key, index, this.#lines.length - 1);
    if (step !== null) {
      const before = this.rows.row(this.#focused);
      if (before) before.tabIndex = -1;
      this.#focused = this.rows.kept = step;
      const row = this.rows.reached(step);
      row.tabIndex = 0;
      row.focus();
    } else if (event.key === 'Enter' || event.key === ' ') this.#choose(index);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** @param {Line} line */
const wordsOf = ({row, span}) => (span ? span.says : row.says);
