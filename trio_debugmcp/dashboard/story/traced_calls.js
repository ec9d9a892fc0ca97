// The calls that were traced for an agent, as a tree: a call, its lines as they ran, and behind each what it called and changed.

import {el} from '../view/dom.js';

/** @typedef {{caller?: string, arguments?: string, lines: string[], returned?: string, raised?: string, ran?: number}} TracedCall */

/** Where what a line did begins. */
const DID = '  # ';

/** Whether a value of an answer is a list of such calls. @param {any} value @returns {value is TracedCall[]} */
export const isTraced = (value) => Array.isArray(value) && value.length > 0 && value.every((each) => Array.isArray(each?.lines));

/** @param {string} traced  The function, and its place. @param {TracedCall[]} calls */
export function tracedCalls(traced, calls) {
  const [name] = traced.split(' ');
  return el('ol', {className: 'traced', ariaLabel: `Calls of ${name}`}, ...calls.map((call) => callNode(name, call)));
}

/** @param {string} name @param {TracedCall} call */
function callNode(name, {caller, arguments: given = '', lines, returned, raised, ran}) {
  const end = raised !== undefined ? `raises ${raised}` : returned !== undefined ? `-> ${returned}` : 'has not ended';
  const about = [caller ? `called at ${caller}` : '', ran ? `${ran.toLocaleString('en')} lines ran` : ''].filter(Boolean).join(' · ');
  return el(
    'li', {},
    el('span', {className: 'name'}, `${name}(${given}) `), el('span', {className: raised === undefined ? 'end' : 'end problem'}, end),
    about ? el('span', {className: 'note'}, about) : null,
    el('ol', {}, ...lines.map(lineNode)),
  );
}

/** `23 total += price(line)  # price(line='tea') -> 3; total=3`, or how many lines were left out. @param {string} line */
function lineNode(line) {
  const [, number = '', rest = line] = /^(\d+) ?(.*)$/s.exec(line) ?? [];
  const at = ` ${rest}`.indexOf(DID);
  const [source, did] = at < 0 ? [rest, ''] : [rest.slice(0, Math.max(0, at - 1)), rest.slice(at - 1 + DID.length)];
  return el('li', {}, el('span', {className: 'number'}, number), el('code', {}, source), did ? el('span', {className: 'did'}, did) : null);
}
