// The calls that were traced for an agent: as a tree of a call, its lines as they ran, and behind each what it called and
// changed; and as a flame.

import {SpanPicture} from '../pictures/span_picture.js';
import {el} from '../view/dom.js';
import {callFacts} from './traced_facts.js';
import {tracedFlameOf} from './traced_flame.js';

/** @typedef {import('./traced_facts.js').CallFacts} CallFacts */

/** @param {string} traced  The function, and its place. @param {any[]} found */
export function tracedCalls(traced, found) {
  const [name] = traced.split(' ');
  const calls = found.map(callFacts);
  const tree = el('ol', {ariaLabel: `Calls of ${name}`}, ...calls.map((call) => callNode(name, call)));
  const picture = new SpanPicture({
    label: `Calls of ${name} as a flame`, empty: 'No call was traced.', onChoose: ({span}) => span && picture.zoomTo(span),
  });
  const button = el('button', {type: 'button', className: 'small', ariaPressed: 'false', title: 'Draw the calls, their lines and what these called', onclick: toggle}, 'Flame');
  let isDrawn = false;
  picture.node.hidden = picture.tools.hidden = true;

  function toggle() {
    const isFlame = !tree.hidden;
    tree.hidden = isFlame;
    picture.node.hidden = picture.tools.hidden = !isFlame;
    button.ariaPressed = String(isFlame);
    if (!isDrawn) picture.show(tracedFlameOf(name, calls));
    isDrawn = true;
  }

  return el('div', {className: 'traced'}, el('div', {className: 'flame-tools'}, button, picture.tools), picture.node, tree);
}

/** @param {string} name @param {CallFacts} call */
function callNode(name, {given, end, raised, caller, ran, lines}) {
  const about = [caller ? `called at ${caller}` : '', ran ? `${ran.toLocaleString('en')} lines ran` : ''].filter(Boolean).join(' · ');
  return el(
    'li', {},
    el('span', {className: 'name'}, `${name}(${given}) `), el('span', {className: raised ? 'end problem' : 'end'}, end),
    about ? el('span', {className: 'note'}, about) : null,
    el('ol', {}, ...lines.map(lineNode)),
  );
}

/** @param {import('./traced_facts.js').LineFacts} line */
const lineNode = ({number, source, did}) =>
  el('li', {}, el('span', {className: 'number'}, number), el('code', {}, source), did ? el('span', {className: 'did'}, did) : null);
