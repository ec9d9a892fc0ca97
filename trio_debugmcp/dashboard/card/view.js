// Draws a stop. All that comes from the program becomes text nodes.

import {byId, el, setText} from '../view/dom.js';
import {highlighted} from '../source/highlight.js';
import {icon} from '../view/icons.js';
import {plural} from '../view/words.js';
import {headline, shownOf} from './stop.js';

export const ACTIONS = [
  {action: 'continue', name: 'Continue', picture: 'continue', when: 'Paused'},
  {action: 'over', name: 'Step over', picture: 'over', when: 'Paused'},
  {action: 'in', name: 'Step in', picture: 'in', when: 'Paused'},
  {action: 'out', name: 'Step out', picture: 'out', when: 'Paused'},
  {action: 'pause', name: 'Pause', picture: 'pause', when: 'Running'},
];

const STREAMS = {stdout: 'Output', stderr: 'Errors', tracepoint: 'Tracepoints', console: 'Debugger'};

/**
 * Draw a stop; `changed` has the values before of the locals that have changed, null for new ones.
 *
 * @param {any} stop
 * @param {Record<string, string | null>} changed
 */
export function drawStop(stop, changed) {
  const card = byId('card');
  const shown = shownOf(stop);
  card.dataset.state = stop.exception && stop.state === 'Paused' ? 'exception' : String(stop.state).toLowerCase();
  card.ariaBusy = 'false';
  setText(byId('state'), headline(stop));
  setText(byId('where'), shown.at);
  fill('exception', shown.exception ? [shown.exception] : []);
  drawSource(shown);
  drawSection('locals', 'Locals', shown.locals.map(([name, value]) => variable(name, value, changed)), shown.more.locals);
  const frames = shown.frames.length > 1 ? shown.frames : []; // of one alone, the place says it all
  drawSection('stack', 'Call stack', frames.map((each) => el('li', {}, each)), shown.more.frames, 'ol');
  drawOutput(shown);
  fill('facts', shown.facts.flatMap(([name, lines]) => [el('dt', {}, name), ...lines.map((each) => el('dd', {}, each))]));
  fill('notes', (stop.notes ?? []).map((each) => el('li', {}, each)));
}

/** Draw that there is no stop: the tool still runs, has failed, or was cancelled. */
export function drawWords(words, state = 'waiting') {
  drawStop({state: ''}, {});
  byId('card').dataset.state = state;
  byId('card').ariaBusy = String(state === 'waiting');
  setText(byId('state'), words);
}

function drawSource({source, file}) {
  const margin = Math.min(...source.map(({text}) => (text.trim() ? text.length - text.trimStart().length : Infinity)));
  const tokens = highlighted(source.map(({text}) => text.slice(Number.isFinite(margin) ? margin : 0)).join('\n'), file);
  fill(
    'excerpt',
    source.map(({line, current}, index) =>
      el(
        'li',
        {className: current ? 'current' : '', ariaCurrent: current ? 'step' : null},
        el('span', {className: 'number'}, String(line)),
        el('code', {}, ...tokens[index].map(({kind, text}) => (kind ? el('span', {className: `t-${kind}`}, text) : text))),
      ),
    ),
  );
}

function variable(name, value, changed) {
  const has = Object.hasOwn(changed, name);
  const before = has ? changed[name] : null;
  return el(
    'li',
    {className: has ? 'changed' : ''},
    el('span', {className: 'name'}, name),
    ' = ',
    el('span', {className: 'value'}, value),
    has && before === null ? el('span', {className: 'badge'}, 'new') : null,
    before === null ? null : el('span', {className: 'before'}, el('span', {className: 'unseen'}, ' before: '), before),
  );
}

/**
 * @param {string} id
 * @param {string} title
 * @param {HTMLElement[]} rows
 * @param {number} [more]
 * @param {'ul' | 'ol'} [list]
 */
function drawSection(id, title, rows, more, list = 'ul') {
  const heading = el('h2', {id: `${id}-title`}, title);
  const body = el(list, {className: 'scrolls', ariaLabel: title}, ...rows);
  fill(id, rows.length ? [heading, body, more ? el('p', {className: 'more'}, `and ${more} more`) : null] : []);
}

/** @param {import('./stop.js').Shown} shown */
function drawOutput({output}) {
  fill(
    'output',
    output.flatMap(({stream, text, dropped}) => [
      el('h2', {}, STREAMS[stream] ?? stream),
      el('pre', {className: `${stream} scrolls`, ariaLabel: STREAMS[stream] ?? stream, role: 'region'}, text),
      dropped ? el('p', {className: 'more'}, `${plural(dropped, 'earlier character')} left out`) : null,
    ]),
  );
  for (const each of byId('output').querySelectorAll('pre')) each.scrollTop = each.scrollHeight;
}

/** Put children into a part of the card, which is hidden without any. */
function fill(id, children) {
  const part = byId(id);
  part.replaceChildren(...children.filter((/** @type {any} */ each) => each !== null));
  part.hidden = children.length === 0;
}

/**
 * Create the buttons; `press(action)` is called for those that are possible.
 *
 * @param {(action: string) => void} press
 */
export function createControls(press) {
  const toolbar = byId('controls');
  for (const {action, name, picture} of ACTIONS) {
    const pressed = (/** @type {MouseEvent} */ event) => {
      const button = /** @type {HTMLElement} */ (event.currentTarget);
      if (button.ariaDisabled !== 'true') press(action);
    };
    toolbar.append(
      el('button', {type: 'button', dataset: {action}, onclick: pressed}, icon(picture), el('span', {}, name)),
    );
  }
  toolbar.append(el('span', {id: 'busy', role: 'status'}));
}

/**
 * Show which buttons can be pressed; there are none without control, and without a program.
 *
 * @param {{control: boolean, state: string, busy: string | null, gone: string}} now
 */
export function drawControls({control, state, busy, gone}) {
  const toolbar = byId('controls');
  toolbar.hidden = !control || (state === 'Disconnected' && busy === null);
  for (const {action, when} of ACTIONS) {
    const button = /** @type {HTMLElement} */ (toolbar.querySelector(`[data-action="${action}"]`));
    const possible = !gone && (busy === null ? when === state : busy !== 'pause' && action === 'pause');
    // Not `disabled`: that would take the keyboard focus away in the middle of stepping.
    button.ariaDisabled = String(!possible);
    button.dataset.busy = String(busy === action);
  }
  const {name} = ACTIONS.find(({action}) => action === busy) ?? {};
  setText(byId('busy'), name ? `${name} …` : '');
}

/** Show why something was not done; nothing takes it away. */
export function drawProblem(words = '') {
  const problem = byId('problem');
  setText(problem, words);
  problem.hidden = !words;
}

/**
 * Say that the program has moved on since, with a button that shows where it is; without words the card is up to date.
 *
 * @param {string} [words]
 * @param {() => void} [show]
 */
export function drawGone(words, show) {
  byId('card').dataset.gone = String(Boolean(words));
  const button = show ? el('button', {type: 'button', onclick: show}, 'Show it here') : null;
  byId('gone').replaceChildren(...(words ? [el('p', {}, words), ...(button ? [button] : [])] : []));
}
