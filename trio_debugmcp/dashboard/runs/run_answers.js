// What the tools about recorded runs answer.

/**
 * A line about a run: `at` is its number, as in `#36`; `values` is what it wrote, read or decided, `notes` why it is there.
 *
 * @typedef {{at: string, file: string, line: number, function: string, source: string, values?: string[], notes?: string[]}} BecauseLine
 */

/** The number of a line, to be compared. @param {{at: string}} line */
export const numberOf = ({at}) => Number(at.slice(1));

/** What a line did, in words. @param {BecauseLine} line */
export const saidOf = ({values = [], notes = []}) => [values.join(' '), notes.join(': ')].filter(Boolean).join('; ');
