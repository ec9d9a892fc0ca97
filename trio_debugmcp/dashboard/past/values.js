// The values of variables over the stops that are kept: numbers as lines over axes, the rest as a strip of what changed, and
// all of them as a table that leads to each stop.

import {openDialog} from '../view/dialog.js';
import {el} from '../view/dom.js';
import {plural} from '../view/words.js';
import {changesIn, curve, rangeOf} from './curve.js';
import {MOST_SERIES, plot} from './plot.js';
import {isLine} from './plot_data.js';
import {tableOf} from './values_table.js';

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
 *
 * @typedef {{points: Point[], stops: number, total: number, dropped: number}} Found
 */

const MOST_BYTES = 5_000_000;

/**
 * Show the values that a variable had, and those of others that are added.
 *
 * @param {string} name
 * @param {import('./history.js').History} history
 * @param {{call: (name: string, args: object) => Promise<any>, functionName: string | null, sessionId: string | null}} where
 */
export function showValues(name, history, {call, functionName, sessionId}) {
  /** By name. @type {Map<string, Found>} */
  const shown = new Map();
  const picture = el('div', {className: 'over-time'});
  const summary = el('p', {className: 'hint', role: 'status'}, 'Asking for the values…');
  const box = (/** @type {boolean} */ checked, disabled = false) => el('input', {type: 'checkbox', checked, disabled, onchange: () => draw()});
  const [only, changes] = [box(functionName !== null, functionName === null), box(false)];
  const table = el('div', {className: 'scrolled', tabIndex: 0, role: 'region', ariaLabel: `Values of ${name}`});
  const other = el('input', {className: 'typed', placeholder: 'Another variable', ariaLabel: 'Another variable beside it', autocomplete: 'off', spellcheck: false});
  const form = el('form', {className: 'beside', onsubmit: added}, other, el('button', {type: 'submit', className: 'small'}, 'Add'));
  const filters = el('span', {className: 'checks'},
    el('label', {className: 'check'}, changes, ' Only changes'), el('label', {className: 'check'}, only, ` Only in ${functionName ?? 'this function'}`));
  const dialog = openDialog({title: `${name} over the stops`, className: 'wide'}, picture, el('div', {className: 'under'}, form, filters), summary, table);
  ask(name);

  /** @param {SubmitEvent} event */
  function added(event) {
    event.preventDefault();
    const wanted = other.value.trim();
    if (!wanted || shown.has(wanted)) return;
    if (shown.size >= MOST_SERIES) return void (summary.textContent = `${MOST_SERIES} variables at most.`);
    ask(wanted);
  }

  /** @param {string} wanted */
  async function ask(wanted) {
    try {
      const found = await call('stop_get', {variable: wanted, max_result_bytes: MOST_BYTES, ...(sessionId === null ? {} : {session_id: sessionId})});
      const {points = [], stops, total = 0, dropped = 0} = found;
      if (total === 0 && shown.size > 0) return void (summary.textContent = `${wanted} was not read at any of the ${plural(stops, 'stop')} that are kept.`);
      shown.set(wanted, {points, stops, total, dropped});
      form.reset();
      draw();
    } catch (error) {
      summary.textContent = error.message;
    }
  }

  /** @param {Point[]} points */
  const wanted = (points) => (only.checked ? points.filter((each) => each.functionName === functionName) : points);

  function draw() {
    const series = [...shown].map(([each, {points}]) => ({name: each, points: wanted(points)}));
    const here = history.shown;
    picture.replaceChildren(...pictureOf(series, here, go));
    summary.textContent = [...shown].map(([each, found], index) => {
      const {points} = series[index];
      const words = wordsOf(points, changesIn(points), {...found, leftOut: Math.max(0, found.total - found.points.length)});
      return shown.size > 1 ? `${each}: ${words}` : words;
    }).join('\n');
    table.replaceChildren(tableOf(series, {here, onlyChanges: changes.checked, go}));
    table.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  }

  /** @param {number} stop */
  function go(stop) {
    dialog.close();
    if (stop === history.current) history.now();
    else history.go(stop);
  }
}

/** Lines over axes; of one variable that has no numbers, where it changed. @param {{name: string, points: Point[]}[]} series @param {number} here @param {(stop: number) => void} go */
function pictureOf(series, here, go) {
  const lines = series.map(({name, points}) => ({name, points: points.map(({stop, value}) => ({x: stop, value}))})).filter(isLine);
  if (lines.length > 0) return [plot(lines, {label: `${lines.map(({name}) => name).join(', ')} over the stops`, unit: 'Stop', here, go})];
  const [{points}] = series;
  if (points.length < 2) return [];
  const strip = points.map(({stop, value}) => ({key: String(stop), title: `Stop ${stop}`, value}));
  return [curve(strip, changesIn(points), String(here), (key) => go(Number(key)))];
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
