// Source in colours: Prism's tokens, which become text nodes, in the kinds that the style sheet knows.

import {Prism} from '../vendor/prism.js';

/** The extensions of each grammar's files. Languages without one of their own have comments, strings and numbers. */
const EXTENSIONS = {
  python: 'py pyw pyi',
  c: 'c h',
  cpp: 'cc cpp cxx c++ hpp hh hxx ino',
  rust: 'rs',
  javascript: 'js mjs cjs',
  jsx: 'jsx',
  typescript: 'ts mts cts',
  tsx: 'tsx',
  java: 'java',
  go: 'go',
  ruby: 'rb',
  bash: 'sh bash zsh',
  perl: 'pl pm t',
  lua: 'lua',
  cmake: 'cmake',
  fortran: 'f90 f95 f03 f08 f for',
  ada: 'adb ads',
  d: 'd',
  pascal: 'pas lpr pp',
  dart: 'dart',
  robotframework: 'robot resource',
  markup: 'html htm',
  clike: 'cs kt kts swift scala groovy php zig v',
};

const LANGUAGES = new Map(Object.entries(EXTENSIONS).flatMap(([name, list]) => list.split(' ').map((each) => [each, name])));

/**
 * Characters that are coloured at a time, when a line of them is drawn: a file of a megabyte would take seconds. A part ends
 * where a definition begins, if one does before it is too long; a string or a comment does not reach over its end.
 */
const PART = 6_000;
const LONGEST_PART = 24_000;

/** A line at which nothing is open, mostly: not indented, behind an empty one or the end of a block. */
const BEGINS = /^[\p{L}_@#[<$]/u;
const ENDS = /^\s*[})\]]*[;,]?\s*$/;

/** Prism's has 10 KB, nearly all of it names. */
Prism.languages.cmake = {
  comment: /#\[(=*)\[[\s\S]*?\]\1\]|#[^\n]*/,
  string: {pattern: /"(?:\\[\s\S]|[^\\"])*"/, greedy: true},
  keyword: /\b(?:break|continue|(?:end)?(?:foreach|function|if|macro|while)|else|elseif|include|return)(?=\s*\()/i,
  function: /\b[a-z_]\w*(?=\s*\()/i,
  number: /\b\d+(?:\.\d+)*\b/,
};

/** Which kind a token is; one that is not here is text, and what is in it counts by itself. @type {Record<string, string>} */
const KINDS = {
  comment: 'comment', prolog: 'comment', doctype: 'comment', cdata: 'comment', shebang: 'comment',
  string: 'string', char: 'string', 'triple-quoted-string': 'string', 'template-string': 'string', regex: 'string',
  'attr-value': 'string', 'string-interpolation': 'string', 'string-literal': 'string', 'triple-quoted-text': 'string',
  'raw-string': 'string', heredoc: 'string', 'command-literal': 'string', 'regex-literal': 'string',
  number: 'number', 'quoted-number': 'number',
  keyword: 'keyword', boolean: 'keyword', nil: 'keyword', null: 'keyword', 'shell-symbol': 'keyword',
  function: 'call', 'function-definition': 'call', 'function-variable': 'call', method: 'call', 'method-definition': 'call',
  'function-name': 'call', decorator: 'decorator', annotation: 'decorator', attribute: 'decorator',
  'directive-hash': 'decorator', directive: 'decorator', 'lifetime-annotation': 'decorator',
};

/** What stands in a string, and is code. */
const INSERTED = new Set(['interpolation', 'expression', 'environment', 'variable', 'plain-text', 'macro']);

/** A name before a parenthesis, where the grammar has nothing of it. */
const CALLED = /(?=\$*[\p{L}_])[\p{L}_$][\p{L}\d_$]*!?(?=\()/gu;

/** Keywords of Python 2. */
const FUNCTIONS = new Set(['print', 'exec']);

/** @typedef {{kind: string | null, text: string}} Token */

/** The lines of a file, each a list of `{kind, text}`; kind is null for text that is not coloured. */
export class ColouredLines {
  /** @type {(Token[] | undefined)[]} */
  #coloured;
  /** Where the parts begin that were found so far: one is coloured when a line of it is asked for. */
  #begins = [0];

  /**
   * What is behind `most` characters of a line is left out.
   *
   * @param {string[]} lines
   * @param {string} path
   * @param {number} [most]
   */
  constructor(lines, path, most = Infinity) {
    this.lines = lines.some(({length}) => length > most) ? lines.map((line) => line.slice(0, most)) : lines;
    this.language = languageOf(path);
    this.#coloured = new Array(lines.length);
  }

  /** @param {number} index @returns {Token[]} */
  at(index) {
    if (this.#coloured[index] === undefined) this.#colourPartOf(index);
    return /** @type {Token[]} */ (this.#coloured[index]);
  }

  /** @param {number} index */
  #colourPartOf(index) {
    const begins = this.#begins;
    while (begins[begins.length - 1] <= index) begins.push(this.#endOf(begins[begins.length - 1]));
    const after = begins.findIndex((begin) => begin > index);
    const [first, end] = [begins[after - 1], begins[after]];
    const part = inLines(tokensOf(this.lines.slice(first, end).join('\n'), this.language));
    for (let line = first; line < end; line += 1) this.#coloured[line] = part[line - first];
  }

  /** Return where the part ends that begins at a line. @param {number} first */
  #endOf(first) {
    let size = 0;
    for (let index = first; index < this.lines.length; index += 1) {
      const begins = index > first && size > PART && BEGINS.test(this.lines[index]) && ENDS.test(this.lines[index - 1]);
      if (begins || (index > first && size + this.lines[index].length > LONGEST_PART)) return index;
      size += this.lines[index].length + 1;
    }
    return this.lines.length;
  }
}

/**
 * Split a short text into coloured lines.
 *
 * @param {string} text
 * @param {string} path
 */
export function highlighted(text, path) {
  const lines = text.split('\n');
  const coloured = new ColouredLines(lines, path);
  return lines.map((_, index) => coloured.at(index));
}

/** @param {string} path */
function languageOf(path) {
  const name = path.split(/[\\/]/).pop() ?? '';
  return name === 'CMakeLists.txt' ? 'cmake' : LANGUAGES.get(name.split('.').pop()?.toLowerCase() ?? '');
}

/** @param {Token[]} tokens */
function inLines(tokens) {
  /** @type {Token[][]} */
  const lines = [[]];
  for (const {kind, text} of tokens) {
    text.split('\n').forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part) lines[lines.length - 1].push({kind, text: part});
    });
  }
  return lines;
}

/** @param {string} text @param {string | undefined} language @returns {Token[]} */
function tokensOf(text, language) {
  if (language === undefined) return [{kind: null, text}];
  const env = {code: text, grammar: Prism.languages[language], language, tokens: /** @type {any[]} */ ([])};
  Prism.hooks.run('before-tokenize', env);
  env.tokens = Prism.tokenize(env.code, env.grammar);
  Prism.hooks.run('after-tokenize', env); // JSX is put together here
  /** @type {Token[]} */
  const flat = [];
  flatten(env.tokens, null, flat);
  return flat.flatMap(withCalls);
}

/** Put tokens and what is in them one after the other; neighbours of one kind are one. @param {any} tokens @param {string | null} kind @param {Token[]} flat */
function flatten(tokens, kind, flat) {
  for (const token of [tokens].flat()) {
    if (typeof token !== 'string') flatten(token.content, kindOf(token, kind), flat);
    else if (flat.at(-1)?.kind === kind && flat.length > 0) flat[flat.length - 1].text += token;
    else flat.push({kind, text: token});
  }
}

/** @param {{type: string, content: any, alias?: string | string[]}} token @param {string | null} around */
function kindOf({type, content, alias}, around) {
  if (INSERTED.has(type) || (type === 'keyword' && FUNCTIONS.has(content))) return null;
  const names = [type, ...[alias ?? []].flat()];
  const own = names.map((name) => KINDS[name]).find((kind) => kind !== undefined);
  return own ?? (around === 'string' || around === 'comment' || around === 'decorator' ? around : null);
}

/** @param {Token} token @returns {Token[]} */
function withCalls({kind, text}) {
  if (kind !== null) return [{kind, text}];
  const pieces = [];
  let end = 0;
  for (const {0: name, index} of text.matchAll(CALLED)) {
    if (index > end) pieces.push({kind, text: text.slice(end, index)});
    pieces.push({kind: 'call', text: name});
    end = index + name.length;
  }
  return end < text.length ? [...pieces, {kind, text: text.slice(end)}] : pieces;
}
