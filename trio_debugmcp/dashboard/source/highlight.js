// A small tokenizer: enough to tell comments, strings, numbers and keywords apart in the languages that are debugged.

const WORDS = {
  python:
    'False None True and as assert async await break case class continue def del elif else except finally for from ' +
    'global if import in is lambda match nonlocal not or pass raise return try while with yield',
  c:
    'abstract as async auto await bool boolean break byte case catch chan char class const continue crate debugger ' +
    'default defer delete do double dyn else enum export extends extern false final finally float fn for foreach func ' +
    'function go goto if impl implements import in inline instanceof int interface internal is let long loop map match ' +
    'mod move mut namespace new nil null nullptr object of operator out override package private protected pub public ' +
    'range readonly ref return sealed select self short signed sizeof static string struct super switch template this ' +
    'throw throws trait true try type typedef typeof undefined union unsafe unsigned use using var virtual void ' +
    'volatile where while yield',
  script:
    'alias and begin break case class def do done elif else elsif end ensure esac false fi for foreach function if in ' +
    'local module my next nil not or our package redo require rescue return self sub super then true undef unless ' +
    'until use when while yield',
};

const EXTENSIONS = {
  python: 'py pyw pyi',
  c: 'c h cc cpp cxx hpp cs java kt js mjs cjs ts tsx jsx go rs swift scala php dart zig v',
  script: 'rb pl pm sh bash zsh lua cmake',
};

// Each alternative is one named group; the first that matches decides.
const NUMBER = String.raw`(?<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w?)`;
const WORD = String.raw`(?<word>[\p{L}_$][\p{L}\d_$]*)`;
const GRAMMARS = {
  python: [
    String.raw`(?<comment>#[^\n]*)`,
    String.raw`(?<string>[rRbBuUfF]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))`,
    String.raw`(?<decorator>(?<=^[ \t]*)@[\w.]+)`,
    NUMBER,
    WORD,
  ],
  c: [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])'|'(?:\\.|[^'\\\n])*'|` + '`(?:\\\\[\\s\\S]|[^`\\\\])*`?)',
    String.raw`(?<decorator>(?<=^[ \t]*)#[ \t]*\w+|@\w+)`,
    NUMBER,
    WORD,
  ],
  script: [
    String.raw`(?<comment>(?<=^|\s)#[^\n]*|--[^\n]*)`,
    String.raw`(?<string>"(?:\\[\s\S]|[^"\\])*"?|'(?:\\.|[^'\\\n])*'?)`,
    NUMBER,
    WORD,
  ],
};

const compiled = new Map();

function grammar(path) {
  const extension = path.split('.').pop().toLowerCase();
  const name = Object.keys(EXTENSIONS).find((key) => EXTENSIONS[key].split(' ').includes(extension));
  if (name === undefined) return null;
  if (!compiled.has(name)) {
    // `$` in the groups means the end of the text, so `^` is spelled out where a line's start is meant.
    const pattern = GRAMMARS[name].join('|').replaceAll('(?<=^', '(?<=(?:^|\\n)');
    compiled.set(name, {pattern: new RegExp(pattern, 'gu'), words: new Set(WORDS[name].split(' '))});
  }
  return compiled.get(name);
}

/**
 * Split a text into lines, each a list of `{kind, text}`; kind is null for text that is not coloured. What is behind
 * `most` characters of a line is left out.
 *
 * @param {string} text
 * @param {string} path
 * @param {number} [most]
 */
export function highlighted(text, path, most = Infinity) {
  /** @type {{kind: string | null, text: string}[][]} */
  const lines = [[]];
  let size = 0; // of the last line, so far
  const add = (kind, piece) => {
    piece.split('\n').forEach((part, index) => {
      if (index > 0) {
        lines.push([]);
        size = 0;
      }
      const shown = part.length > most - size ? part.slice(0, Math.max(0, most - size)) : part;
      size += part.length;
      if (shown) lines[lines.length - 1].push({kind, text: shown});
    });
  };
  const rules = grammar(path);
  let end = 0;
  for (const match of rules ? text.matchAll(rules.pattern) : []) {
    const kind = kindOf(match, text, rules.words);
    if (kind === null) continue;
    add(null, text.slice(end, match.index));
    add(kind, match[0]);
    end = match.index + match[0].length;
  }
  add(null, text.slice(end));
  return lines;
}

function kindOf(match, text, words) {
  const {word} = match.groups;
  if (word === undefined) return Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
  if (words.has(word)) return 'keyword';
  return text[match.index + word.length] === '(' ? 'call' : null;
}
