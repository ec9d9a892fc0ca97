// Many calls of the same kind, one at each stop: five hundred steps are one row that opens to the single ones.

import {duration} from '../view/words.js';

/** @typedef {import('./story.js').Chapter} Chapter @typedef {import('./calls.js').Entry} Entry */

/** So many are as short as the row that would stand for them, with its heading. */
const FEWEST = 5;

/** @typedef {{key: string, chapters: Chapter[], entries: Entry[]}} Run */

/**
 * Give chapters, the latest first, those of a run as one: consecutive stops of one session with the same single call each.
 * The last chapter, where the program is, stands by itself.
 *
 * @param {Chapter[]} chapters
 * @returns {Generator<Chapter | Run, void>}
 */
export const folded = function* (chapters) {
  let end = chapters.length;
  while (end > 0) {
    let first = end - 1;
    while (end < chapters.length && first > 0 && isAlike(chapters[end - 1], chapters[first - 1])) first -= 1;
    const run = chapters.slice(first, end);
    if (run.length < FEWEST) yield* run.reverse();
    else yield {key: `run-${run[0].entries[0].key}`, chapters: run, entries: run.flatMap(({entries}) => entries)};
    end = first;
  }
};

/** Whether two stops have the same call, and nothing else. @param {Chapter} one @param {Chapter} other */
function isAlike(one, other) {
  if (other.event?.type !== 'stopped' || one.event?.type !== 'stopped' || one.of !== other.of) return false;
  if (one.entries.length !== 1 || other.entries.length !== 1) return false;
  const [[a], [b]] = [one.entries, other.entries];
  const isPlain = [a, b].every(({failed, lost, seconds, say}) => !failed && !lost && seconds !== null && say === null);
  return isPlain && a.title === b.title && a.who === b.who && a.words === b.words;
}

/**
 * What a run says: how many, between which lines, how long in all, and how the values went that changed in it.
 *
 * @param {Run} run
 */
export function runInWords({chapters, entries}) {
  const lines = chapters.map(({event}) => event.payload.location).filter((location) => location?.file);
  const files = new Set(lines.map(({file}) => file));
  const numbers = lines.map(({line}) => line).filter((line) => line !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const name = [...files][0]?.split(/[\\/]/).pop() ?? '';
  const where = files.size === 1 ? `${name}:${low === high ? low : `${low}–${high}`}` : `${files.size} files`;
  return {
    title: `${entries[0].title} × ${entries.length}`,
    words: [where, entries[0].words].filter(Boolean).join(', '),
    took: duration(entries.reduce((sum, {seconds}) => sum + (seconds ?? 0), 0)),
    result: wayOf(entries),
  };
}

/** Variables in the row of a run. */
const NAMED = 3;

/** Return the first and the last value of what changed most often: `x 7.67 → 6.60`. @param {Entry[]} entries */
function wayOf(entries) {
  /** @type {Map<string, {was: string | null, value: string, times: number}>} */
  const ways = new Map();
  for (const {name, was, value} of entries.flatMap(({changes}) => changes ?? [])) {
    const way = ways.get(name);
    if (way) Object.assign(way, {value, times: way.times + 1});
    else ways.set(name, {was, value, times: 1});
  }
  const most = [...ways].sort(([, one], [, other]) => other.times - one.times).slice(0, NAMED);
  return most.map(([name, {was, value}]) => (was === null ? `${name} ${value}` : `${name} ${was} → ${value}`)).join(', ');
}
