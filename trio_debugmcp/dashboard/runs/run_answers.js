// What the tools about recorded runs answer.

/**
 * A line about a run: `at` is its number, as in `#36`; `values` is what it wrote, read or decided, `notes` why it is there.
 *
 * @typedef {{at: string, file: string, line: number, function: string, source: string, values?: string[], notes?: string[]}} BecauseLine
 */

/** The lines of an answer: where it was too long, the last one is a sentence on how many are left out. @param {any[]} list @returns {any[]} */
export const answerLines = (list) => list.filter((each) => typeof each === 'object');

/** How many lines were left out where an answer was too long. @param {any[]} list */
export const leftOutOf = (list) => {
  const words = list.find((each) => typeof each === 'string');
  return words ? Number(/\d+/.exec(words.replaceAll(',', ''))?.[0] ?? 1) : 0;
};

/** The number of a line, to be compared. @param {{at: string}} line */
export const numberOf = ({at}) => Number(at.slice(1));

/** What a line did, in words. @param {BecauseLine} line */
export const saidOf = ({values = [], notes = []}) => [values.join(' '), notes.join(': ')].filter(Boolean).join('; ');
