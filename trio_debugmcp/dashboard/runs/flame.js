// The calls of a recorded run as a flame: each as wide as the moments of the run that it lasted, above what it called. Pure.

import {numberOf} from './run_answers.js';

/** @typedef {import('../pictures/drawing.js').Span} Span @typedef {import('../pictures/drawing.js').Drawing} Drawing */

/** Functions that are neighbours mostly differ in their colour. */
const COLOURS = 3;

/**
 * A picture of lines of calls, each of which has its depth and follows the one that called it. Calls that overlap without one
 * being inside of the other, as those of two threads and of generators do, stand in rows of their own.
 *
 * @param {any[]} lines
 * @returns {Drawing}
 */
export function flameOf(lines) {
  const last = Math.max(0, ...lines.map((line) => numberOf({at: line.until ?? line.at})));
  const from = Math.min(last, ...lines.map(numberOf));
  /** @type {Span[][]} */
  const rows = [];
  /** The row of each call that the next one may be inside of. @type {number[]} */
  const above = [];
  for (const line of lines) {
    const span = spanOf(line, last + 1);
    const least = line.depth === 0 ? 0 : (above[line.depth - 1] ?? -1) + 1;
    let row = line.depth === 0 && rows[0]?.some((other) => overlap(span, other)) ? rows.length : least;
    while (rows[row]?.some((other) => overlap(span, other))) row += 1;
    (rows[row] ??= []).push(span);
    above[line.depth] = row;
  }
  const named = rows.map((spans, index) => ({
    name: String(index + 1), level: 1, spans: spans.sort((one, other) => one.from - other.from),
    says: `Row ${index + 1}, ${spans.length} ${spans.length === 1 ? 'call' : 'calls'}`,
  }));
  return {rows: named, from, to: last + 1, tick: (value) => (Number.isInteger(value) ? `#${value}` : '')};
}

/** @param {Span} one @param {Span} other */
const overlap = (one, other) => one.from < other.to && other.from < one.to;

/** @param {any} line @param {number} end  Of what has not returned. @returns {Span} */
function spanOf(line, end) {
  const {at, until, count, function: name, values} = line;
  const several = count > 1 ? `${count.toLocaleString('en')} more of ` : '';
  const from = numberOf(line);
  const to = until ? numberOf({at: until}) + 1 : count > 1 ? from + 1 : end;
  const lasted = count > 1 ? 'the last of them' : `${(to - from).toLocaleString('en')} moments`;
  const raised = values.some((value) => value.startsWith('raises '));
  const colour = [...name].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % COLOURS;
  return {
    from, to, kind: raised ? 'failed' : `flame${colour}`, text: several + name,
    says: `${several}${name} ${values.join(' ')} · ${lasted}, ${at}`, moment: at,
  };
}
