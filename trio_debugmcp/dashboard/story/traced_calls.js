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
  const button = el('button', {type: 'button', className: 'small', ariaPressed: 'false', title: 'Draw the calls, their lines and what these called', onclick: toggle}, 'Flame');
  const tools = el('div', {className: 'flame-tools'}, button);
  const node = el('div', {className: 'traced'}, tools, tree);
  /** @type {SpanPicture | null} */
  let picture = null;

  function toggle() {
    const isFlame = !tree.hidden;
    picture ??= drawn();
    tree.hidden = isFlame;
    picture.node.hidden = picture.tools.hidden = !isFlame;
    button.ariaPressed = String(isFlame);
  }

  /** The picture, once it is asked for. */
  function drawn() {
    const made = new SpanPicture({label: `Calls of ${name} as a flame`, empty: 'No call was traced.', onChoose: ({span}) => span && made.zoomTo(span)});
    made.show(tracedFlameOf(name, calls));
    tools.append(made.tools);
    tree.before(made.node);
    return made;
  }

  return node;
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
