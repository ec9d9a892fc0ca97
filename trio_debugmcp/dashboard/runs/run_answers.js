// What the tools about recorded runs answer.

import {isAnswer} from '../connection/mcp.js';

/** Lines of an answer, which has room for some three hundred. */
const LINES = 200;

/** What the line of a call says last if there are calls inside that are too deep for the answer. */
export const INSIDE = /^… .*\binside$/;

/**
 * A line about a run: `at` is its number, as in `#36`; `values` is what it wrote, read or decided, `notes` why it is there.
 *
 * @typedef {{at: string, file: string, line: number, function: string, source: string, values?: string[], notes?: string[]}} BecauseLine
 */

/** The lines of an answer: where it was too long, the last one is a sentence on how many are left out. @param {any[]} list @returns {any[]} */
export const answerLines = (list) => list.filter((each) => typeof each === 'object');

/**
 * Ask for calls of a run. What the run cannot answer is a `problem`, in words.
 *
 * @param {(name: string, args: object) => Promise<any>} ask
 * @param {object} question
 * @returns {Promise<{lines: any[], total: number, omitted: number, notes: string[], problem: string}>}
 */
export async function callsOf(ask, question) {
  try {
    const {calls, total, omitted, notes} = await ask('calls_get', {count: LINES, ...question});
    return {lines: answerLines(calls), total, omitted: omitted + leftOutOf(calls), notes, problem: ''};
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return {lines: [], total: 0, omitted: 0, notes: [], problem: error.message};
  }
}

/** How many lines were left out where an answer was too long. @param {any[]} list */
export const leftOutOf = (list) => {
  const words = list.find((each) => typeof each === 'string');
  return words ? Number(/\d+/.exec(words.replaceAll(',', ''))?.[0] ?? 1) : 0;
};

/** The number of a line, to be compared. @param {{at: string}} line */
export const numberOf = ({at}) => Number(at.slice(1));

/** What a line did, in words. @param {BecauseLine} line */
export const saidOf = ({values = [], notes = []}) => [values.join(' '), notes.join(': ')].filter(Boolean).join('; ');
