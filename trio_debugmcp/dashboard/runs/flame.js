// The calls of a recorded run as a flame: each as wide as the moments of the run that it lasted, above what it called. Pure.

import {flameKind} from '../pictures/flame_kinds.js';
import {INSIDE, numberOf} from './run_answers.js';

/** @typedef {import('../pictures/drawing.js').Span} Span @typedef {import('../pictures/drawing.js').Drawing} Drawing */

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
  const own = ownOf(lines, last + 1);
  for (const [index, line] of lines.entries()) {
    const span = spanOf(line, last + 1, own[index]);
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

/**
 * How many moments of each call are its own, and not those of calls inside of it; null where not all of these are among the lines.
 *
 * @param {any[]} lines
 * @param {number} end
 */
function ownOf(lines, end) {
  const own = lines.map((line) => (line.count > 1 || INSIDE.test(line.values.at(-1) ?? '') ? null : toOf(line, end) - numberOf(line)));
  /** @type {number[]} */
  const above = [];
  lines.forEach((line, index) => {
    above.length = line.depth;
    const caller = above.at(-1);
    const before = caller === undefined ? null : own[caller];
    if (caller !== undefined && before !== null) own[caller] = line.count > 1 ? null : before - (toOf(line, end) - numberOf(line));
    above.push(index);
  });
  return own;
}

/** @param {any} line @param {number} end  Of what has not returned. */
const toOf = ({at, until, count}, end) => (until ? numberOf({at: until}) + 1 : count > 1 ? numberOf({at}) + 1 : end);

/** @param {any} line @param {number} end @param {number | null} own @returns {Span} */
function spanOf(line, end, own) {
  const {at, count, function: name, values} = line;
  const several = count > 1 ? `${count.toLocaleString('en')} more of ` : '';
  const [from, to] = [numberOf(line), toOf(line, end)];
  const itsOwn = own === null || own === to - from ? '' : `, ${own.toLocaleString('en')} of them its own`;
  const lasted = count > 1 ? 'the last of them' : `${(to - from).toLocaleString('en')} moments${itsOwn}`;
  const raised = values.some((value) => value.startsWith('raises '));
  return {
    from, to, kind: raised ? 'failed' : flameKind(name), text: several + name,
    says: `${several}${name} ${values.join(' ')} · ${lasted}, ${at}`, moment: at,
  };
}
