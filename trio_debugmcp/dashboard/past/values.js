// The values of a variable over the stops that are kept: numbers as a line, the rest as a strip of what changed, and all
// of them as a table that leads to each stop.

import {openDialog} from '../view/dialog.js';
import {el} from '../view/dom.js';
import {clockWithMilliseconds, place, plural} from '../view/words.js';
import {changesIn, curve, rangeOf} from './curve.js';

/**
 * @typedef {object} Point  A variable at one stop.
 * @property {number} stop
 * @property {string} sessionId
 * @property {string | null} capturedAt
 * @property {string | null} file
 * @property {number | null} line
 * @property {string | null} functionName
 * @property {string} value
 * @property {string | null} type
 */

const MOST_BYTES = 5_000_000;

/**
 * Show the values that a variable had.
 *
 * @param {string} name
 * @param {import('./history.js').History} history
 * @param {{call: (name: string, args: object) => Promise<any>, functionName: string | null, sessionId: string | null}} where
 */
export function showValues(name, history, {call, functionName, sessionId}) {
  const picture = el('div', {className: 'over-time'});
  const summary = el('p', {className: 'hint', role: 'status'}, 'Asking for the values…');
  const only = el('input', {type: 'checkbox', checked: functionName !== null, disabled: functionName === null});
  const rows = el('tbody');
  const heads = ['Stop', 'Time', 'Where', 'Value'].map((each) => el('th', {scope: 'col'}, each));
  const table = el('div', {className: 'scrolled', tabIndex: 0, role: 'region', ariaLabel: `Values of ${name}`},
    el('table', {className: 'values'}, el('thead', {}, el('tr', {}, ...heads)), rows));
  const filter = el('label', {className: 'check'}, only, ` Only in ${functionName ?? 'this function'}`);
  const dialog = openDialog({title: `${name} over the stops`, className: 'wide'}, picture, el('div', {className: 'under'}, summary, filter), table);

  call('stop_get', {
    variable: name,
    max_result_bytes: MOST_BYTES,
    ...(sessionId === null ? {} : {session_id: sessionId}),
  }).then(
    (found) => {
      only.addEventListener('change', () => draw(found));
      draw(found);
    },
    (error) => (summary.textContent = error.message),
  );

  function draw({points = [], stops, total = 0, dropped = 0}) {
    const shown = only.checked ? points.filter((/** @type {Point} */ each) => each.functionName === functionName) : points;
    const changed = changesIn(shown);
    const here = history.shown;
    const drawn = shown.map(({stop, value}) => ({key: String(stop), title: `Stop ${stop}`, value}));
    picture.replaceChildren(...(shown.length > 1 ? [curve(drawn, changed, String(here), (key) => go(Number(key)))] : []));
    summary.textContent = wordsOf(shown, changed, {stops, dropped, leftOut: Math.max(0, total - points.length)});
    rows.replaceChildren(...shown.map((point, index) => row(point, changed[index], point.stop === here)).reverse());
    rows.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  }

  /** @param {Point} point @param {boolean} changed @param {boolean} current */
  function row({stop, capturedAt, file, line, functionName: called, value}, changed, current) {
    const number = el('button', {type: 'button', className: 'small', title: `Show stop ${stop}`, onclick: () => go(stop)}, String(stop));
    return el(
      'tr',
      {dataset: {stop, changed: String(changed)}, ariaCurrent: current ? 'true' : null},
      el('td', {}, number),
      el('td', {className: 'when'}, clockWithMilliseconds(capturedAt)),
      el('td', {}, `${place({file, line})}${called ? ` in ${called}` : ''}`),
      el('td', {className: 'value', title: value}, value, changed ? el('span', {className: 'unseen'}, ' (changed)') : null),
    );
  }

  /** @param {number} stop */
  function go(stop) {
    dialog.close();
    if (stop === history.current) history.now();
    else history.go(stop);
  }
}

/** @param {Point[]} points @param {boolean[]} changed @param {{stops: number, dropped: number, leftOut: number}} counts */
export function wordsOf(points, changed, {stops, dropped, leftOut}) {
  if (points.length === 0) return `It was not read at any of the ${plural(stops, 'stop')} that are kept.`;
  return [
    `read at ${points.length} of ${plural(stops, 'stop')}`,
    `${plural(changed.filter(Boolean).length, 'change')}`,
    rangeOf(points.map(({value}) => value)),
    leftOut ? `${leftOut} earlier values left out` : '',
    dropped ? `${plural(dropped, 'earlier stop')} not kept` : '',
  ].filter(Boolean).join(' · ');
}
