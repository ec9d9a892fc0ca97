// Many processes as cells: what each shows, and in which groups they are. Pure.

import {baseName, place, whyPaused} from '../view/words.js';

/**
 * @typedef {import('../program/processes.js').Process} Process
 * @typedef {{location: any, waitsFor: string | null}} Seen  Where a look has seen a process that runs.
 * @typedef {'running' | 'paused' | 'breakpoint' | 'exception' | 'starting'} CellState
 *
 * @typedef {object} Cell  `says`: its name, its rank, what it does, and where.
 * @property {string} id
 * @property {CellState} state
 * @property {string} group
 * @property {string} says
 *
 * @typedef {{name: string, cells: Cell[]}} CellGroup
 */

/** What a state is in words, and as a sign: a colour alone says nothing to many. @type {Record<CellState, {sign: string, words: string}>} */
export const STATES = {
  exception: {sign: '!', words: 'at an exception'},
  breakpoint: {sign: '●', words: 'at a breakpoint'},
  paused: {sign: '■', words: 'paused'},
  running: {sign: '▸', words: 'running'},
  starting: {sign: '…', words: 'starting'},
};

/** Labels that tell groups apart, the best first. */
const LABELS = ['host', 'node', 'pod', 'job', 'task', 'worker', 'name'];

export const BY_STATE = 'state';
export const BY_PLACE = 'where they are';
const TOGETHER = 'nothing';

/** @param {Process} process @returns {CellState} */
export function stateOf({state, pauseReason}) {
  if (state === 'Starting') return 'starting';
  if (state !== 'Paused') return 'running';
  if (pauseReason === 'Exception') return 'exception';
  return /Breakpoint$/.test(pauseReason ?? '') ? 'breakpoint' : 'paused';
}

/** By what these can be grouped: labels of which there are several values, but not one for each. @param {Process[]} processes */
export function groupings(processes) {
  const labels = LABELS.filter((label) => {
    const values = new Set(processes.map(({labels = {}}) => labels[label]));
    return values.size > 1 && values.size <= processes.length / 2;
  });
  return [...labels, TOGETHER, BY_STATE, BY_PLACE];
}

/**
 * The cells of these processes in their groups: those of a label in the order of its values, else the smallest first.
 *
 * @param {Process[]} processes
 * @param {string} by  One of `groupings`.
 * @param {Map<string, Seen>} seen
 * @returns {CellGroup[]}
 */
export function cellGroups(processes, by, seen) {
  /** @type {Map<string, Cell[]>} */
  const groups = new Map();
  for (const process of [...processes].sort(inOrder)) {
    const cell = cellOf(process, by, seen.get(process.sessionId));
    const cells = groups.get(cell.group);
    if (cells) cells.push(cell);
    else groups.set(cell.group, [cell]);
  }
  const found = [...groups].map(([name, cells]) => ({name, cells}));
  const bySize = by === BY_STATE || by === BY_PLACE;
  return found.sort((one, other) => (bySize && one.cells.length - other.cells.length) || natural(one.name, other.name));
}

/** @param {Process} process @param {string} by @param {Seen | undefined} seen @returns {Cell} */
function cellOf(process, by, seen) {
  const {sessionId: id, processId, processName, labels = {}} = process;
  const state = stateOf(process);
  const {location, waitsFor = null} = state === 'running' ? seen ?? {location: null} : {location: process.currentLocation};
  const own = Object.entries(labels).filter(([label]) => label !== 'world_size').map(([label, value]) => `${label} ${value}`);
  const does = state === 'running' || state === 'starting' ? STATES[state].words : `paused ${whyPaused(process.pauseReason)}`.trim();
  const at = location ? `${location.functionName ? `in ${location.functionName} ` : ''}${place(location)}` : null;
  return {
    id, state,
    group: groupOf(by, state, labels, at),
    says: [own.join(', ') || null, processName && baseName(processName), id, processId && `pid ${processId}`, does, at, waitsFor && `waits for ${waitsFor}`].filter(Boolean).join(' · '),
  };
}

/** @param {string} by @param {CellState} state @param {Record<string, string>} labels @param {string | null} at */
function groupOf(by, state, labels, at) {
  if (by === TOGETHER) return '';
  if (by === BY_STATE) return STATES[state].words;
  if (by === BY_PLACE) return at ?? (state === 'running' ? 'running, not looked at' : STATES[state].words);
  return labels[by] === undefined ? `without ${by}` : `${by} ${labels[by]}`;
}

/** How many there are in each state. @param {CellGroup[]} groups */
export function countsOf(groups) {
  const counts = new Map();
  for (const {cells} of groups) for (const {state} of cells) counts.set(state, (counts.get(state) ?? 0) + 1);
  return /** @type {[CellState, number][]} */ (Object.keys(STATES).filter((state) => counts.has(state)).map((state) => [state, counts.get(state)]));
}

const COLLATOR = new Intl.Collator('en', {numeric: true});
const natural = (/** @type {string} */ one, /** @type {string} */ other) => COLLATOR.compare(one, other);

/** By rank, those without one last. @param {Process} one @param {Process} other */
const inOrder = (one, other) => rankOf(one) - rankOf(other) || natural(one.sessionId, other.sessionId);

/** @param {Process} process */
const rankOf = ({labels}) => (labels?.rank === undefined ? Number.MAX_SAFE_INTEGER : Number(labels.rank));
