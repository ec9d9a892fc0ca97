// Traced calls as a flame: the calls, below them the lines that ran, below these what they called. Pure.

import {flameKind} from '../pictures/flame_kinds.js';

/** @typedef {import('../pictures/drawing.js').Span} Span @typedef {import('./traced_facts.js').CallFacts} CallFacts */

/**
 * A picture of traced calls, one after another: a call is as wide as the lines of it that are in the answer.
 *
 * @param {string} name  Of the function.
 * @param {CallFacts[]} calls
 * @returns {import('../pictures/drawing.js').Drawing}
 */
export function tracedFlameOf(name, calls) {
  /** @type {Span[][]} */
  const [whole, ran, called] = [[], [], []];
  /** @type {string[]} */
  const numbers = [];
  /** @type {number[]} */
  const cuts = [];
  for (const call of calls) {
    const from = numbers.length;
    for (const line of call.lines) {
      const at = numbers.push(line.number) - 1;
      if (line.leftOut) cuts.push(at + 0.5);
      ran.push(lineSpan(line, at));
      const share = 1 / line.called.length;
      called.push(...line.called.map(({text, raised}, index) => ({
        from: at + index * share, to: at + (index + 1) * share, kind: raised ? 'failed' : flameKind(text.split('(')[0]), text, says: `${text} · at line ${line.number}`,
      })));
    }
    const to = Math.max(numbers.length, from + 1);
    if (to > numbers.length) numbers.push('');
    whole.push({from, to, kind: call.raised ? 'failed' : flameKind(name), text: `${name}(${call.given})`, says: saidOf(name, call)});
  }
  const rows = [row('Calls', whole), row('Lines', ran), row('Called', called)].filter(({spans}) => spans.length > 0);
  return {rows, from: 0, to: numbers.length || 1, tick: (place) => (Number.isInteger(place) ? numbers[place] ?? '' : ''), cuts};
}

/** @param {import('./traced_facts.js').LineFacts} line @param {number} at @returns {Span} */
function lineSpan({number, source, did, called, leftOut}, at) {
  const says = leftOut ? source : `Line ${[`${number} ${source}`.trim(), did].filter(Boolean).join(' · ')}`;
  return {from: at, to: at + 1, kind: leftOut ? 'idle' : called.some(({raised}) => raised) ? 'failed' : 'call', text: source || number, says};
}

/** @param {string} name @param {CallFacts} call */
function saidOf(name, {given, end, lines, ran}) {
  const [made, own] = [lines.reduce((sum, {called}) => sum + called.length, 0), lines.filter(({called, leftOut}) => !called.length && !leftOut).length];
  const shown = lines.filter(({leftOut}) => !leftOut).length;
  const counted = ran > shown ? `${shown} of ${ran.toLocaleString('en')} lines` : `${shown} ${shown === 1 ? 'line' : 'lines'}`;
  return `${name}(${given}) ${end} · ${counted}${made ? `, ${own} of them without a call; ${made} ${made === 1 ? 'call' : 'calls'}` : ''}`;
}

/** @param {string} name @param {Span[]} spans */
const row = (name, spans) => ({name, level: 1, spans, says: `${name}, ${spans.length}`});
