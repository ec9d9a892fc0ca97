// How something changed over the run that is open: each write of a variable, run of a line, or call of a function; the numbers as a
// curve, all of them as a list in which each leads to its moment.

import {isAnswer} from '../connection/mcp.js';
import {changesIn, curve, rangeOf} from '../past/curve.js';
import {el, setText} from '../view/dom.js';
import {stepOf} from '../view/roving.js';
import {Rows} from '../view/rows.js';
import {becauseRow} from './because_rows.js';
import {seriesOf} from './history_series.js';
import {answerLines} from './run_answers.js';

/** Entries that are drawn, and can be gone through; others stand on the pages before and behind. */
const PAGE = 1000;

/** Entries of an answer, which has room for some three hundred. */
const PART = 200;

/** Of a row with two lines: where, and below it what was written. */
const ROW_PIXELS = 44;

const WHAT_TO_NAME = 'Name a variable, an attribute of a class, a function with (), or a line as file:line.';

/** @typedef {{entries: any[], total: number, isLeast: boolean, undecided: number, notes: string[]}} Found */

export class HistoryView {
  name = 'History';
  #turn = 0;
  /** @type {object | null} */
  #question = null;
  #start = 0;
  /** @type {Found} */
  #found = {entries: [], total: 0, isLeast: false, undecided: 0, notes: []};

  /**
   * @param {import('../store.js').Store} store
   * @param {import('../past/travel.js').Travel} travel
   * @param {(name: string, args: object) => Promise<any>} call  Asks about the run that is open.
   */
  constructor(store, travel, call) {
    this.travel = travel;
    this.call = call;
    const field = (placeholder, label) => el('input', {className: 'typed', spellcheck: false, autocomplete: 'off', placeholder, ariaLabel: label});
    this.input = field('total, serve(), shop.py:12', 'A variable, an attribute of a class, a function with (), or file:line');
    this.where = field('only where, such as new > 3', 'Only where this holds');
    const asked = (event) => {
      event.preventDefault();
      const question = questionOf(this.input.value);
      const where = this.where.value.trim();
      if (question) this.ask({...question, ...(where ? {where} : {})});
    };
    this.status = el('p', {className: 'asked-about note', role: 'status'});
    this.series = el('select', {ariaLabel: 'Which values are drawn', onchange: () => this.#draw()});
    this.pages = el('span', {className: 'pages'});
    this.picture = el('div', {className: 'over-time'});
    this.list = el('ol', {className: 'path entries', ariaLabel: 'How it changed'});
    this.rows = new Rows(this.list, {height: ROW_PIXELS, make: (index) => this.#row(index)});
    this.list.addEventListener('keydown', (event) => this.#walk(event));
    this.node = el('div', {className: 'run-history'},
      el('form', {className: 'ask', onsubmit: asked}, this.input, this.where, el('button', {type: 'submit', className: 'button'}, 'Show')),
      el('div', {className: 'ask under'}, this.status, this.series, this.pages), this.picture, this.list);
    store.watch(['past'], () => this.#found.entries.length > 0 && this.#draw());
  }

  opened() {
    this.#turn += 1;
    this.#question = null;
    this.input.value = this.where.value = '';
    this.#take({entries: [], total: 0, isLeast: false, undecided: 0, notes: []}, '');
  }

  shown() {
    this.rows.draw();
  }

  /** @param {object} question @param {number} [start] */
  async ask(question, start = 0) {
    const turn = ++this.#turn;
    [this.#question, this.#start] = [question, start];
    this.input.value = textOf(question) || this.input.value;
    setText(this.status, 'Asking…');
    let [found, problem] = [this.#found, ''];
    try {
      found = await this.#page(question, start);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      [found, problem] = [{entries: [], total: 0, isLeast: false, undecided: 0, notes: []}, error.message];
    }
    if (turn === this.#turn) this.#take(found, problem);
  }

  /** @param {object} question @param {number} start @returns {Promise<Found>} */
  async #page(question, start) {
    /** @type {any[]} */
    const entries = [];
    for (;;) {
      const found = await this.call('history_get', {...question, start: start + entries.length, count: PART});
      const lines = answerLines(found.entries);
      entries.push(...lines);
      if (lines.length === 0 || entries.length >= PAGE || start + entries.length >= found.total) return {...found, entries};
    }
  }

  /** @param {Found} found @param {string} problem */
  #take(found, problem) {
    this.#found = found;
    this.status.classList.toggle('problem', problem !== '');
    setText(this.status, problem || (this.#question ? wordsOf(found, this.#start) : WHAT_TO_NAME));
    const names = seriesOf(found.entries).filter(({points}) => points.length > 1).map(({name}) => name);
    this.series.replaceChildren(...names.map((name) => el('option', {value: name}, name)));
    this.series.hidden = names.length < 2;
    const page = (text, start) => el('button', {type: 'button', className: 'small', onclick: () => this.ask(this.#question ?? {}, start)}, text);
    this.pages.replaceChildren(
      ...(this.#start > 0 ? [page('Earlier', Math.max(0, this.#start - PAGE))] : []),
      ...(this.#start + found.entries.length < found.total ? [page('Later', this.#start + PAGE)] : []));
    this.rows.reset(found.entries.length);
    this.rows.kept = found.entries.length ? 0 : -1;
    this.#draw();
  }

  #draw() {
    const here = this.travel.moments.shown?.asked ?? '';
    const series = seriesOf(this.#found.entries).find(({name}) => name === this.series.value);
    const points = series?.points ?? [];
    this.picture.hidden = points.length < 2;
    if (series && points.length > 1) {
      const range = rangeOf(points.map(({value}) => value));
      this.picture.replaceChildren(
        curve(points, changesIn(points), here, (key) => this.travel.goMoment(key)),
        el('p', {className: 'note'}, [series.name, range].filter(Boolean).join(' · ')));
    }
    const focused = this.rows.indexOf(document.activeElement);
    const {kept} = this.rows;
    const {scrollTop} = this.list;
    this.rows.reset(this.#found.entries.length);
    this.list.scrollTop = scrollTop;
    this.rows.kept = kept;
    this.rows.draw();
    if (focused >= 0) this.#focus(focused);
  }

  /** @param {number} index */
  #row(index) {
    const entry = this.#found.entries[index];
    const node = becauseRow(entry, {current: entry.at === this.travel.moments.shown?.asked, go: () => this.travel.goMoment(entry.at)});
    const button = /** @type {HTMLElement} */ (node.firstElementChild);
    button.tabIndex = index === Math.max(0, this.rows.kept) ? 0 : -1;
    return node;
  }

  /** @param {number} index */
  #focus(index) {
    this.rows.kept = index;
    const button = /** @type {HTMLElement} */ (this.rows.reached(index).firstElementChild);
    for (const each of this.list.querySelectorAll('button')) each.tabIndex = each === button ? 0 : -1;
    button.focus({preventScroll: true});
  }

  /** @param {KeyboardEvent} event */
  #walk(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const index = this.rows.indexOf(document.activeElement);
    const next = index < 0 ? null : stepOf(event.key, index, this.rows.count - 1);
    if (next === null) return;
    event.preventDefault();
    this.#focus(next);
  }
}

/** What a person has typed, as a question; null: nothing. @param {string} typed */
export function questionOf(typed) {
  const text = typed.trim();
  const line = /^(.+):(\d+)$/s.exec(text);
  if (line) return {file: line[1], line: Number(line[2])};
  if (text.endsWith('()')) return {function: text.slice(0, -2)};
  return text ? {expression: text} : null;
}

/** @param {any} question */
const textOf = ({expression = '', file = '', line = 0, function: name = ''}) =>
  file ? `${file}:${line}` : name ? `${name}()` : expression;

/** How much there is, and how much of it is not shown. @param {Found} found @param {number} start */
function wordsOf({entries, total, isLeast, undecided, notes}, start) {
  const all = `${total.toLocaleString('en')}${isLeast ? ' or more' : ''}`;
  const range = `${(start + 1).toLocaleString('en')} to ${(start + entries.length).toLocaleString('en')} of ${all}`;
  return [
    entries.length === 0 ? 'none' : entries.length < total || isLeast ? range : all,
    undecided ? `${undecided.toLocaleString('en')} could not be judged` : '',
    ...notes,
  ].filter(Boolean).join(' · ');
}
