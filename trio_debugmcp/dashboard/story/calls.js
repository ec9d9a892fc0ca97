// Calls as the story has them: what they were asked, by whom, and what came of it.

import {PAGE_NAME} from '../connection/mcp.js';
import {secondsOf} from '../timeline/events.js';
import {readable} from '../view/readable.js';
import {brief} from '../view/words.js';

/**
 * Something that a client did. `seconds` is how long it took, null while it is in flight; `facts` is all that is known,
 * for the whole entry; `place` is where in the source it led.
 *
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} kind
 * @property {string} who
 * @property {boolean} person
 * @property {string} title
 * @property {string} words
 * @property {string | null} say  Why it was called, in the agent's words.
 * @property {string} result
 * @property {boolean} failed
 * @property {number} began
 * @property {number | null} seconds
 * @property {[string, string][]} facts
 * @property {number} after  How many chapters there were when it began.
 * @property {{name: string, was: string | null, value: string}[]} [changes]  Of a stop: what is other than at the one before.
 * @property {string} [what]  Of a stop: what changed, or its values; `where`: its reason and place.
 * @property {string} [where]
 * @property {boolean} [lost]  Its end is in none of the events that are kept: how it ended is not known.
 * @property {any} event
 * @property {{file: string, line: number | null} | null} place
 */

/** Whether a person has made a call: at a page, also one that only watches, in an editor, or by a card. @param {any} payload */
export const isPerson = ({client, person = false}) => person || client === PAGE_NAME;

/** Arguments that the page itself gives to what a person has typed; the whole entry has them. */
const OWN_ARGUMENTS = new Set(['frame_index', 'thread_id', 'max_value_length', 'max_result_bytes', 'timeout']);

/** @param {string | null} client @returns {(argument: [string, any]) => boolean} */
const isTold = (client) => ([name]) => client !== PAGE_NAME || !OWN_ARGUMENTS.has(name);

/** A call's arguments, in short and in full: they are asked for at every redraw, and the event keeps them. @param {any} event */
const phrasesOf = (event) => (event.phrases ??= phrased(event.payload));

/** The buttons of a card in the chat, by what its call has as its action. @type {Record<string, string>} */
const PRESSED = {over: 'Step over', in: 'Step in', out: 'Step out', continue: 'Continue', pause: 'Pause'};

/** @param {any} payload */
function phrased({tool, arguments: args = {}, client = null}) {
  if (tool === 'card_run') {
    const words = PRESSED[args.action] ?? brief(args.action ?? '', 80);
    return {words, facts: [['pressed', words]]};
  }
  const all = Object.entries(args);
  return {
    words: all.filter(isTold(client)).map(([name, value]) => `${name}: ${brief(readable(value), 80)}`).join(', '),
    facts: all.map(([name, value]) => [name, brief(value, 1000)]),
  };
}

/** @param {any} event @param {Set<string>} files @returns {Entry} */
export function callOf(event, files) {
  const {call, tool, arguments: args = {}, client = null} = event.payload;
  const {words, facts} = phrasesOf(event);
  return {
    key: call === undefined ? `event-${event.eventId}` : `call-${call}`,
    kind: 'call',
    who: client ?? 'someone',
    person: isPerson(event.payload),
    title: tool,
    words,
    say: event.payload.say ?? null,
    result: '',
    failed: false,
    began: secondsOf(event),
    seconds: null,
    after: 0,
    facts,
    event,
    place: placeOf(args, files),
  };
}

/** @param {Entry} entry */
export function finish(entry, event) {
  const {milliseconds, error = null, result = ''} = event.payload;
  const ended = secondsOf(event);
  return Object.assign(entry, {
    seconds: milliseconds / 1000,
    began: Math.min(entry.began, ended - milliseconds / 1000),
    failed: error !== null,
    lost: false,
    result: error === null ? result : [error, result].filter(Boolean).join(': '),
    event,
  });
}

/** Return where the arguments point to; a file that is not absolute is one of those that are known. */
function placeOf({file, line}, files) {
  if (typeof file !== 'string') return null;
  const whole = /^(\/|[A-Za-z]:[\\/])/.test(file) ? file : [...files].find((each) => each.endsWith(`/${file}`));
  return whole ? {file: whole, line: typeof line === 'number' ? line : null} : null;
}
