// What is inside of a value, as a picture: records as a table, rows of numbers as a heat map, numbers as a line.

import {rangeOf} from '../past/curve.js';
import {plot} from '../past/plot.js';
import {el} from '../view/dom.js';
import {plural} from '../view/words.js';
import {heatMap} from './heat_map.js';
import {recordTable} from './record_table.js';
import {MOST_COLUMNS, shapeOf} from './shapes.js';

/** @typedef {import('./shapes.js').Part} Part */

/** Items, and parts of each of them. */
const MOST_PARTS = 200;
const MOST_BYTES = 5_000_000;
const CELL_CHARACTERS = 200;

/**
 * Ask for what is inside of a value of the frame that is shown; null if that is nothing to be drawn.
 *
 * @param {(name: string, args: object) => Promise<any>} call
 * @param {object} where
 * @param {string} path
 * @returns {Promise<HTMLElement | null>}
 */
export async function pictureOf(call, where, path) {
  const args = {...where, path, depth: 2, count: MOST_PARTS, max_value_length: CELL_CHARACTERS, max_result_bytes: MOST_BYTES};
  const {variables, total} = await call('variables_get', args);
  return drawnInside(path, variables, total);
}

/** @param {string} title @param {Part[]} parts @param {number} total */
export function drawnInside(title, parts, total) {
  const shape = shapeOf(parts);
  if (shape === null) return null;
  const {picture, words} = drawn(title, shape, parts);
  const count = parts.length < total ? `the first ${parts.length} of ${total.toLocaleString('en')} items` : plural(parts.length, 'item');
  const hint = [shape.kind === 'grid' && parts.length === total ? '' : count, ...words].filter(Boolean).join(' · ');
  return el('div', {className: 'inside-picture'}, picture, hint ? el('p', {className: 'hint'}, hint) : null);
}

/** @param {string} title @param {import('./shapes.js').Shape} shape @param {Part[]} parts @returns {{picture: Element, words: string[]}} */
function drawn(title, shape, parts) {
  if (shape.kind === 'table') {
    const {length} = shape.columns;
    return {picture: recordTable(title, shape), words: [length > MOST_COLUMNS ? `the first ${MOST_COLUMNS} of ${length} fields` : plural(length, 'field')]};
  }
  if (shape.kind === 'grid') {
    const widest = Math.max(...parts.map(({childCount}) => childCount ?? 0));
    return {picture: heatMap(title, shape), words: [widest > shape.width ? `the first ${shape.width} of ${widest.toLocaleString('en')} numbers of each` : '']};
  }
  const points = shape.values.map(({value}, x) => ({x, value}));
  return {picture: plot([{name: title, points}], {label: `${title}, item by item`, unit: 'Item'}), words: [rangeOf(points.map(({value}) => value))]};
}
