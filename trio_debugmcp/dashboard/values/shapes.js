// What the parts of a value look like together: records are a table, numbers a picture. Pure.

import {numberIn} from '../past/curve.js';

/** @typedef {{name: string, value: string, type?: string | null, childCount: number | null, children?: Part[]}} Part */

/**
 * `columns`: the names of the fields, in the order in which they come. A cell is null where a record does not have the field.
 *
 * @typedef {{kind: 'table', columns: string[], rows: {name: string, cells: (string | null)[]}[]}} TableShape
 * @typedef {{kind: 'grid', rows: {name: string, values: string[]}[], width: number}} GridShape  `width`: the values of the longest row.
 * @typedef {{kind: 'numbers', values: {name: string, value: string}[]}} NumbersShape
 * @typedef {TableShape | GridShape | NumbersShape} Shape
 */

/** Fields of a record that are shown. */
export const MOST_COLUMNS = 40;

const INDEX = /^\[?\d+\]?$/;

/** The name of a field or an item, without what the language writes around it. @param {string} name */
export const fieldName = (name) => /^\[(['"])(.*)\1\]$/su.exec(name)?.[2] ?? name.replace(/^\./, '');

/** What debuggers put beside the items of a list, such as its length. @param {Part[]} parts */
function itemsOf(parts) {
  const indexed = parts.filter(({name}) => INDEX.test(name));
  return indexed.length > 1 ? indexed : parts;
}

/** @param {Part} part */
const isNumber = ({value, children = []}) => children.length === 0 && !Number.isNaN(numberIn(value));

/** What values look like that are inside of one value; null for nothing in particular. @param {Part[]} parts @returns {Shape | null} */
export function shapeOf(parts) {
  const items = itemsOf(parts);
  if (items.length < 2) return null;
  if (items.every(isNumber)) return items.every(({name}) => INDEX.test(name)) ? {kind: 'numbers', values: items.map(({name, value}) => ({name, value}))} : null;
  const inside = items.map(({children = []}) => itemsOf(children));
  if (inside.some((children) => children.length === 0)) return null;
  if (inside.every((children) => children.every(isNumber) && children.every(({name}) => INDEX.test(name)))) {
    const rows = items.map(({name}, index) => ({name, values: inside[index].map(({value}) => value)}));
    return {kind: 'grid', rows, width: Math.max(...rows.map(({values}) => values.length))};
  }
  return tableOf(items);
}

/** Records have fields in common, as many as they have of their own. @param {Part[]} items @returns {TableShape | null} */
function tableOf(items) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  const records = items.map(({name, children = []}) => ({name, fields: new Map(children.map((field) => [fieldName(field.name), field.value]))}));
  for (const {fields} of records) for (const name of fields.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const columns = [...counts.keys()];
  const shared = columns.filter((name) => (counts.get(name) ?? 0) * 2 > items.length);
  if (shared.length * 2 < columns.length) return null;
  const rows = records.map(({name, fields}) => ({name: fieldName(name), cells: columns.map((column) => fields.get(column) ?? null)}));
  return {kind: 'table', columns, rows};
}

/** The order of the rows of a table by a column: numbers by their size, before texts, and what is not there last. @param {TableShape['rows']} rows @param {number} column @param {number} direction  1 or -1. */
export function sorted(rows, column, direction) {
  const rank = (/** @type {string | null} */ cell) => (cell === null ? 2 : Number.isNaN(numberIn(cell)) ? 1 : 0);
  return rows.toSorted((one, other) => {
    const [a, b] = [one.cells[column], other.cells[column]];
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    if (a === null || b === null) return 0;
    return direction * (rank(a) === 0 ? numberIn(a) - numberIn(b) : a < b ? -1 : Number(a > b));
  });
}
