// The numbers in the entries of a history, each series by its name: what can be drawn as a curve. Pure.

/** @typedef {import('./run_answers.js').BecauseLine} BecauseLine @typedef {import('../past/curve.js').Point} Point */

const NAMED = /^([\p{L}_$.][\p{L}\p{N}_$.[\]]*)(?:=|: )(.*)$/su;

const RESULT = /^(?:->|returns|yields) (.*)$/s;

/**
 * A value of an entry, with the name that it has: `total=4`, `Till.tries: 3 -> 4`, `-> 4`.
 *
 * @param {string} text
 * @returns {[string, string] | null}
 */
export function namedValue(text) {
  const result = RESULT.exec(text);
  if (result) return ['result', result[1]];
  const found = NAMED.exec(text);
  if (!found) return null;
  const change = found[2].lastIndexOf(' -> ');
  return [found[1], change < 0 ? found[2] : found[2].slice(change + 4)];
}

/**
 * The series of a history, those first that occur most: what has one name in two functions are two.
 *
 * @param {BecauseLine[]} entries
 * @returns {{name: string, points: Point[]}[]}
 */
export function seriesOf(entries) {
  /** @type {Map<string, Point[]>} */
  const series = new Map();
  const functions = new Set(entries.map((entry) => entry.function));
  for (const {at, values = [], file, line, function: called} of entries) {
    for (const text of values) {
      const found = namedValue(text);
      if (!found) continue;
      const [name, value] = [functions.size > 1 ? `${found[0]} in ${called}` : found[0], found[1]];
      const points = series.get(name) ?? [];
      points.push({key: at, title: `${at} line ${line} of ${file.split('/').pop()}`, value});
      series.set(name, points);
    }
  }
  return [...series].map(([name, points]) => ({name, points})).sort((one, other) => other.points.length - one.points.length);
}
