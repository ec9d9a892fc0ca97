// Records as a table, a row for each, whose columns sort.

import {numberIn} from '../past/curve.js';
import {el} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {oneLine} from '../view/words.js';
import {MOST_COLUMNS, sorted} from './shapes.js';

/** @typedef {import('./shapes.js').TableShape} TableShape */

/** @param {string} title @param {TableShape} shape */
export function recordTable(title, {columns, rows}) {
  const shown = columns.slice(0, MOST_COLUMNS);
  const numeric = shown.map((_, column) => rows.every(({cells}) => cells[column] === null || !Number.isNaN(numberIn(cells[column] ?? ''))));
  const body = el('tbody');
  let order = {column: -1, direction: 1};

  const heads = shown.map((name, column) =>
    el('th', {scope: 'col', className: numeric[column] ? 'number' : '', ariaSort: 'none'},
      el('button', {type: 'button', className: 'plain', title: `Sort by ${name}`, onclick: () => sort(column)}, name)));

  /** Up, down, and then as they were. @param {number} column */
  function sort(column) {
    const {direction} = order;
    if (order.column !== column) order = {column, direction: 1};
    else order = direction === 1 ? {column, direction: -1} : {column: -1, direction: 1};
    heads.forEach((head, index) => (head.ariaSort = index !== order.column ? 'none' : order.direction === 1 ? 'ascending' : 'descending'));
    draw();
  }

  function draw() {
    const ordered = order.column < 0 ? rows : sorted(rows, order.column, order.direction);
    body.replaceChildren(...ordered.map(({name, cells}) => el('tr', {}, el('th', {scope: 'row'}, oneLine(name)),
      ...shown.map((_, column) => cellNode(cells[column], numeric[column])))));
  }

  draw();
  const head = el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, el('span', {className: 'unseen'}, 'Item')), ...heads));
  rove(head, 'button', {horizontal: true})();
  return el('div', {className: 'scrolled', tabIndex: 0, role: 'region', ariaLabel: `${title} as a table`}, el('table', {className: 'records'}, head, body));
}

/** @param {string | null} cell @param {boolean} isNumber */
function cellNode(cell, isNumber) {
  if (cell === null) return el('td', {className: 'absent'}, el('span', {className: 'unseen'}, 'not there'));
  return el('td', {className: isNumber ? 'number' : '', title: cell}, oneLine(cell));
}
