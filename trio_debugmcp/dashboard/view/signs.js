// Signs that lie: invisible ones, and those that turn the order of a text around, are drawn as marks. So are letters of
// another script among Latin ones, which look the same.

/**
 * Controls but tab and line breaks, soft hyphens, spaces without width, marks and overrides of direction, tags. The joiner
 * of an emoji is a part of it.
 */
const SIGN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gu;

/** What has none of them, which is nearly all there is. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

/** Letters of scripts that are written from right to left. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

const WORD = /[\p{L}\p{N}_]+/gu;
const LATIN = /\p{Script=Latin}/u;
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}]/gu;

/** @param {string} sign */
const codeOf = (sign) => `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A sign as a mark. @param {string} sign */
const mark = (sign) => `[${codeOf(sign)}]`;

/** Return a text whose invisible signs are marks. @param {string} text */
export const visible = (text) => (PLAIN.test(text) ? text : text.replace(SIGN, mark));

/** @typedef {{text: string, kind: 'sign' | 'mixed' | null, title: string}} Piece */

/**
 * Return the pieces of a text: its marks, words of two scripts, and what is between them.
 *
 * @param {string} text
 * @returns {Piece[]}
 */
export function piecesOf(text) {
  if (PLAIN.test(text)) return [{text, kind: null, title: ''}];
  const found = [...text.matchAll(SIGN)].map((match) => ({at: match.index, was: match[0], text: mark(match[0]), kind: /** @type {const} */ ('sign'), title: 'A sign that is not seen'}));
  const mixed = [...text.matchAll(WORD)].flatMap((match) => {
    const others = LATIN.test(match[0]) ? match[0].match(ALIKE) ?? [] : [];
    const title = `Letters of two scripts: ${[...new Set(others)].map((letter) => `${letter} is ${codeOf(letter)}`).join(', ')}`;
    return others.length ? [{at: match.index, was: match[0], text: match[0], kind: /** @type {const} */ ('mixed'), title}] : [];
  });
  /** @type {Piece[]} */
  const pieces = [];
  let end = 0;
  for (const {at, was, ...piece} of [...found, ...mixed].sort((one, other) => one.at - other.at)) {
    if (at < end) continue;
    if (at > end) pieces.push({text: text.slice(end, at), kind: null, title: ''});
    pieces.push(piece);
    end = at + was.length;
  }
  if (end < text.length) pieces.push({text: text.slice(end), kind: null, title: ''});
  return pieces;
}
