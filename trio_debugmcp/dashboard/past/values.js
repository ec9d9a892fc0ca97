// The values of a variable over the stops that are kept: numbers as a line, the rest as a strip of what changed, and all
// of them as a table that leads to each stop.

import {openDialog} from '../view/dialog.js';
import {el, svg} from '../view/dom.js';
import {clockWithMilliseconds, oneLine, place, plural} from '../view/words.js';

/**
 * @typedef {object} Point  A variable at one stop.
 * @property {number} stop
 * @property {string} sessionId
 * @property {string | null} capturedAt
 * @property {string | null} file
 * @property {number | null} line
 * @property {string | null} functionName
 * @property {string} value
 * @property {string | null} type
 */

const MOST_BYTES = 5_000_000;
const WIDTH = 800;
const HEIGHT = 96;
const PAD = 7;

/** The number that a value is; NaN for everything else. @param {string} value */
const numberOf = (value) => (/^-?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value.replaceAll('_', '')) : NaN);

const INTEGER = /^-?\d[\d_]*$/;

/**
 * The numbers that values are, to be drawn, and the texts of the least and the greatest. Integers may be too large for
 * a number of JavaScript to tell them apart: those are counted from the least.
 *
 * @param {string[]} values
 */
export function numbersOf(values) {
  let numbers = values.map(numberOf);
  if (values.every((each) => INTEGER.test(each))) {
    const exact = values.map((each) => BigInt(each.replaceAll('_', '')));
    const least = exact.reduce((low, each) => (each < low ? each : low));
    numbers = exact.map((each) => Number(each - least));
  }
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return {numbers, low, high, lowest: values[numbers.indexOf(low)], highest: values[numbers.indexOf(high)]};
}

/** Mark the points that differ from the one before. @param {Point[]} points */
const changesIn = (points) => points.map(({value}, index) => index > 0 && value !== points[index - 1].value);

/**
 * Show the values that a variable had.
 *
 * @param {string} name
 * @param {import('./history.js').History} history
 * @param {{call: (name: string, args: object) => Promise<any>, functionName: string | null, sessionId: string | null}} where
 */
export function showValues(name, history, {call, functionName, sessionId}) {
  const picture = el('div', {className: 'over-time'});
  const summary = el('p', {className: 'hint', role: 'status'}, 'Asking for the values…');
  const only = el('input', {type: 'checkbox', checked: functionName !== null, disabled: functionName === null});
  const rows = el('tbody');
  const heads = ['Stop', 'Time', 'Where', 'Value'].map((each) => el('th', {scope: 'col'}, each));
  const table = el('div', {className: 'scrolled', tabIndex: 0, role: 'region', ariaLabel: `Values of ${name}`},
    el('table', {className: 'values'}, el('thead', {}, el('tr', {}, ...heads)), rows));
  const filter = el('label', {className: 'check'}, only, ` Only in ${functionName ?? 'this function'}`);
  const dialog = openDialog({title: `${name} over the stops`, className: 'wide'}, picture, el('div', {className: 'under'}, summary, filter), table);

  call('stop_get', {
    variable: name,
    max_result_bytes: MOST_BYTES,
    ...(sessionId === null ? {} : {session_id: sessionId}),
  }).then(
    (found) => {
      only.addEventListener('change', () => draw(found));
      draw(found);
    },
    (error) => (summary.textContent = error.message),
  );

  function draw({points = [], stops, total = 0, dropped = 0}) {
    const shown = only.checked ? points.filter((/** @type {Point} */ each) => each.functionName === functionName) : points;
    const changed = changesIn(shown);
    const here = history.shown;
    picture.replaceChildren(...(shown.length > 1 ? [drawing(shown, changed, here, go)] : []));
    summary.textContent = wordsOf(shown, changed, {stops, dropped, leftOut: Math.max(0, total - points.length)});
    rows.replaceChildren(...shown.map((point, index) => row(point, changed[index], point.stop === here)).reverse());
    rows.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  }

  /** @param {Point} point @param {boolean} changed @param {boolean} current */
  function row({stop, capturedAt, file, line, functionName: called, value}, changed, current) {
    const number = el('button', {type: 'button', className: 'small', title: `Show stop ${stop}`, onclick: () => go(stop)}, String(stop));
    return el(
      'tr',
      {dataset: {stop, changed: String(changed)}, ariaCurrent: current ? 'true' : null},
      el('td', {}, number),
      el('td', {className: 'when'}, clockWithMilliseconds(capturedAt)),
      el('td', {}, `${place({file, line})}${called ? ` in ${called}` : ''}`),
      el('td', {className: 'value', title: value}, value, changed ? el('span', {className: 'unseen'}, ' (changed)') : null),
    );
  }

  /** @param {number} stop */
  function go(stop) {
    dialog.close();
    if (stop === history.current) history.now();
    else history.go(stop);
  }
}

/** @param {Point[]} points @param {boolean[]} changed @param {{stops: number, dropped: number, leftOut: number}} counts */
export function wordsOf(points, changed, {stops, dropped, leftOut}) {
  if (points.length === 0) return `It was not read at any of the ${plural(stops, 'stop')} that are kept.`;
  const values = points.map(({value}) => value).filter((each) => !Number.isNaN(numberOf(each)));
  const {lowest, highest} = values.length > 1 ? numbersOf(values) : {};
  // Infinities, nan and texts stand beside the range.
  const others = points.length - values.length;
  const range = values.length < 2 ? '' : `${others ? 'numbers ' : ''}from ${lowest} to ${highest}${others ? `; ${plural(others, 'other')}` : ''}`;
  return [
    `read at ${points.length} of ${plural(stops, 'stop')}`,
    `${plural(changed.filter(Boolean).length, 'change')}`,
    range,
    leftOut ? `${leftOut} earlier values left out` : '',
    dropped ? `${plural(dropped, 'earlier stop')} not kept` : '',
  ].filter(Boolean).join(' · ');
}

/** @param {Point[]} points @param {boolean[]} changed @param {number} here @param {(stop: number) => void} go */
function drawing(points, changed, here, go) {
  const {numbers, low, high, lowest, highest} = numbersOf(points.map(({value}) => value));
  const x = (/** @type {number} */ index) => PAD + (index / (points.length - 1)) * (WIDTH - 2 * PAD);
  const isLine = !numbers.some(Number.isNaN);
  const y = (/** @type {number} */ value) => HEIGHT - PAD - (high === low ? 0.5 : (value - low) / (high - low)) * (HEIGHT - 2 * PAD);
  const words = isLine ? `A line of ${points.length} numbers from ${lowest} to ${highest}` : `A strip of ${points.length} values`;
  const dots = points.map(({stop, value}, index) =>
    svg(
      'g',
      {class: `point${stop === here ? ' here' : ''}${changed[index] ? ' changed' : ''}`, 'data-stop': stop},
      svg('title', {}, `Stop ${stop}: ${oneLine(value)}`),
      svg('rect', {class: 'hit', x: x(index) - 6, y: 0, width: 12, height: HEIGHT}),
      isLine
        ? svg('circle', {class: 'shape', cx: x(index), cy: y(numbers[index]), r: stop === here ? 4.5 : 2.6})
        : svg('rect', {class: 'shape', x: x(index) - 2, y: HEIGHT / 2 - (changed[index] ? 20 : 8), width: 4, height: changed[index] ? 40 : 16, rx: 2}),
    ),
  );
  const path = isLine ? points.map((_, index) => `${index ? 'L' : 'M'}${x(index).toFixed(1)} ${y(numbers[index]).toFixed(1)}`).join('') : '';
  const picture = svg('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words}, svg('path', {class: 'line-of', d: path}), ...dots);
  picture.addEventListener('click', (event) => {
    const point = event.target instanceof Element ? event.target.closest('.point') : null;
    if (point) go(Number(point.getAttribute('data-stop')));
  });
  return picture;
}
