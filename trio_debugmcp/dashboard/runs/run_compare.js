// Two runs side by side: what differed, and where their ways part.

import {isAnswer} from '../connection/mcp.js';
import {el, setText} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {becauseRow} from './because_rows.js';
import {endOfRun} from './kept_runs.js';
import {answerLines} from './run_answers.js';

/**
 * @typedef {import('./run_answers.js').BecauseLine} BecauseLine
 * @typedef {{what: string, good: BecauseLine | null, bad: BecauseLine | null}} BothLines
 */

export class CompareView {
  name = 'Compare';
  #turn = 0;
  /** @type {any} */
  #found = null;

  /** @param {import('../store.js').Store} store @param {import('../past/travel.js').Travel} travel @param {(name: string, args: object) => Promise<any>} ask */
  constructor(store, travel, ask) {
    this.store = store;
    this.travel = travel;
    this.ask = ask;
    this.other = el('select', {ariaLabel: 'The run that is as it should be'});
    const asked = (event) => {
      event.preventDefault();
      this.#compare();
    };
    this.status = el('p', {className: 'asked-about note', role: 'status'});
    this.body = el('div', {className: 'sides'});
    this.node = el('div', {},
      el('form', {className: 'ask', onsubmit: asked}, el('label', {className: 'as-good'}, 'The good one is ', this.other),
        el('button', {type: 'submit', className: 'button'}, 'Compare')),
      this.status, this.body);
    this.settle = rove(this.body, '[data-row]');
    store.watch(['runs', 'run'], () => this.#choices());
    store.watch(['past'], () => this.#found && this.#draw());
  }

  opened() {
    this.#turn += 1;
    this.#found = null;
    this.body.replaceChildren();
    this.#choices();
  }

  shown() {}

  #choices() {
    const {runs, run} = this.store.state;
    const others = runs.filter(({id}) => id !== run?.id).reverse();
    const chosen = this.other.value;
    this.other.replaceChildren(...others.map((each) => el('option', {value: each.id}, `${each.id} ${each.what}, ${endOfRun(each)}`)));
    const works = others.find(({exitCode, signal}) => exitCode === 0 && !signal);
    this.other.value = others.some(({id}) => id === chosen) ? chosen : (works ?? others[0])?.id ?? '';
    this.node.firstElementChild?.toggleAttribute('hidden', others.length === 0);
    if (this.#found === null) {
      setText(this.status, others.length === 0 ? 'There is no other run. Record the test again, before or after a change or with another input.'
        : `Where ${run?.id} goes another way than the good one.`);
    }
  }

  async #compare() {
    const turn = ++this.#turn;
    const [good, bad] = [this.other.value, this.store.state.run.id];
    this.#found = {};
    this.body.replaceChildren();
    this.status.classList.remove('problem');
    setText(this.status, 'Comparing…');
    try {
      const found = await this.ask('run_compare', {good, bad});
      if (turn !== this.#turn) return;
      this.#found = found;
      this.#draw();
    } catch (error) {
      if (!isAnswer(error)) throw error;
      if (turn !== this.#turn) return;
      this.#found = null;
      this.status.classList.add('problem');
      setText(this.status, error.message);
    }
  }

  #draw() {
    const {comparison, goodRun, badRun} = this.#found;
    if (!comparison) return;
    const {same, good, bad, because, led_to_bad: ledTo, notes} = comparison;
    setText(this.status, [`${same.toLocaleString('en')} steps are the same`, ...notes].join(' · '));
    const focused = this.body.contains(document.activeElement) ? document.activeElement?.getAttribute('data-row') : null;
    /** @type {BothLines[]} */
    const both = [...answerLines(because), ...(good || bad ? [{what: 'what each did next', good, bad}] : [])];
    this.body.replaceChildren(
      el('div', {className: 'heads'}, el('h3', {}, `good: ${goodRun}`), el('h3', {}, `bad: ${badRun}`)),
      ...both.map((lines) => el('div', {role: 'group', className: 'pair', ariaLabel: lines.what},
        el('p', {className: 'note'}, lines.what),
        this.#side(lines.good, goodRun, `good: ${goodRun}`), this.#side(lines.bad, badRun, `bad: ${badRun}`))),
      ...(ledTo.length ? [el('h3', {className: 'led'}, `What led to it in ${badRun}`),
        el('ol', {className: 'path', ariaLabel: `What led to it in ${badRun}`}, ...answerLines(ledTo).map((line) => this.#row(line, badRun)))] : []),
    );
    this.settle();
    if (focused) /** @type {HTMLElement | null} */ (this.body.querySelector(`[data-row="${focused}"]`))?.focus();
  }

  /** Of a narrow page each side has its own head. @param {BecauseLine | null} line @param {string} run @param {string} side */
  #side(line, run, side) {
    return line ? el('ol', {className: 'path side', ariaLabel: side, dataset: {side}}, this.#row(line, run))
      : el('p', {className: 'side nothing', dataset: {side}}, 'It ended there.');
  }

  /** @param {BecauseLine} line @param {string} run */
  #row(line, run) {
    const shown = this.travel.moments.shown;
    const pids = this.store.state.runFacts[run]?.pids ?? [];
    const process = pids.length > 1 ? pids[0] : null; // those that were launched are compared
    const go = () => this.travel.goMoment(line.at, {id: run, process});
    const node = becauseRow(line, {current: shown?.run === run && shown.asked === line.at, go});
    /** @type {HTMLElement} */ (node.firstElementChild).dataset.row = `${run} ${line.at}`;
    return node;
  }
}
