// The output of the program and of the debugger; the view stays at the end unless the user has scrolled up.

import {Painter, withWholeLines} from './ansi_nodes.js';
import {keepAtEnd} from '../view/at_end.js';
import {earlierIn} from './console.js';
import {byId, el, setText} from '../view/dom.js';
import {clock} from '../view/words.js';

/** Entries of a part that is laid out by itself: what is out of sight costs nothing then. */
const PART_ENTRIES = 200;

/** @typedef {import('./console.js').Entry} Entry */

/** `fetchEarlier()` gets what was before, as far as the server has it. */
export function createOutput(store, fetchEarlier) {
  const view = byId('output');
  const note = byId('output-note');
  const button = el('button', {type: 'button', className: 'earlier', hidden: true});
  note.before(button);
  keepAtEnd(view);
  /** @type {Entry[]} */
  let drawn = [];
  const painter = new Painter();

  button.addEventListener('click', async () => {
    setText(button, 'Fetching…');
    await fetchEarlier();
    name(store.state.output);
  });

  function name(output) {
    const earlier = earlierIn(output);
    button.hidden = earlier === 0;
    setText(button, `Show ${earlier.toLocaleString('en')} earlier ${earlier === 1 ? 'piece' : 'pieces'}`);
  }

  store.watch(['output'], ({output}) => {
    const {dropped} = output;
    const entries = withWholeLines(/** @type {Entry[]} */ (output.entries));
    const atEnd = view.scrollTop + view.clientHeight > view.scrollHeight - 8;
    const fromEnd = view.scrollHeight - view.scrollTop;
    const keep = continues(drawn, entries);
    const grown = keep === null ? null : entries[keep - 1];
    if (grown && grown.text !== drawn.at(-1)?.text) {
      painter.paint(/** @type {Element} */ (lastPiece(view)), grown.stream, grown.text);
    }
    if (keep === null) {
      view.replaceChildren();
      painter.reset();
    }
    for (const entry of keep === null ? entries : entries.slice(keep)) append(view, entry, painter);
    for (let gone = view.childElementCount ? count(view) - entries.length : 0; gone > 0; gone -= 1) removeFirst(view);
    drawn = entries;
    name(output);
    setText(note, dropped ? `${dropped.toLocaleString('en')} before ${dropped === 1 ? 'is' : 'are'} not kept` : '');
    if (atEnd) view.scrollTop = view.scrollHeight;
    else if (keep === null) view.scrollTop = view.scrollHeight - fromEnd; // what was before is above what is read
  });
}

/** Return from where on a list is new to what is drawn; null if it is another list, or begins before it. */
function continues(drawn, entries) {
  const [first, last] = [drawn[0], drawn.at(-1)];
  if (first === undefined || last === undefined || entries.length === 0 || entries[0].seq < first.seq) return null;
  const index = entries.findLastIndex(({seq}) => seq === last.seq);
  const same = index >= 0 && entries[index].time === last.time && entries[index].text.startsWith(last.text);
  return same ? index + 1 : null; // the last one may have grown
}

/** @param {Element} view */
const lastPiece = (view) => view.lastElementChild?.lastElementChild;

/** @param {HTMLElement} view @param {Entry} entry @param {Painter} painter */
function append(view, {stream, text, time}, painter) {
  let part = view.lastElementChild;
  const last = lastPiece(view)?.textContent;
  // A part ends with a line: the next one begins below it.
  if (part === null || (part.childElementCount >= PART_ENTRIES && last?.endsWith('\n'))) {
    part = el('div', {className: 'part'});
    view.append(part);
  }
  const piece = el('span', {className: `piece ${stream}`, title: [stream, clock(time)].filter(Boolean).join(', ')});
  part.append(piece);
  painter.paint(piece, stream, text);
}

/** @param {Element} view */
const count = (view) => [...view.children].reduce((sum, part) => sum + part.childElementCount, 0);

/** @param {Element} view */
function removeFirst(view) {
  const part = view.firstElementChild;
  part?.firstElementChild?.remove();
  if (part?.childElementCount === 0) part.remove();
}
