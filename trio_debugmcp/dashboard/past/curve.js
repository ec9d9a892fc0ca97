// Values in the order of time as a picture: numbers as a line, the rest as a strip of what changed.

import {svg} from '../view/dom.js';
import {oneLine, plural} from '../view/words.js';

/** A value: `key` names the moment to which it leads, `title` says which that is. @typedef {{key: string, title: string, value: string}} Point */

const WIDTH = 800;
const HEIGHT = 96;
const PAD = 7;

/** The number that a value is; NaN for everything else. @param {string} value */
export const numberIn = (value) => (/^-?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value.replaceAll('_', '')) : NaN);

const INTEGER = /^-?\d[\d_]*$/;

/**
 * The numbers that values are, to be drawn, and the texts of the least and the greatest. Integers may be too large for
 * a number of JavaScript to tell them apart: those are counted from the least.
 *
 * @param {string[]} values
 */
export function numbersOf(values) {
  let numbers = values.map(numberIn);
  if (values.every((each) => INTEGER.test(each))) {
    const exact = values.map((each) => BigInt(each.replaceAll('_', '')));
    const least = exact.reduce((low, each) => (each < low ? each : low));
    numbers = exact.map((each) => Number(each - least));
  }
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return {numbers, low, high, lowest: values[numbers.indexOf(low)], highest: values[numbers.indexOf(high)]};
}

/** The range of the numbers among values, in words; infinities, nan and texts are counted beside it. @param {string[]} values */
export function rangeOf(values) {
  const numbers = values.filter((each) => !Number.isNaN(numberIn(each)));
  if (numbers.length < 2) return '';
  const {lowest, highest} = numbersOf(numbers);
  const others = values.length - numbers.length;
  return `${others ? 'numbers ' : ''}from ${lowest} to ${highest}${others ? `; ${plural(others, 'other')}` : ''}`;
}

/** Mark the values that differ from the one before. @param {{value: string}[]} points */
export const changesIn = (points) => points.map(({value}, index) => index > 0 && value !== points[index - 1].value);

/**
 * Draw two values or more; `here` is the key of the one whose moment is shown.
 *
 * @param {Point[]} points
 * @param {boolean[]} changed
 * @param {string} here
 * @param {(key: string) => void} go
 */
export function curve(points, changed, here, go) {
  const {numbers, low, high, lowest, highest} = numbersOf(points.map(({value}) => value));
  const x = (/** @type {number} */ index) => PAD + (index / (points.length - 1)) * (WIDTH - 2 * PAD);
  const isLine = !numbers.some(Number.isNaN);
  const y = (/** @type {number} */ value) => HEIGHT - PAD - (high === low ? 0.5 : (value - low) / (high - low)) * (HEIGHT - 2 * PAD);
  const words = isLine ? `A line of ${points.length} numbers from ${lowest} to ${highest}` : `A strip of ${points.length} values`;
  const dots = points.map(({key, title, value}, index) =>
    svg(
      'g',
      {class: `point${key === here ? ' here' : ''}${changed[index] ? ' changed' : ''}`, 'data-key': key},
      svg('title', {}, `${title}: ${oneLine(value)}`),
      svg('rect', {class: 'hit', x: x(index) - 6, y: 0, width: 12, height: HEIGHT}),
      isLine
        ? svg('circle', {class: 'shape', cx: x(index), cy: y(numbers[index]), r: key === here ? 4.5 : 2.6})
        : svg('rect', {class: 'shape', x: x(index) - 2, y: HEIGHT / 2 - (changed[index] ? 20 : 8), width: 4, height: changed[index] ? 40 : 16, rx: 2}),
    ),
  );
  const path = isLine ? points.map((_, index) => `${index ? 'L' : 'M'}${x(index).toFixed(1)} ${y(numbers[index]).toFixed(1)}`).join('') : '';
  const picture = svg('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': words}, svg('path', {class: 'line-of', d: path}), ...dots);
  picture.addEventListener('click', (event) => {
    const key = event.target instanceof Element ? event.target.closest('.point')?.getAttribute('data-key') : null;
    if (key) go(key);
  });
  return picture;
}
