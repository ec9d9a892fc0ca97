// Output as nodes: text, and spans where the program has set colours, which continue from piece to piece of a stream.

import {ansiLine, hasSequences, PLAIN} from './ansi.js';
import {el} from '../view/dom.js';
import {visible} from '../view/signs.js';

const FLAGS = ['bold', 'faint', 'italic', 'underline', 'strike', 'inverse'];

/** Characters of pieces that are joined. Beyond, a progress bar that never ends its line begins anew. */
const MOST_JOINED = 256 * 1024;

/**
 * Join the pieces of one line: a progress bar goes back to the beginning of what came in earlier pieces.
 *
 * @template {{stream: string, text: string}} Entry
 * @param {Entry[]} entries
 * @returns {Entry[]}
 */
export function withWholeLines(entries) {
  /** @type {Entry[]} */
  const found = [];
  for (const entry of entries) {
    const last = found.at(-1);
    const goesOn = last?.stream === entry.stream && !last.text.endsWith('\n') && last.text.length < MOST_JOINED;
    if (last && goesOn) found[found.length - 1] = {...last, text: last.text + entry.text};
    else found.push(entry);
  }
  return found;
}

/** Fills the pieces of an output, in order: a colour holds in its stream until it is set back. */
export class Painter {
  /** @type {Map<string, import('./ansi.js').Style>} */
  #styles = new Map();
  /** @type {WeakMap<Element, import('./ansi.js').Style>} */
  #starts = new WeakMap();

  /** Begin with other output. */
  reset() {
    this.#styles.clear();
  }

  /** Fill a piece, also one that has grown. @param {Element} piece @param {string} stream @param {string} text */
  paint(piece, stream, text) {
    const start = this.#starts.get(piece) ?? this.#styles.get(stream) ?? PLAIN;
    this.#starts.set(piece, start);
    let style = start;
    /** @type {(Node | string)[]} */
    const nodes = [];
    if (start === PLAIN && !hasSequences(text)) nodes.push(visible(text));
    else {
      text.split('\n').forEach((line, index) => {
        if (index > 0) nodes.push('\n');
        const found = ansiLine(line, style);
        nodes.push(...found.pieces.map((each) => node(each)));
        style = found.style;
      });
    }
    piece.replaceChildren();
    for (const each of joined(nodes)) piece.append(each); // one by one: there may be more than a call takes
    this.#styles.set(stream, style);
  }
}

/** Texts that follow each other, as one: a search finds a word within a text. @param {(Node | string)[]} nodes */
function joined(nodes) {
  /** @type {(Node | string)[]} */
  const found = [];
  for (const each of nodes) {
    const last = found.length - 1;
    if (typeof each === 'string' && typeof found[last] === 'string') found[last] += each;
    else found.push(each);
  }
  return found;
}

/** @param {{text: string, style: import('./ansi.js').Style}} piece */
function node({text, style}) {
  const dataset = Object.fromEntries(FLAGS.filter((flag) => style[flag]).map((flag) => [flag, '']));
  // Reversed colours change places; without any of its own the text does so with the ground, by `data-inverse`.
  const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
  if (style.inverse && (fg || bg)) delete dataset.inverse;
  if (Object.keys(dataset).length === 0 && !fg && !bg) return visible(text);
  const span = el('span', {className: 'ansi', dataset}, text);
  for (const [name, colour] of [['fg', fg], ['bg', bg]]) {
    if (!colour) continue;
    span.dataset[/** @type {string} */ (name)] = '';
    span.style.setProperty(`--${name}`, colour); // by the CSSOM, which the page's policy allows, and as a colour only
  }
  return span;
}
