// The chip that says that the page does not follow the program, what it shows instead, and the way back.

import {stopsSince} from './follow.js';
import {byId, el, setText} from '../view/dom.js';
import {namesOf, processesOf} from './processes.js';
import {clock, place, plural} from '../view/words.js';

/** A scroll this soon after the page heard of a person's wheel, finger or key is that person's: it may hear of it late. */
const PERSONS_SCROLL_MILLISECONDS = 400;

/**
 * @param {import('../store.js').Store} store
 * @param {import('./follow.js').Follow} follow
 * @param {import('./processes.js').Chooser} chooser
 */
export function createFollow(store, follow, chooser) {
  const back = () => {
    chooser.choose(null);
    follow.back();
  };
  const view = byId('follow');
  const words = el('span', {className: 'words'});
  const button = el(
    'button',
    {type: 'button', className: 'chip', title: 'Show where the program is', 'aria-keyshortcuts': 'Escape', onclick: back},
    words, el('kbd', {}, 'Esc'), el('span', {className: 'unseen'}, ' goes back to the program'),
  );
  const elsewhere = el('span', {className: 'elsewhere'});
  view.replaceChildren(button, elsewhere);

  store.watch(['follow', 'events', 'active', 'frames', 'place', 'stack', 'chosen', 'sessions'], (state) => {
    view.hidden = (state.follow.on && state.chosen === null) || !state.active;
    if (view.hidden) return;
    const stops = state.follow.on ? 0 : stopsSince(state);
    const off = stops > 0 ? `Not following · ${plural(stops, 'stop')} since` : 'Not following';
    setText(words, state.follow.on ? `Only ${chosenName(state)}` : off);
    setText(elsewhere, state.follow.on ? inFocus(state) : whatIsShown(state));
  });

  const source = byId('source');
  let touched = -Infinity;
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    source.addEventListener(type, () => (touched = performance.now()), {passive: true});
  }
  source.addEventListener('scroll', () => {
    if (performance.now() - touched < PERSONS_SCROLL_MILLISECONDS) follow.leave();
  }, {passive: true});
}

/** @param {any} state */
const chosenName = (state) => namesOf(processesOf(state)).get(state.chosen) ?? state.chosen;

/** Say which process the debugger is about, if it is not the one that is shown. @param {any} state */
function inFocus(state) {
  const focus = state.sessions?.focus;
  const found = processesOf(state).find(({sessionId}) => sessionId === focus);
  if (!found || focus === state.chosen) return '';
  const where = found.currentLocation ? ` at ${place(found.currentLocation)}` : '';
  return `In focus is ${namesOf(processesOf(state)).get(focus)}, ${found.state.toLowerCase()}${where}`;
}

/** Say what is shown instead of the place where the program is. */
function whatIsShown({follow, frames, place: shown, stack}) {
  const frame = frames.list[frames.index];
  const inFrame = frame && frame.location.file === shown?.file && frame.location.line === shown?.line;
  const where = inFrame ? `${frame.name}, ${place(shown)}` : shown ? place(shown) : '';
  const when = follow.behind && stack?.capturedAt ? `as it was at ${clock(stack.capturedAt)}` : '';
  return [where && `Shown is ${where}`, when].filter(Boolean).join(', ');
}
