// The answer of a call, as the agent got it: asked for when the call is opened, and drawn by its keys.

import {copy} from '../view/clipboard.js';
import {el} from '../view/dom.js';
import {isTraced} from './traced_facts.js';
import {tracedCalls} from './traced_calls.js';

/** @typedef {import('./calls.js').Entry} Entry */

/** Answers that need not be asked for again. */
const MOST_KEPT = 50;

/** @param {(uri: string) => Promise<any>} readJson @returns {(entry: Entry) => HTMLElement | null} */
export function createAnswers(readJson) {
  /** @type {Map<string, HTMLElement>} */
  const drawn = new Map();

  /** @param {HTMLElement} view @param {number} call */
  async function show(view, call) {
    try {
      view.replaceChildren(...answerNodes(await readJson(`debugger://call/${call}`)));
    } catch (error) {
      const why = error.message.startsWith('Unknown resource') ? 'this server keeps none.' : error.message; // it is older than the page
      view.replaceChildren(el('p', {className: 'note'}, `The answer cannot be shown: ${why}`));
    }
  }

  return (entry) => {
    const {key, person, seconds, event} = entry;
    if (person || seconds === null || event.payload.call === undefined) return null;
    const known = drawn.get(key);
    if (known) return known;
    const view = el('div', {className: 'answer', role: 'group', ariaLabel: 'The answer, as the agent got it'}, el('p', {className: 'note'}, 'Fetching the answer…'));
    if (drawn.size >= MOST_KEPT) drawn.delete([...drawn.keys()][0]);
    drawn.set(key, view);
    show(view, event.payload.call);
    return view;
  };
}

/** @param {{text: string, bytesLeftOut: number}} answer */
function answerNodes({text, bytesLeftOut}) {
  const button = el('button', {type: 'button', className: 'small', title: 'Copy the answer as the agent got it', onclick: () => copy(text, button)}, 'Copy answer');
  const more = bytesLeftOut ? `, ${bytesLeftOut.toLocaleString('en')} more bytes are not kept` : '';
  const size = `${new TextEncoder().encode(text).length.toLocaleString('en')} bytes${more}`;
  return [el('div', {className: 'head'}, el('span', {className: 'note'}, `Answer, as the agent got it · ${size}`), button), bodyOf(text)];
}

/** By its keys, if it is an object; texts have their lines. @param {string} text */
function bodyOf(text) {
  const found = parsed(text);
  if (found === null) return el('pre', {tabIndex: 0}, text); // the keys scroll it
  return el('dl', {tabIndex: 0}, ...Object.entries(found).flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, isTraced(value) ? tracedCalls(String(found.function), value) : written(value))]));
}

/** @param {string} text @returns {Record<string, any> | null} */
function parsed(text) {
  try {
    const found = JSON.parse(text);
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : null;
  } catch {
    return null; // what is left out is its end
  }
}

/** A value as it is written; a list has an item on each line. @param {any} value */
function written(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value).map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`).join('\n');
}
