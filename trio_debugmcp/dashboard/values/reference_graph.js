// What refers to an object, and what it refers to, as a graph in a dialog: holders at the left, parts at the right. The nodes are
// two lists around the object, and arrows are drawn between them; Enter on a node makes it the middle.

import {openDialog} from '../view/dialog.js';
import {el, setText, svg} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {oneLine, plural} from '../view/words.js';
import {graphOf} from './reference_facts.js';

/** @typedef {import('./reference_facts.js').ReferenceNode} ReferenceNode @typedef {import('./reference_facts.js').ReferenceGraph} ReferenceGraph */

/** @typedef {{expression: string, where: object}} Asked */

const MOST_ASKED = 100;

/** Nodes of a side that are drawn before a person asks for more. */
const FEW = 10;

/**
 * Ask about an object, and show its graph.
 *
 * @param {(name: string, args: object) => Promise<any>} call
 * @param {Asked} first
 */
export function showReferences(call, first) {
  /** What has been in the middle, the one that is last. @type {Asked[]} */
  let trail = [];
  let turn = 0;
  const view = el('div', {className: 'references'});
  const status = el('p', {className: 'hint', role: 'status'});
  const back = el('button', {type: 'button', className: 'button', hidden: true, onclick: () => ask(trail.slice(0, -1))}, 'Back');
  openDialog({title: `References of ${first.expression}`, className: 'wide'}, view, el('div', {className: 'under'}, status, back));
  const settle = rove(view, '.node');
  const watch = new ResizeObserver(() => (view.isConnected ? drawArrows(view) : watch.disconnect()));
  ask([first]);

  /** Show the last of these. @param {Asked[]} wanted */
  async function ask(wanted) {
    const mine = ++turn;
    const {expression, where} = /** @type {Asked} */ (wanted.at(-1));
    setText(status, `Asking about ${expression}…`);
    try {
      const answer = await call('references_get', {expression, ...where, count: MOST_ASKED});
      if (mine !== turn) return;
      trail = wanted;
      draw(graphOf(expression, where, answer));
    } catch (error) {
      if (mine === turn) setText(status, `${expression}: ${error.message}`);
    }
  }

  /** @param {ReferenceGraph} graph */
  function draw(graph) {
    const {expression} = /** @type {Asked} */ (trail.at(-1));
    const middle = nodeButton({way: '', name: expression, value: graph.value, where: graph.type, next: null}, () => undefined);
    middle.classList.add('middle');
    const go = (/** @type {Asked} */ next) => ask([...trail, next]);
    const sides = [side('What refers to it', graph.inbound, go), side('What it refers to', graph.outbound, go)];
    view.replaceChildren(svg('svg', {class: 'arrows', 'aria-hidden': 'true'}), sides[0], middle, sides[1]);
    for (const each of [view, ...sides]) watch.observe(each);
    back.hidden = trail.length < 2;
    setText(status, wordsOf(graph));
    settle();
    middle.focus();
  }

  /** @param {string} title @param {ReferenceNode[]} nodes @param {(next: Asked) => void} go */
  function side(title, nodes, go) {
    const list = el('ol', {ariaLabel: title});
    const show = (/** @type {ReferenceNode[]} */ shown) => {
      list.append(...shown.map((each) => el('li', {}, nodeButton(each, () => each.next && go(each.next)))));
      settle();
    };
    show(nodes.slice(0, FEW));
    const rest = nodes.slice(FEW);
    const more = el('button', {type: 'button', className: 'small', onclick: () => {
      show(rest);
      more.remove();
      /** @type {HTMLElement} */ (list.children[FEW].firstElementChild).focus();
    }}, `${rest.length} more`);
    return el('div', {className: 'side'}, el('h3', {}, title), nodes.length ? list : el('p', {className: 'hint'}, 'Nothing that was found.'), rest.length ? more : null);
  }
}

/** @param {ReferenceNode} node @param {() => void} go */
function nodeButton({way, name, value, where, next}, go) {
  return el(
    'button',
    {type: 'button', className: 'node', tabIndex: -1, ariaDisabled: next ? null : 'true', onclick: go, title: [way, name, value, where].filter(Boolean).join('\n')},
    el('span', {className: 'name'}, [way, name].filter(Boolean).join(' of ')),
    value ? el('span', {className: 'value'}, oneLine(value)) : null,
    where ? el('span', {className: 'detail'}, where) : null,
  );
}

/** @param {ReferenceGraph} graph */
function wordsOf({inbound, inboundTotal, instances, outbound, outboundTotal, notes}) {
  const of = (/** @type {any[]} */ shown, /** @type {number} */ total) => (shown.length < total ? `${shown.length} of ${total.toLocaleString('en')}` : String(total));
  return [
    `${of(inbound, inboundTotal)} to it, ${of(outbound, outboundTotal)} from it`,
    instances ? `and ${plural(instances, 'instance')}, which all refer to it` : '',
    ...notes,
  ].filter(Boolean).join(' · ');
}

/** Draw an arrow from each holder to the middle, and from there to each part, as the nodes stand now. @param {HTMLElement} view */
function drawArrows(view) {
  const [arrows, middle] = [view.querySelector('.arrows'), view.querySelector('.middle')];
  if (!arrows || !middle) return;
  const whole = view.getBoundingClientRect();
  const box = (/** @type {Element} */ node) => {
    const {left, right, top, bottom} = node.getBoundingClientRect();
    return {left: left - whole.left, right: right - whole.left, y: (top + bottom) / 2 - whole.top + view.scrollTop};
  };
  const centre = box(middle);
  const [holders, parts] = [...view.querySelectorAll('.side')].map((each) => [...each.querySelectorAll('.node')].map(box));
  arrows.setAttribute('height', String(view.scrollHeight));
  arrows.replaceChildren(
    ...holders.map(({right, y}) => arrow({x: right, y}, {x: centre.left, y: centre.y})),
    ...parts.map(({left, y}) => arrow({x: centre.right, y: centre.y}, {x: left, y})),
  );
}

/** A curve that ends in a head. @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
function arrow(from, to) {
  const bend = (from.x + to.x) / 2;
  return svg('path', {d: `M${from.x} ${from.y}C${bend} ${from.y} ${bend} ${to.y} ${to.x} ${to.y}m-6 -4l6 4l-6 4`});
}
