// The calls of the run that is open as a flame.

import {el, setText} from '../view/dom.js';
import {SpanPicture} from '../pictures/span_picture.js';
import {flameOf} from './flame.js';
import {callsOf, numberOf} from './run_answers.js';

/** Levels that are asked for, one after another, until no call among them is left out. */
const LEVELS = [12, 6, 3, 2, 1];

export class FlameView {
  name = 'Flame';
  #turn = 0;
  #asked = false;
  /** The call whose inside is shown; empty: the whole run. */
  #under = '';
  #chosen = '';

  /**
   * @param {import('../store.js').Store} store
   * @param {import('../past/travel.js').Travel} travel
   * @param {(name: string, args: object) => Promise<any>} ask  Asks about the run that is open.
   */
  constructor(store, travel, ask) {
    this.travel = travel;
    this.ask = ask;
    this.status = el('p', {className: 'asked-about note', role: 'status'});
    const tool = (words, title, onclick) => el('button', {type: 'button', className: 'small', title, onclick}, words);
    this.into = tool('Only this call', 'Show what the call that is shown has called', () => this.#show(this.#chosen));
    this.whole = tool('Whole run', 'Show the calls of the whole run', () => this.#show(''));
    this.picture = new SpanPicture({label: 'Calls as a flame', empty: 'No call to show.', onChoose: ({span}) => this.#choose(span)});
    const tools = el('div', {className: 'flame-tools'}, this.into, this.whole, this.picture.tools);
    this.node = el('div', {className: 'run-flame'}, tools, this.status, this.picture.node);
    store.watch(['past'], () => this.#point());
  }

  /** Another run is open: it is asked once this is looked at. */
  opened() {
    this.#turn += 1;
    this.#asked = false;
    this.#under = this.#chosen = '';
    this.#draw([]);
  }

  shown() {
    if (!this.#asked) this.#show('');
  }

  /** @param {string} under */
  async #show(under) {
    const turn = ++this.#turn;
    this.#asked = true;
    setText(this.status, 'Asking…');
    const question = under ? {under} : {};
    let found = await callsOf(this.ask, {...question, depth: LEVELS[0]});
    for (const depth of LEVELS.slice(1)) {
      if (!found.omitted || turn !== this.#turn) break;
      found = await callsOf(this.ask, {...question, depth});
    }
    if (turn !== this.#turn) return;
    this.#under = under;
    this.#chosen = '';
    this.status.classList.toggle('problem', Boolean(found.problem));
    setText(this.status, found.problem || wordsOf(found, under));
    this.#draw(found.lines);
  }

  /** @param {any[]} lines */
  #draw(lines) {
    this.into.disabled = this.#chosen === '';
    this.whole.hidden = this.#under === '';
    this.picture.show(flameOf(lines));
    this.picture.fit();
    this.#point();
  }

  /** @param {import('../pictures/drawing.js').Span | null} span */
  #choose(span) {
    if (!span) return;
    this.#chosen = span.moment;
    this.into.disabled = false;
    this.travel.goMoment(span.moment);
  }

  /** The moment that the page shows. */
  #point() {
    const at = this.travel.moments.shown?.asked;
    this.picture.point(at ? numberOf({at}) : null);
  }
}

/** @param {{lines: any[], total: number, omitted: number, notes: string[]}} found @param {string} under */
const wordsOf = ({lines, total, omitted, notes}, under) => [
  `${counted(total, 'call')} on ${counted(1 + Math.max(0, ...lines.map(({depth}) => depth)), 'level')}`
    + `${under ? ` inside of ${under}` : ''}, each as wide as the moments that it lasted`,
  omitted ? `${omitted.toLocaleString('en')} of them are not drawn` : '',
  ...notes,
].filter(Boolean).join(' · ');

/** @param {number} number @param {string} name */
const counted = (number, name) => `${number.toLocaleString('en')} ${name}${number === 1 ? '' : 's'}`;
