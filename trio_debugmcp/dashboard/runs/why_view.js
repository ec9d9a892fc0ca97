// Why: a question to the run that is open, and its answer as a path through the source, in the order of time.

import {isAnswer} from '../connection/mcp.js';
import {el, setText} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {becauseRow, bringIntoSight} from './because_rows.js';
import {answerLines, numberOf} from './run_answers.js';

/**
 * @typedef {import('./run_answers.js').BecauseLine} BecauseLine
 * @typedef {{value: string, because: BecauseLine[], gaps: string[], omitted: number, repeated: number, process: number | null,
 *   notes: string[]}} Why
 */

export class WhyView {
  name = 'Why';
  #turn = 0;
  /** The lines that are shown, by their numbers. @type {Map<string, BecauseLine>} */
  #path = new Map();
  /** @type {Why | null} */
  #answer = null;
  #problem = '';
  /** The number of the line that was brought into sight last: from there the person may have scrolled. */
  #seen = '';

  /**
   * @param {import('../store.js').Store} store
   * @param {import('../past/travel.js').Travel} travel
   * @param {(name: string, args: object) => Promise<any>} call  Asks about the run that is open.
   */
  constructor(store, travel, call) {
    this.store = store;
    this.travel = travel;
    this.call = call;
    this.input = el('input', {
      className: 'typed', spellcheck: false, autocomplete: 'off', placeholder: 'A variable or expression; nothing: why it failed',
      ariaLabel: 'What to ask about: a variable or an expression; empty: why it failed',
    });
    const asked = (event) => {
      event.preventDefault();
      const expression = this.input.value.trim();
      if (expression) this.#askFor(expression);
      else this.ask({});
    };
    this.status = el('p', {className: 'asked-about', role: 'status'});
    this.list = el('ol', {className: 'path', ariaLabel: 'What led to it, in the order of time'});
    this.rest = el('div', {className: 'left-out'});
    this.form = el('form', {className: 'ask', onsubmit: asked}, this.input, el('button', {type: 'submit', className: 'button'}, 'Why?'));
    this.node = el('div', {},
      this.form, this.status, this.list, this.rest);
    this.settle = rove(this.list, '[data-row]');
    store.watch(['past'], () => this.#draw());
  }

  /** Another run is open: ask why it failed, and show where; if it did not, its last line. */
  opened() {
    this.input.value = '';
    const turn = this.#turn + 1;
    return this.travel.goFound(async () => {
      await this.ask({});
      return turn === this.#turn ? this.#answer?.because.at(-1)?.at ?? null : undefined;
    });
  }

  shown() {}

  /** Ask about an expression: at the moment that is shown, or if it has no value there, at the end. @param {string} expression */
  async #askFor(expression) {
    const moment = this.travel.moments.shown;
    const at = moment?.run === this.store.state.run.id ? moment?.at : undefined;
    if (!at) return this.ask({expression});
    const turn = this.#turn + 1;
    await this.ask({expression, at, repeat: true});
    if (turn !== this.#turn || this.#problem === '') return;
    await this.ask({expression});
    if (turn + 1 === this.#turn) setText(this.status, `Not known at ${at}. ${this.#problem || `At the end: ${this.#answer?.value}`}`);
  }

  /** Ask; `deeper`: the answer's lines are put among those that are shown. @param {object} question @param {{deeper?: boolean}} [how] */
  async ask(question, {deeper = false} = {}) {
    const turn = ++this.#turn;
    this.node.ariaBusy = 'true';
    setText(this.status, 'Asking…');
    /** @type {Why | null} */
    let answer = null;
    let problem = '';
    try {
      answer = await this.call('why', question);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      problem = error.message;
    }
    if (turn !== this.#turn) return;
    this.node.ariaBusy = 'false';
    const {run} = this.store.state;
    if (answer?.process && run) this.store.update({run: {...run, process: answer.process}}); // of several the one that failed
    if (!deeper) this.#path = new Map();
    this.#answer = answer;
    this.#problem = problem;
    for (const line of answerLines(answer?.because ?? [])) this.#path.set(line.at, line);
    this.store.update({path: [...this.#path.values()]});
    this.#draw();
  }

  #draw() {
    if (this.node.ariaBusy === 'true') return;
    setText(this.status, this.#problem || (this.#answer?.value ?? ''));
    this.status.classList.toggle('problem', this.#problem !== '');
    const latest = new Set(this.#answer?.because.map(({at}) => at));
    const lines = [...this.#path.values()].sort((one, other) => numberOf(one) - numberOf(other));
    const shown = this.travel.moments.shown?.asked;
    const focused = this.list.contains(document.activeElement) ? document.activeElement?.closest('.because')?.querySelector('[data-row]')?.getAttribute('data-row') : null;
    this.list.replaceChildren(...lines.map((line) => becauseRow(line, {
      current: line.at === shown,
      quiet: !latest.has(line.at),
      go: () => this.travel.goMoment(line.at),
      links: line.at === shown ? this.#links(line) : [],
    })));
    this.settle();
    const current = this.list.querySelector('[data-current="true"]');
    // Once the bar of the past is there, which leaves less room for the list.
    if (current && shown !== this.#seen) requestAnimationFrame(() => current.isConnected && bringIntoSight(this.node, current, this.form));
    this.#seen = shown ?? '';
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-row="${focused}"]`))?.focus();
    this.rest.replaceChildren(...leftOut(this.#answer).map((words) => el('p', {className: 'note'}, words)));
  }

  /** What can be asked of the line that is shown. @param {BecauseLine} line */
  #links({at}) {
    const link = (text, title, question) =>
      el('button', {type: 'button', className: 'small', title, onclick: () => this.ask(question, {deeper: true})}, text);
    return [
      link('Why this', `What led to what ${at} did`, {at}),
      link('Why did it run', `Why ${at} ran: what decided it`, {at, what: 'run'}),
    ];
  }
}

/** What an answer leaves out, and what it does not know. @param {Why | null} answer */
function leftOut(answer) {
  if (!answer) return [];
  const {gaps, omitted, notes} = answer;
  return [
    ...gaps.map((gap) => `Gap: ${gap}`),
    ...(omitted ? [`${omitted.toLocaleString('en')} more lines led to it; ask one of these why, and it leads further.`] : []),
    ...notes.filter((note) => !note.startsWith('of process')), // the panel's header has it
  ];
}
