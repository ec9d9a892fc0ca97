// What an answer has of traced calls, as its text says it or by fields (`full`), in one form. Pure.

import {place} from '../view/words.js';

/**
 * @typedef {{text: string, raised: boolean}} Called  What a line called: the call, and how it ended.
 * @typedef {{number: string, source: string, did: string, called: Called[], leftOut: boolean}} LineFacts
 * @typedef {{given: string, end: string, raised: boolean, caller: string, ran: number, lines: LineFacts[]}} CallFacts
 */

/** Where what a line did begins. */
const DID = '  # ';

/** A call that a line made, among what else it did: a change is `name=value`. */
const CALL = /^[\w.<>]+\(.*\) (?:-> |raises |yields |…)/s;
const RAISED = /\) (?:yields \d+ values?, )?raises /;

/** Whether a value of an answer is a list of traced calls. @param {any} value @returns {value is any[]} */
export const isTraced = (value) => Array.isArray(value) && value.length > 0 && value.every((each) => Array.isArray(each?.lines));

/** @param {any} call @returns {CallFacts} */
export function callFacts({caller, arguments: given, lines, returned, raised, ran}) {
  const isRaised = typeof raised === 'string';
  return {
    given: Array.isArray(given) ? given.map(({path, value}) => `${path}=${value}`).join(', ') : given ?? '',
    end: isRaised ? `raises ${raised}` : typeof returned === 'string' ? `-> ${returned}` : 'has not ended',
    raised: isRaised,
    caller: typeof caller === 'object' && caller !== null ? `${place(caller)} in ${caller.functionName}` : caller ?? '',
    ran: ran ?? 0,
    lines: lines.map((line) => (typeof line === 'string' ? factsOfText(line) : factsOfFields(line))),
  };
}

/** `23 total += price(line)  # price(line='tea') -> 3; total=3`, or how many lines were left out. @param {string} line */
function factsOfText(line) {
  const [, number = '', rest = line] = /^(\d+) ?(.*)$/s.exec(line) ?? [];
  const at = ` ${rest}`.indexOf(DID);
  const [source, did] = at < 0 ? [rest, ''] : [rest.slice(0, Math.max(0, at - 1)), rest.slice(at - 1 + DID.length)];
  return {number, source, did, called: calledIn(partsOf(did)), leftOut: number === ''};
}

/** @param {any} line @returns {LineFacts} */
function factsOfFields({line, source, did, changes, decided, leftOut}) {
  if (leftOut !== null) return {number: '', source: `… ${leftOut}`, did: '', called: [], leftOut: true};
  const changed = changes.map(({path, value}) => (value === null ? `del ${path}` : `${path}=${value}`));
  const parts = [...did, ...changed, ...(decided ? [decided] : [])];
  return {number: String(line), source: source ?? '', did: parts.join('; '), called: calledIn(did), leftOut: false};
}

/** @param {string[]} parts @returns {Called[]} */
const calledIn = (parts) => parts.filter((part) => CALL.test(part)).map((text) => ({text, raised: RAISED.test(text)}));

/** A text as Python writes it, or a sign; the apostrophe of `don't` begins none. */
const PIECE = /(?<!\w)[bfru]{0,2}(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|./gis;

/** What stands between semicolons, but for those in texts and brackets of values. @param {string} did */
function partsOf(did) {
  const parts = [''];
  let depth = 0;
  for (const [piece] of did.matchAll(PIECE)) {
    if ('([{'.includes(piece)) depth += 1;
    else if (')]}'.includes(piece)) depth -= 1;
    if (piece === ';' && depth <= 0) parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return parts.map((part) => part.trim());
}
