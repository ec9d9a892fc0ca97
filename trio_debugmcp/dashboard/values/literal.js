// Values as text that can be given back to the program: what is edited of one, and whether it can be put back. Pure.

/** What a debugger says of a value; the type is apart, as an expression has none. @typedef {{value: string, type: string | null}} Value */

/** Types whose values gdb writes as a number and a character, `124 '|'`: an expression has one of them. */
const CHARACTER = /\b(?:w?char|wchar_t|char(?:8|16|32)_t|u?int8_t|byte)\b/;

const WORDS = 'True|False|None|true|false|null|undefined|nullptr|nil';
const NUMBER = '0x[\\da-f]+|(?:\\d[\\d_]*\\.?[\\d_]*|\\.\\d+)(?:e[-+]?\\d+)?j?';
const TEXT = `[bru]{0,2}'(?:[^'\\\\]|\\\\.)*'|[bru]{0,2}"(?:[^"\\\\]|\\\\.)*"`;
const LITERAL = new RegExp(`${TEXT}|(?<![\\w.])(?:${WORDS}|${NUMBER})(?![\\w.])`, 'gis');

/** The text of a value to be edited. @param {Value} value */
export function editable({value, type}) {
  const [, number] = /^(-?\d+) (?:u8|[uUL])?'/.exec(value) ?? [];
  return number !== undefined && CHARACTER.test(type ?? '') ? number : value;
}

/** Whether a text is a literal: numbers, texts and collections of them, which an expression makes again as they were. @param {string} text */
export function isLiteral(text) {
  const form = text.replace(LITERAL, '#');
  // Beside each other, as in `0x5f "tea"` and `(2) [1, 2]`, they are what a debugger writes for people.
  return /^[\s#,:()[\]{}+-]+$/.test(form) && /[#)\]}]/.test(form) && !/[#)\]}]\s*[#([{]/.test(form);
}
