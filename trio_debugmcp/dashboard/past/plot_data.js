// The numbers of several variables, side by side by the stops at which they were read. Pure.

import {numberIn} from './curve.js';

/** @typedef {{name: string, points: {x: number, value: string}[]}} Series */

const INTEGER = /^-?\d[\d_]*$/;

/** The numbers of a series: what is not one, such as nan or a text, is not on the line. @param {Series} series */
export const numeric = ({points}) => points.filter(({value}) => !Number.isNaN(numberIn(value)));

/** Whether there is a line to be drawn: most of its values are numbers, and they are two or more. @param {Series} series */
export function isLine(series) {
  const {length} = numeric(series);
  return length > 1 && length * 2 > series.points.length;
}

/**
 * Put series side by side. `rows`: the numbers of each at each place, null where it was not read; `words`: what it was as a text.
 * Integers that a number of JavaScript cannot tell apart are counted from the least of all; `tick` says a number of the axis.
 *
 * @param {Series[]} series
 */
export function alignedOf(series) {
  const xs = [...new Set(series.flatMap((each) => each.points.map(({x}) => x)))].sort((one, other) => one - other);
  const values = series.flatMap((each) => numeric(each).map(({value}) => value.replaceAll('_', '')));
  const isLarge = values.length > 0 && values.every((value) => INTEGER.test(value)) && values.some((value) => !Number.isSafeInteger(Number(value)));
  const least = isLarge ? values.map((value) => BigInt(value)).reduce((low, each) => (each < low ? each : low)) : 0n;
  const number = (/** @type {string} */ value) => (isLarge ? Number(BigInt(value.replaceAll('_', '')) - least) : numberIn(value));
  const byPlace = series.map(({points}) => new Map(points.map(({x, value}) => [x, value])));
  const words = byPlace.map((known) => xs.map((x) => known.get(x) ?? null));
  const rows = words.map((texts) => texts.map((text) => (text === null || Number.isNaN(numberIn(text)) ? null : number(text))));
  const tick = (/** @type {number} */ value) => (isLarge ? String(least + BigInt(Math.round(value))) : shortNumber(value));
  return {xs, rows, words, tick};
}

/** @param {number} value */
const shortNumber = (value) => (Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential(2) : String(Number(value.toPrecision(8))));
