// Puts the card together: what the tool answered, the buttons, and whether the program has moved on since.

import {dress, fitter} from './appearance.js';
import {Freshness} from './freshness.js';
import {Host} from './host.js';
import {changedSince, movedOn, headline, looksTheSame, readResult, whereOf} from './stop.js';
import {ACTIONS, createControls, drawControls, drawGone, drawProblem, drawStop, drawWords} from './view.js';

const host = new Host(window.parent);
const freshness = new Freshness(look);
let fit = () => {};

/**
 * `gone`: where the program is said to be now, once it has left the stop that is shown; `newest`: what is there.
 *
 * @type {{stop?: any, moment?: string, control: boolean, busy: string | null, gone: string, newest?: any, acted: boolean}}
 */
const card = {control: true, busy: null, gone: '', acted: false};

/**
 * Draw what a tool has answered.
 *
 * @param {any} result
 */
function show(result) {
  const {stop, failure, moment, changed, control} = readResult(result);
  if (stop === undefined) {
    if (card.stop === undefined) {
      drawWords('The tool failed', 'failed');
      card.control = false;
    }
    drawProblem(failure);
    return draw();
  }
  drawStop(stop, changed ?? changedSince(card.stop, stop));
  // A program that runs has no moment: the output since its last stop is still of interest.
  const latest = moment ?? card.moment;
  Object.assign(card, {stop, moment: latest, gone: '', control: control && host.callsTools});
  drawProblem();
  drawGone();
  if (stop.state === 'Disconnected' || !host.callsTools) freshness.stop();
  else freshness.start();
  draw();
}

/** Ask where the program is, and return whether to ask again. */
async function look() {
  if (card.busy !== null || card.stop === undefined) return true;
  const {stop, moment} = card;
  try {
    // Without its number it is compared in words, which is what the card has.
    const wanted = moment ? {stop: moment, full: true} : {};
    const answer = await host.request('tools/call', {name: 'card_state', arguments: wanted});
    if (card.stop !== stop || card.busy !== null) return true; // drawn anew meanwhile
    if (answer.isError) return false;
    return compare(answer.structuredContent ?? JSON.parse(answer.content[0].text));
  } catch {
    return false; // a host that refuses once is not asked again
  }
}

/**
 * Say where the program is, if not at the stop that is shown, and return whether that can change again.
 *
 * @param {{current?: boolean, now?: any, moment?: string | null}} answer
 */
function compare({current = false, now, moment = now?.moment}) {
  if (current || !now) return true;
  const {stop} = card;
  if (now.state === stop.state && (stop.state !== 'Paused' || (!card.moment && looksTheSame(now, stop)))) {
    card.moment ??= moment ?? undefined;
    return true;
  }
  card.newest = {stop: now, moment, control: card.control};
  const isNews = card.gone !== movedOn(now);
  card.gone = movedOn(now);
  if (card.acted && stop.state === 'Running') showNewest(); // the person let it run, and waits for the next stop
  else if (isNews) {
    drawGone(card.gone, showNewest);
    draw();
  }
  return now.state !== 'Disconnected';
}

/** Draw where the program is now, in place of the stop that it has left. */
function showNewest() {
  show({_meta: {'trio-debugmcp/stop': card.newest}});
}

/** @param {string} action */
async function press(action) {
  const before = card.busy;
  Object.assign(card, {busy: action, acted: true});
  drawProblem();
  draw();
  try {
    const stopOf = card.moment ? {stop: card.moment} : {};
    const result = await host.request('tools/call', {name: 'card_run', arguments: {action, ...stopOf, full: true}});
    show(result);
    if (!result.isError) tell(action);
    else freshness.start();
  } catch (error) {
    drawProblem(error.message);
  }
  if (card.busy === action) card.busy = null;
  if (before !== null) card.busy = null; // the stop that a pause has made answers what ran, too
  draw();
}

/** Let the model know, with the next message of the person, what was done here. */
function tell(action) {
  if (host.capabilities.updateModelContext === undefined) return;
  const {name} = ACTIONS.find((each) => each.action === action) ?? {};
  const {stop} = card;
  const text = `On the card, the person pressed ${name}. ${headline(stop)}${whereOf(stop) ? `: ${whereOf(stop)}` : ''}.`;
  host.request('ui/update-model-context', {content: [{type: 'text', text}]}).catch(() => undefined);
}

function draw() {
  drawControls({...card, state: card.stop?.state ?? 'Running'});
  fit();
}

host.on('ui/notifications/tool-result', show);
host.on('ui/notifications/tool-input', () => {
  if (card.stop === undefined) drawWords('Waiting for the program …');
  draw();
});
host.on('ui/notifications/tool-cancelled', ({reason}) => {
  if (card.stop === undefined) drawWords('The call was cancelled', 'failed');
  drawProblem(reason);
  card.control = false;
  draw();
});
host.on('ui/notifications/host-context-changed', (looks) => {
  dress(looks);
  fit();
});

createControls(press);
drawWords('Waiting for the program …');
host.connect().then((context) => {
  dress(context);
  card.control &&= host.callsTools;
  draw();
  fit = fitter((size) => host.notify('ui/notifications/size-changed', size));
});
