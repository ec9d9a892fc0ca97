// The values of variables over the stops as a table: the latest first, and each row leads to its stop.

import {el} from '../view/dom.js';
import {clockWithMilliseconds, place} from '../view/words.js';
import {changesIn} from './curve.js';

/** @typedef {import('./values.js').Point} Point @typedef {{point: Point, values: (string | null)[], changed: boolean[]}} Row */

/** One row for each stop at which one of them was read. @param {{name: string, points: Point[]}[]} series @returns {Row[]} */
export function rowsOf(series) {
  /** @type {Map<number, Row>} */
  const rows = new Map();
  series.forEach(({points}, column) => {
    const changes = changesIn(points);
    points.forEach((point, index) => {
      const row = rows.get(point.stop) ?? {point, values: series.map(() => null), changed: series.map(() => false)};
      row.values[column] = point.value;
      row.changed[column] = changes[index];
      rows.set(point.stop, row);
    });
  });
  return [...rows.values()].sort((one, other) => other.point.stop - one.point.stop);
}

/**
 * @param {{name: string, points: Point[]}[]} series
 * @param {{here: number, onlyChanges: boolean, go: (stop: number) => void}} options
 */
export function tableOf(series, {here, onlyChanges, go}) {
  const heads = ['Stop', 'Time', 'Where', ...(series.length > 1 ? series.map(({name}) => name) : ['Value'])];
  const rows = rowsOf(series).filter(({changed}) => !onlyChanges || changed.some(Boolean));
  return el('table', {className: 'values'},
    el('thead', {}, el('tr', {}, ...heads.map((each) => el('th', {scope: 'col'}, each)))),
    el('tbody', {}, ...rows.map((row) => rowNode(row, here, go))));
}

/** @param {Row} row @param {number} here @param {(stop: number) => void} go */
function rowNode({point, values, changed}, here, go) {
  const {stop, capturedAt, file, line, functionName: called} = point;
  const number = el('button', {type: 'button', className: 'small', title: `Show stop ${stop}`, onclick: () => go(stop)}, String(stop));
  return el(
    'tr',
    {dataset: {stop, changed: String(changed.some(Boolean))}, ariaCurrent: stop === here ? 'true' : null},
    el('td', {}, number),
    el('td', {className: 'when'}, clockWithMilliseconds(capturedAt)),
    el('td', {}, `${place({file, line})}${called ? ` in ${called}` : ''}`),
    ...values.map((value, index) => el('td', {className: 'value', title: value, dataset: {changed: String(changed[index])}}, value ?? '',
      changed[index] ? el('span', {className: 'unseen'}, ' (changed)') : null)),
  );
}
