// The numbers that variables had at the last stops, as far as this page has seen them; what it has missed is asked for once.

import {numberIn} from '../past/curve.js';

/** @typedef {{stop: number, value: number}} Seen */

const MOST_POINTS = 40;

/** Functions of which numbers are kept. */
const MOST_FUNCTIONS = 40;

/** Variables that are asked for at one stop. */
const MOST_ASKED = 8;

/** The function that a stop is in, of one session. @param {string | undefined} sessionId @param {any} frame */
export const functionKey = (sessionId, frame) => `${sessionId} ${frame?.location?.functionName ?? frame?.name}`;

export class ValueSeries {
  /** By function, the one that was seen last at the end. @type {Map<string, Map<string, Seen[]>>} */
  #functions = new Map();
  /** @type {Set<string>} */
  #asked = new Set();

  /** Take the values of a stop. @param {string} key @param {number} stop @param {{name: string, value: string}[]} locals */
  look(key, stop, locals) {
    const known = this.#of(key);
    for (const {name, value} of locals) {
      const number = numberIn(value);
      const points = known.get(name) ?? [];
      if (Number.isNaN(number) || (points.at(-1)?.stop ?? 0) >= stop) continue;
      points.push({stop, value: number});
      if (points.length > MOST_POINTS) points.shift();
      known.set(name, points);
    }
  }

  /** The numbers of a variable up to a stop, if there are enough to see something, and they differ. @param {string} key @param {string} name @param {number} stop @returns {number[]} */
  upTo(key, name, stop) {
    const numbers = (this.#functions.get(key)?.get(name) ?? []).filter((point) => point.stop <= stop).map(({value}) => value);
    return numbers.length > 2 && numbers.some((each) => each !== numbers[0]) ? numbers : [];
  }

  /**
   * Ask for what was before: of variables that are said to have changed, though but one value was seen. Return whether
   * anything came.
   *
   * @param {string} key
   * @param {string[]} changed
   * @param {(name: string) => Promise<{stop: number, functionName: string | null, value: string}[]>} ask
   */
  async fill(key, changed, ask) {
    const known = this.#of(key);
    const names = changed.filter((name) => known.get(name)?.length === 1 && !this.#asked.has(`${key} ${name}`)).slice(0, MOST_ASKED);
    for (const name of names) this.#asked.add(`${key} ${name}`);
    for (const name of names) {
      const points = (await ask(name)).filter(({functionName, value}) => key.endsWith(` ${functionName}`) && !Number.isNaN(numberIn(value)));
      if (points.length) known.set(name, points.map(({stop, value}) => ({stop, value: numberIn(value)})).slice(-MOST_POINTS));
    }
    return names.length > 0;
  }

  /** @param {string} key */
  #of(key) {
    const known = this.#functions.get(key) ?? new Map();
    this.#functions.delete(key);
    this.#functions.set(key, known);
    if (this.#functions.size > MOST_FUNCTIONS) this.#functions.delete([...this.#functions.keys()][0]);
    return known;
  }
}
