// The value of a name in the source: under the pointer, or by the key `v` of a line or of what is selected.
//
// Nothing is run for it: locals are known already, and the rest is asked by `evaluate_safe`, which runs no code.

import {evaluated} from '../answers.js';
import {byId, el} from '../view/dom.js';
import {frameArguments} from '../program/frame.js';
import {isPressed} from '../view/single_keys.js';

const PAUSE_MILLISECONDS = 250;
const LEAVE_MILLISECONDS = 200;
const MOST_CHARACTERS = 2000;
const NO_NAMES = new Set(['t-string', 't-comment', 't-keyword', 't-number']);

/** @param {any} store @param {(name: string, args: object) => Promise<any>} call */
export function createHover(store, call) {
  const view = byId('source');
  /** @type {HTMLElement | null} */
  let tip = null;
  let timer = 0;
  let asked = 0;
  let under = '';

  const paused = () => store.state.active && store.state.stack?.stale === false;
  const askable = () => paused() || Boolean(store.state.past);

  view.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'touch' || event.buttons) return;
    const found = askable() ? wordAt(event.clientX, event.clientY) : null;
    const key = found ? `${found.path} ${found.line}` : '';
    if (key === under) return;
    under = key;
    clearTimeout(timer);
    timer = window.setTimeout(() => (found ? show(found.box, [found.path]) : hide()), found ? PAUSE_MILLISECONDS : LEAVE_MILLISECONDS);
  });
  view.addEventListener('pointerleave', leave);
  view.addEventListener('scroll', hide, {passive: true});
  view.addEventListener('pointerdown', hide);
  store.watch(['stack', 'frames', 'place'], hide);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && tip) {
      event.stopImmediatePropagation(); // the first Escape closes it; the next one is the page's
      hide();
    }
  }, true);
  document.addEventListener('keydown', (event) => {
    if (isPressed(event, 'v') && askable()) byKey();
  });

  function leave() {
    under = '';
    clearTimeout(timer);
    timer = window.setTimeout(hide, LEAVE_MILLISECONDS);
  }

  function hide() {
    asked += 1; // an answer that is still to come is for nothing that is shown
    under = '';
    clearTimeout(timer);
    tip?.remove();
    tip = null;
  }

  /** What is selected in the source, or else the names of the line that has the focus, or of the current one. */
  function byKey() {
    const selection = getSelection();
    const text = selection?.toString().trim() ?? '';
    if (selection && text && !text.includes('\n') && view.contains(selection.anchorNode)) {
      show(selection.getRangeAt(0).getBoundingClientRect(), [text]);
      return;
    }
    const row = view.contains(document.activeElement) ? document.activeElement?.closest('.line') : null;
    const code = (row ?? view.querySelector('.line.current'))?.querySelector('code');
    if (code) show(code.getBoundingClientRect(), pathsIn(code));
  }

  /** @param {DOMRect} box @param {string[]} paths */
  async function show(box, paths) {
    hide();
    const mine = asked;
    const found = (await Promise.all(paths.map((path) => valueOf(path)))).filter((each) => each !== null);
    if (mine !== asked || found.length === 0) return;
    const rows = found.map(({path, value, type}) =>
      el('div', {}, el('dt', {}, path), el('dd', {}, value, type ? el('span', {className: 'type'}, ` ${type}`) : null)),
    );
    const properties = {className: 'tip', ariaLive: 'polite', onpointerenter: () => clearTimeout(timer), onpointerleave: leave};
    tip = el('div', properties);
    byId('main').append(tip);
    tip.append(el('dl', {}, ...rows)); // after it is there, or screen readers would not speak it
    const {width, height} = tip.getBoundingClientRect();
    const below = box.bottom + 4 + height < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(8, below ? box.bottom + 4 : box.top - height - 4)}px`;
  }

  /** @param {string} path */
  async function valueOf(path) {
    const local = store.state.frames.locals?.find((each) => each.name === path);
    if (local) return {path, value: local.value, type: null};
    if (!paused()) return null; // of the past is known what was read then
    const args = {expression: path, ...frameArguments(store.state), max_value_length: MOST_CHARACTERS, timeout: 2};
    try {
      const {value, type} = evaluated(await call('evaluate_safe', args));
      return value === undefined ? null : {path, value, type};
    } catch {
      return null; // most words of a source have no value here, and the pointer did not ask for an error
    }
  }
}

/** The path under a place in the window: a name with what is before its dots. */
function wordAt(x, y) {
  const caret = document.caretPositionFromPoint?.(x, y);
  const node = caret?.offsetNode;
  const code = node?.parentElement?.closest('.line code');
  if (!caret || !node || !code || NO_NAMES.has(node.parentElement?.className ?? '')) return null;
  const before = document.createRange();
  before.setStart(code, 0);
  before.setEnd(node, caret.offset);
  const found = pathAt(code.textContent ?? '', before.toString().length);
  if (!found) return null;
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  // Right of a line's end the caret is at its last word, which the pointer is not on.
  if (x < box.left - 2 || x > box.right + 2) return null;
  const line = code.closest('.line')?.querySelector('.number')?.textContent;
  return {path: found, line, box: new DOMRect(x, box.top, 0, box.height)};
}

const NAME = '[\\p{L}_$][\\p{L}\\p{N}_$]*';
const PATH = new RegExp(`(?<![\\p{L}\\p{N}_$.])${NAME}(?:\\.${NAME})*`, 'gu');

/**
 * The path at an offset of a line, up to the name that the offset is in: `order.item` in `order.item.price`.
 *
 * @param {string} text
 * @param {number} offset
 */
export function pathAt(text, offset) {
  for (const {0: path, index} of text.matchAll(PATH)) {
    if (offset < index || offset > index + path.length) continue;
    const end = path.indexOf('.', Math.max(0, offset - index));
    return end < 0 ? path : path.slice(0, end);
  }
  return null;
}

/** The paths that a line of code names, outside of its strings and comments. @param {Element} code */
function pathsIn(code) {
  const text = [...code.childNodes]
    .map((node) => (node instanceof Element && NO_NAMES.has(node.className) ? ' ' : node.textContent))
    .join('');
  return [...new Set([...text.matchAll(PATH)].map(([path]) => path))].slice(0, 20);
}
