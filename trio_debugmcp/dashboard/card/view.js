// Draws a stop. All that comes from the program becomes text nodes.

import {byId, el, setText} from '../view/dom.js';
import {highlighted} from '../source/highlight.js';
import {icon} from '../view/icons.js';
import {plural} from '../view/words.js';
import {factsOf, headline, linesOf, placeOf} from './stop.js';

export const ACTIONS = [
  {action: 'continue', name: 'Continue', picture: 'continue', when: 'Paused'},
  {action: 'over', name: 'Step over', picture: 'over', when: 'Paused'},
  {action: 'in', name: 'Step in', picture: 'in', when: 'Paused'},
  {action: 'out', name: 'Step out', picture: 'out', when: 'Paused'},
  {action: 'pause', name: 'Pause', picture: 'pause', when: 'Running'},
];

const STREAMS = {stdout: 'Output', stderr: 'Errors', log: 'Tracepoints', console: 'Debugger'};

/**
 * Draw a stop; `changed` has the values before of the locals that have changed, null for new ones.
 *
 * @param {any} stop
 * @param {Record<string, string | null>} changed
 */
export function drawStop(stop, changed) {
  const card = byId('card');
  card.dataset.state = stop.exception && stop.state === 'Paused' ? 'exception' : String(stop.state).toLowerCase();
  card.ariaBusy = 'false';
  setText(byId('state'), headline(stop));
  setText(byId('where'), stop.at ?? '');
  fill('exception', stop.exception ? [stop.exception] : []);
  drawSource(stop);
  const omitted = stop.omitted ?? {};
  const values = Object.entries(stop.locals ?? {});
  drawSection('locals', 'Locals', values.map(([name, value]) => variable(name, value, changed)), omitted.locals);
  const frames = stop.stack?.length ? [stop.at ? frameName(stop.at) : '?', ...stop.stack] : [];
  drawSection('stack', 'Call stack', frames.map((each) => el('li', {}, each)), omitted.frames, 'ol');
  drawOutput(stop, omitted);
  fill('facts', factsOf(stop).flatMap(([name, lines]) => [el('dt', {}, name), ...lines.map((each) => el('dd', {}, each))]));
  fill('notes', (stop.notes ?? []).map((each) => el('li', {}, each)));
}

/** Draw that there is no stop: the tool still runs, has failed, or was cancelled. */
export function drawWords(words, state = 'waiting') {
  drawStop({state: ''}, {});
  byId('card').dataset.state = state;
  byId('card').ariaBusy = String(state === 'waiting');
  setText(byId('state'), words);
}

function drawSource({source, at}) {
  const lines = source ? linesOf(source) : [];
  const tokens = highlighted(lines.map(({text}) => text).join('\n'), placeOf(at).file);
  fill(
    'excerpt',
    lines.map(({number, current}, index) =>
      el(
        'li',
        {className: current ? 'current' : '', ariaCurrent: current ? 'step' : null},
        el('span', {className: 'number'}, number),
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

function frameName(at) {
  const {file, line, name} = placeOf(at);
  return `${name} ${file}${line ? `:${line}` : ''}`.trim();
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

function drawOutput(stop, omitted) {
  const pieces = Object.entries(STREAMS).filter(([key]) => stop[key]);
  fill(
    'output',
    pieces.flatMap(([key, title]) => [
      el('h2', {}, title),
      el('pre', {className: `${key} scrolls`, ariaLabel: title, role: 'region'}, stop[key]),
      omitted[`${key}Characters`]
        ? el('p', {className: 'more'}, `${plural(omitted[`${key}Characters`], 'earlier character')} left out`)
        : null,
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
 * @param {{control: boolean, state: string, busy: string | null, gone: boolean}} now
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
