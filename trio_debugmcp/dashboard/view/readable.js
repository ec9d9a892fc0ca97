// Values of events and of calls as a person reads them: a place is `shop.py:14`, and no braces are shown. JSON is what is
// copied.

import {baseName, duration, place} from './words.js';

/** How deep a value is written out; what is below is counted. */
const MOST_LEVELS = 3;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without news: it is left out. */
const isEmpty = (value) =>
  value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Return a value in words. @param {any} value @param {number} [levels] @returns {string}
 */
export function readable(value, levels = MOST_LEVELS) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return parsed(value, levels);
  if (Array.isArray(value)) {
    return levels > 0 ? value.map((each) => readable(each, levels - 1)).join(', ') : `${value.length} items`;
  }
  if (!isObject(value)) return String(value);
  const {file, line, functionName, column, moduleName, ...rest} = value;
  const where = file ? [`${place(value)}${functionName ? ` in ${functionName}` : ''}`] : [];
  const others = Object.entries(file ? rest : value).filter(([, each]) => !isEmpty(each));
  if (levels <= 0 && others.length) return [...where, `${others.length} more`].join(', ');
  return [...where, ...others.map(([name, each]) => `${nameOf(name)} ${readable(each, levels - 1)}`)].join(', ');
}

/** The server writes an argument that has parts as JSON. @param {string} text @param {number} levels */
function parsed(text, levels) {
  if (!/^[[{].*[\]}]$/s.test(text)) return text;
  try {
    const found = JSON.parse(text);
    // A Python list or dict of numbers is JSON, too, and stays as it is written.
    return [found].flat().some(isObject) ? readable(found, levels) : text;
  } catch {
    return text;
  }
}

const NAMES = {
  sessionId: 'session',
  parentSessionId: 'parent session',
  processName: 'program',
  processId: 'process',
  launchMode: 'mode',
  breakpointIds: 'breakpoints',
  exceptionType: 'type',
  functionName: 'function',
  exitCode: 'exit code',
  milliseconds: 'took',
  location: 'place',
};

/** A key of an event as words: `hitCount` is “hit count”. @param {string} name */
export const nameOf = (name) => NAMES[name] ?? name.replaceAll('_', ' ').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Numbers that join events for programs, and what another key says already. */
const NOT_SHOWN = new Set(['call', 'column', 'moduleName']);

/**
 * What an event says, as names and values; `title` has what the value leaves out.
 *
 * @param {any} event
 * @returns {{name: string, value: string, title?: string}[]}
 */
export function factsOf({payload}) {
  const {file, line, arguments: args = {}, ...rest} = payload;
  const facts = [];
  if (file) facts.push({name: 'place', value: line ? `${baseName(file)}:${line}` : baseName(file), title: file});
  else if (!isEmpty(line)) facts.push({name: 'line', value: String(line)});
  for (const [name, value] of Object.entries(rest)) {
    if (NOT_SHOWN.has(name) || isEmpty(value)) continue;
    const words = name === 'milliseconds' ? duration(value / 1000) : readable(value);
    facts.push({name: nameOf(name), value: words, title: value.file ?? undefined});
  }
  for (const [name, value] of Object.entries(args)) {
    if (!isEmpty(value)) facts.push({name: nameOf(name), value: readable(value)});
  }
  return facts;
}
