// Rows of numbers as a heat map, read by pointer and by keys; and as a list, a line for each row.

import {numberIn} from '../past/curve.js';
import {Colours} from '../pictures/picture_colours.js';
import {el, setText} from '../view/dom.js';
import {Rows} from '../view/rows.js';

/** @typedef {import('./shapes.js').GridShape} GridShape */

const MOST_HEIGHT = 320;
const LEAST_CELL = 2;
const MOST_CELL = 26;
const LINE = 20;

let count = 0;

/**
 * The colour between two, as a browser says them: `rgb(0, 10, 20)`.
 *
 * @param {string} low
 * @param {string} high
 * @param {number} share  Between 0 and 1.
 */
export function between(low, high, share) {
  const [from, to] = [low, high].map((colour) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number));
  return `rgb(${from.map((part, index) => Math.round(part + (to[index] - part) * share)).join(', ')})`;
}

/** @param {string} title @param {GridShape} grid */
export function heatMap(title, {rows, width}) {
  count += 1;
  const numbers = rows.map(({values}) => values.map(numberIn));
  const finite = numbers.flat().filter(Number.isFinite);
  const [low, high] = finite.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [Infinity, -Infinity]);
  const at = {row: 0, column: 0};
  const canvas = el('canvas', {ariaHidden: 'true'});
  const option = el('div', {id: `cell-${count}`, role: 'option', className: 'unseen', ariaSelected: 'true'});
  const words = el('p', {className: 'hint', ariaHidden: 'true'});
  const view = el('div', {
    className: 'heat', tabIndex: 0, role: 'listbox', ariaLabel: `${title} as a heat map. Arrows move`, 'aria-activedescendant': option.id,
  }, option, canvas);
  const list = el('div', {className: 'heat-list', tabIndex: 0, role: 'list', ariaLabel: `${title}, row by row`, hidden: true});
  const lines = new Rows(list, {height: LINE, make: (index) => el('div', {role: 'listitem'}, `${rows[index].name} ${rows[index].values.join(', ')}`)});
  const asList = el('button', {type: 'button', className: 'small', ariaPressed: 'false', onclick: toggle}, 'List');
  const node = el('div', {className: 'heat-map'}, view, list, el('div', {className: 'under'}, words, asList));
  const colours = new Colours(node, draw);
  let cell = 0;

  function toggle() {
    const isList = asList.ariaPressed !== 'true';
    asList.ariaPressed = String(isList);
    [view.hidden, list.hidden] = [isList, !isList];
    if (isList) lines.reset(rows.length);
    else draw();
  }

  function draw() {
    const room = node.clientWidth - 2;
    if (room <= 0 || view.hidden) return;
    cell = Math.max(LEAST_CELL, Math.min(MOST_CELL, Math.floor(room / width), Math.floor(MOST_HEIGHT / rows.length)));
    const ratio = devicePixelRatio;
    [canvas.width, canvas.height] = [Math.round(width * cell * ratio), Math.round(rows.length * cell * ratio)];
    canvas.style.setProperty('width', `${width * cell}px`);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    context.scale(ratio, ratio);
    const gap = cell > 6 ? 1 : 0;
    numbers.forEach((line, row) => line.forEach((value, column) => {
      const share = high > low ? (value - low) / (high - low) : 0.5;
      context.fillStyle = Number.isFinite(value) ? between(colours.of('--heat-low'), colours.of('--heat-high'), share) : colours.of('--error');
      context.fillRect(column * cell, row * cell, cell - gap, cell - gap);
    }));
    context.lineWidth = 2;
    context.strokeStyle = colours.of('--text');
    context.strokeRect(at.column * cell + 0.5, at.row * cell + 0.5, Math.max(3, cell - gap - 1), Math.max(3, cell - gap - 1));
    say();
  }

  function say() {
    const {name, values} = rows[at.row];
    const text = `${name}[${at.column}] = ${values[at.column] ?? 'nothing'}`;
    setText(option, text);
    setText(words, `${text} · ${rows.length} × ${width} numbers from ${low} to ${high}`);
  }

  /** @param {number} row @param {number} column */
  function go(row, column) {
    at.row = Math.max(0, Math.min(rows.length - 1, row));
    at.column = Math.max(0, Math.min(rows[at.row].values.length - 1, column));
    draw();
    view.scrollTop = Math.max(Math.min(view.scrollTop, at.row * cell), (at.row + 1) * cell - view.clientHeight);
    view.scrollLeft = Math.max(Math.min(view.scrollLeft, at.column * cell), (at.column + 1) * cell - view.clientWidth);
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => go(at.row + 1, at.column), ArrowUp: () => go(at.row - 1, at.column),
    ArrowRight: () => go(at.row, at.column + 1), ArrowLeft: () => go(at.row, at.column - 1),
    PageDown: () => go(at.row + 10, at.column), PageUp: () => go(at.row - 10, at.column),
    Home: () => go(at.row, 0), End: () => go(at.row, width),
  };
  view.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    keys[event.key]();
    event.preventDefault();
  });
  view.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const [row, column] = [Math.floor((event.clientY - box.top) / cell), Math.floor((event.clientX - box.left) / cell)];
    if (rows[row] && column >= 0 && column < rows[row].values.length && (row !== at.row || column !== at.column)) go(row, column);
  });
  const watch = new ResizeObserver(() => {
    if (node.isConnected) return draw();
    watch.disconnect();
    colours.end();
  });
  watch.observe(node);
  return node;
}
