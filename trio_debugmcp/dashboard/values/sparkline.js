// The last numbers of a variable as a small line in its row.

import {svg} from '../view/dom.js';

const WIDTH = 48;
const HEIGHT = 14;
const PAD = 2;

/** The line through numbers that stand side by side. @param {number[]} numbers */
export function pathOf(numbers) {
  const finite = numbers.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const x = (/** @type {number} */ index) => PAD + (index / (numbers.length - 1)) * (WIDTH - 2 * PAD);
  const y = (/** @type {number} */ number) => HEIGHT - PAD - (high === low ? 0.5 : (Math.max(low, Math.min(high, number)) - low) / (high - low)) * (HEIGHT - 2 * PAD);
  return {
    path: numbers.map((number, index) => `${index ? 'L' : 'M'}${x(index).toFixed(1)} ${y(number).toFixed(1)}`).join(''),
    end: {x: x(numbers.length - 1), y: y(/** @type {number} */ (numbers.at(-1)))},
  };
}

/** Draw it; who does not see it has the values over the stops as a table. @param {number[]} numbers */
export function sparkline(numbers) {
  const {path, end} = pathOf(numbers);
  return svg('svg', {class: 'sparkline', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true'},
    svg('title', {}, `At the last ${numbers.length} stops here; h shows them all`),
    svg('path', {d: path}), svg('circle', {cx: end.x, cy: end.y, r: 1.8}));
}
