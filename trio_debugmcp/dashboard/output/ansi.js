// Terminal sequences in a program's output: colours become styles, `\r` and `\b` overwrite, other sequences are dropped.
//
//     const {pieces, style} = ansiLine('\x1b[31mred\x1b[0m 10 %\r', PLAIN);
//
// A line is a row of cells, as in a terminal, so that of a progress bar only its last state is left.

/**
 * @typedef {{fg: string | null, bg: string | null, bold: boolean, faint: boolean, italic: boolean, underline: boolean,
 *   strike: boolean, inverse: boolean}} Style
 */

/** @type {Readonly<Style>} */
export const PLAIN = Object.freeze({
  fg: null, bg: null, bold: false, faint: false, italic: false, underline: false, strike: false, inverse: false,
});

/** The sixteen colours by name; css/ansi.css makes them legible on light and on dark. */
const BASE = [
  '#000000', '#cc0000', '#2f9e1d', '#b58900', '#2a5fd0', '#a626a4', '#0b8a99', '#aaaaaa',
  '#666666', '#ff4d4d', '#3fc42b', '#d9a400', '#5b8cff', '#d36ad1', '#1fb3c4', '#ffffff',
];

const LEVELS = [0, 95, 135, 175, 215, 255];

const hex = (...parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** @param {number} index */
function indexed(index) {
  if (index < 16) return BASE[index];
  if (index >= 232) return hex(...Array(3).fill(8 + 10 * (index - 232)));
  const cube = index - 16;
  return hex(LEVELS[Math.floor(cube / 36)], LEVELS[Math.floor(cube / 6) % 6], LEVELS[cube % 6]);
}

/** What each number of "select graphic rendition" sets, but for colours. Text is never hidden: it may be the bug. */
const SGR = {
  1: {bold: true}, 2: {faint: true}, 3: {italic: true}, 4: {underline: true}, 7: {inverse: true},
  9: {strike: true}, 21: {underline: true}, 22: {bold: false, faint: false}, 23: {italic: false},
  24: {underline: false}, 27: {inverse: false}, 29: {strike: false}, 39: {fg: null},
  49: {bg: null},
};

/**
 * Apply the numbers of one sequence. Colours of the 256 and of 24 bits come as `38;5;N` and `38;2;R;G;B`, or with colons.
 *
 * @param {Style} before
 * @param {string} parameters
 * @returns {Style}
 */
function selected(before, parameters) {
  let style = before;
  // `38:2::R:G:B` has an empty colour space, `4:0` ends the underline, and `4:3` is a curly one.
  const flat = parameters
    .replace(/([34]8):2:\d*:(\d+:\d+:\d+)/g, '$1:2:$2')
    .replace(/\b4:0\b/g, '24')
    .replace(/\b4:\d+/g, '4');
  const numbers = flat.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at];
    if (number === 0) style = PLAIN;
    else if (number === 38 || number === 48) {
      const [kind, ...rest] = numbers.slice(at + 1);
      const values = rest.slice(0, kind === 5 ? 1 : 3);
      at += 1 + values.length;
      const valid = values.length > 0 && values.every((value) => value >= 0 && value <= 255);
      if (!valid || (kind === 2 && values.length < 3) || (kind !== 2 && kind !== 5)) continue;
      const colour = kind === 5 ? indexed(values[0]) : hex(...values);
      style = {...style, [number === 38 ? 'fg' : 'bg']: colour};
    } else if (SGR[number]) style = {...style, ...SGR[number]};
    else style = {...style, ...basic(number)};
  }
  return style;
}

/** @param {number} number */
function basic(number) {
  if (number >= 30 && number <= 37) return {fg: BASE[number - 30]};
  if (number >= 40 && number <= 47) return {bg: BASE[number - 40]};
  if (number >= 90 && number <= 97) return {fg: BASE[number - 82]};
  if (number >= 100 && number <= 107) return {bg: BASE[number - 92]};
  return {};
}

// In this order: CSI, OSC and other strings, with their terminator or at the end of the text, two-byte sequences,
// then single controls. What is cut short at the end of the text is dropped as well.
const SEQUENCE =
  /[\x1b\x9b](?:(?<=\x9b)|\[)(?<numbers>[0-?]*)[ -/]*(?<final>[@-~]|$)|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*(?:[0-~]|$)|(?<control>[\r\b])|[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]/g;

/** Columns that a sequence may move to: a line that is longer is the program's own. */
const MOST_COLUMNS = 10_000;

/** Whether a text has anything that `ansiLine` would treat. Most output has not, and is shown as it is. */
export const hasSequences = (text) => /[\x00-\x08\x0b-\x1f\x7f\x9b]/.test(text);

/**
 * Return a line without its sequences: pieces of one style each, and the style with which the next line begins.
 *
 * @param {string} text  without line breaks at its end
 * @param {Style} [start]
 * @returns {{pieces: {text: string, style: Style}[], style: Style}}
 */
export function ansiLine(text, start = PLAIN) {
  if (!hasSequences(text)) return {pieces: text ? [{text, style: start}] : [], style: start};
  const line = new Cells();
  let style = start;
  let end = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    line.write(text.slice(end, match.index), style);
    end = match.index + match[0].length;
    const {numbers = '', final, control} = match.groups ?? {};
    if (control === '\r') line.column = 0;
    else if (control === '\b') line.column = Math.max(0, line.column - 1);
    else if (final === 'm' && !/[<-?]/.test(numbers)) style = selected(style, numbers);
    else if (final) line.move(final, numbers === '' ? null : Number(numbers.split(';')[0]));
  }
  line.write(text.slice(end), style);
  return {pieces: line.pieces(), style};
}

class Cells {
  /** @type {{text: string, style: Style}[]} */
  #cells = [];
  column = 0;

  /** @param {string} text @param {Style} style */
  write(text, style) {
    if (text === '') return;
    for (const character of text) {
      while (this.#cells.length < this.column) this.#cells.push({text: ' ', style: PLAIN});
      this.#cells[this.column] = {text: character, style};
      this.column += 1;
    }
  }

  /** @param {string} final @param {number | null} number */
  move(final, number) {
    const steps = Math.min(number || 1, MOST_COLUMNS);
    if (final === 'G') this.column = steps - 1;
    else if (final === 'C') this.column = Math.min(this.column + steps, MOST_COLUMNS);
    else if (final === 'D') this.column = Math.max(0, this.column - steps);
    else if (final === 'K') this.#erase(number ?? 0);
  }

  pieces() {
    /** @type {{text: string, style: Style}[]} */
    const found = [];
    for (const {text, style} of this.#cells) {
      const last = found.at(-1);
      if (last && same(last.style, style)) last.text += text;
      else found.push({text, style});
    }
    return found;
  }

  /** @param {number} mode  0: from the cursor on, 1: up to it, 2: all */
  #erase(mode) {
    if (mode === 0) this.#cells.length = Math.min(this.#cells.length, this.column);
    else if (mode === 2) this.#cells = [];
    else for (let at = 0; at <= this.column && at < this.#cells.length; at += 1) this.#cells[at] = {text: ' ', style: PLAIN};
  }
}

const same = (one, other) => one === other || Object.keys(PLAIN).every((key) => one[key] === other[key]);
