// Values at the ends of lines: what the locals of the frame that is shown are now, beside the lines that name them.
//
// Only from the beginning of the function to the line where it is: what is below has not run, or runs again.

import {saidOf} from '../runs/run_answers.js';
import {brief} from '../view/words.js';

/** Lines above the current one that are looked at: a function that is longer shows no values further up. */
const MOST_LINES = 400;

const SHOWN_CHARACTERS = 40;

/** Lines that are indented less than a body, and do not begin a function. */
const BLOCK =
  /^\s*(?:if|elif|else|for|foreach|while|until|unless|with|try|except|catch|finally|switch|match|case|default|do|loop|begin|rescue|ensure|synchronized|using|lock|unsafe|select|when)\b/;

/** Lines whose indentation says nothing: braces, comments, decorators. */
const BESIDE = /^\s*(?:[{})\]]|#|\/\/|\*|@)/;

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

/**
 * The first line of the function that a line is in, by their indentation: 1 if it is in none.
 *
 * @param {{text: string}[]} lines
 * @param {number} line  counted from 1, as the result
 */
export function functionStart(lines, line) {
  let indent = indentOf(lines[line - 1]?.text ?? '') ?? 0;
  const last = Math.max(1, line - MOST_LINES);
  for (let number = line - 1; number >= last && indent > 0; number -= 1) {
    const {text} = lines[number - 1];
    const here = indentOf(text);
    if (here === null || here >= indent || BESIDE.test(text)) continue;
    if (!BLOCK.test(text)) return number;
    indent = here;
  }
  return indent > 0 ? last : line;
}

/** How far a line is indented; null for an empty one. */
const indentOf = (text) => (text.trim() === '' ? null : /^\s*/.exec(text.replaceAll('\t', '        '))?.[0].length ?? 0);

/**
 * The values at the ends of lines, by line number: of the frame that is shown, if it is in this file.
 *
 * @param {{text: string}[]} lines
 * @param {string | null} file
 * @param {any} state
 * @returns {Map<number, string[]>}
 */
export function lineValues(lines, file, {frames, stack, session, active, past}) {
  const found = new Map();
  const {exception, currentLocation: here} = past ? {...past, currentLocation: past.location} : session ?? {};
  const holds = past || (active && stack?.stale === false);
  if ((past || active) && exception && here?.file === file) {
    found.set(here.line, [`${exception.type}: ${exception.message ?? ''}`]);
  }
  if (past?.moment && here.file === file) found.set(here.line, [`then ${saidOf(past.moment.line)}`]); // what it then did
  const location = frames.list[frames.index]?.location;
  if (!holds || !frames.locals || location?.file !== file || !location.line) return found;
  const known = new Map(frames.locals.map(({name, value}) => [name, value]));
  for (let number = functionStart(lines, location.line); number <= Math.min(location.line, lines.length); number += 1) {
    if (found.has(number)) continue;
    const named = [...new Set(lines[number - 1].text.match(WORD) ?? [])].filter((name) => known.has(name));
    if (named.length) found.set(number, named.map((name) => `${name} = ${brief(known.get(name), SHOWN_CHARACTERS)}`));
  }
  return found;
}
