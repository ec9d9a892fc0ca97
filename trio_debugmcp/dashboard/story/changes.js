// What came of a call that ended at a stop: what changed first, and the place behind it, which the next heading has as well.

/** @typedef {import('./calls.js').Entry} Entry @typedef {{reason: string, place: string, values: Map<string, string>, rest: string}} StopLine */

const STOP = /^Paused (?<reason>\w+)(?<raised> .*?,)? (?<place>[^·]+? in [^·]+?)(?: · (?<values>.*))?$/u;
const NAMED = /^(?<name>[\p{L}_$][\p{L}\p{N}_$.]*) = (?<value>.*?)(?<more> and \d+ more)?$/su;
const BETWEEN = /, (?=[\p{L}_$][\p{L}\p{N}_$.]* = )/u;

/** What a method has first, and never changes. */
const OWN = new Set(['self', 'cls', 'this']);

/** @param {any} event @returns {StopLine | null} */
const lineOf = (event) => (event.stopLine === undefined ? (event.stopLine = parsed(event.payload.result ?? '')) : event.stopLine);

/** Read the line on a stop that the server has written. @param {string} result @returns {StopLine | null} */
function parsed(result) {
  const {reason, raised = '', place, values: all = ''} = STOP.exec(result)?.groups ?? {};
  if (place === undefined || raised) return null; // an exception is what there is to say
  const [first = '', ...others] = all.split(' · ');
  const pairs = first.split(BETWEEN).map((text) => NAMED.exec(text)?.groups);
  const isValues = first !== '' && pairs.every((pair) => pair !== undefined);
  const values = new Map(isValues ? pairs.map((pair) => [pair?.name ?? '', pair?.value ?? '']) : []);
  return {reason, place, values, rest: (isValues ? others : all ? [first, ...others] : []).join(' · ')};
}

/**
 * Say of a call that ended at a stop what has changed since the stop before in the same function.
 *
 * @param {Entry} entry
 * @param {Map<string, Map<string, string>>} before  The values of each function at its last stop, which this brings up to date.
 */
export function tellChange(entry, before) {
  const line = entry.seconds === null || entry.failed ? null : lineOf(entry.event);
  const changes = /** @type {{name: string, was: string | null, value: string}[]} */ (entry.changes = []);
  if (line === null) return;
  const place = line.place.replace(/^.*? in /, '');
  const key = `${entry.event.payload.sessionId ?? ''} ${place}`;
  const known = before.get(key);
  for (const [name, value] of line.values) {
    const was = known?.get(name);
    if (known && was !== value) changes.push({name, was: was ?? null, value});
  }
  before.set(key, line.values);
  entry.what = whatOf(line, changes);
  entry.where = `${line.reason} ${line.place}`;
}

/** @param {StopLine} line @param {{name: string, was: string | null, value: string}[]} changes */
function whatOf({values, rest}, changes) {
  const told = changes.map(({name, was, value}) => (was === null ? `${name} ${value}` : `${name} ${was} → ${value}`));
  const others = [...values].filter(([name]) => !OWN.has(name)).map(([name, value]) => `${name} = ${value}`);
  const what = (told.length ? told : others).join(', ');
  return what && [what, rest].filter(Boolean).join(' · '); // without values the place is what there is to say
}
