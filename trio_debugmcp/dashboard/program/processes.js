// Several processes: which of them the page shows, and names that distinguish them.

import {baseName} from '../view/words.js';

/**
 * @typedef {object} Process
 * @property {string} sessionId
 * @property {number | null} processId
 * @property {string | null} processName
 * @property {string} state
 * @property {string | null} pauseReason
 * @property {any} currentLocation
 * @property {string | null} parentSessionId
 * @property {Record<string, string>} [labels]  What tells it from its siblings.
 */

/** Tools that act on the session in focus, unless a call names another one. */
const OF_A_SESSION = new Set([
  'debug_disconnect', 'debug_restart', 'debug_state', 'debug_continue', 'debug_step', 'debug_run_to', 'debug_pause',
  'debug_goto', 'debug_wait', 'breakpoint_set_data', 'stacktrace_get', 'threads_list', 'tasks_list', 'variables_get',
  'variable_set', 'evaluate', 'evaluate_safe', 'exception_get_context', 'object_inspect', 'collection_summarize',
  'references_get', 'source_get', 'sources_list', 'modules_list', 'memory_read', 'process_read_output', 'process_write_input',
]);

/** Return the arguments of a call, about the process that the page shows. */
export const aboutShown = (name, args, chosen) =>
  chosen !== null && OF_A_SESSION.has(name) && !('session_id' in args) ? {...args, session_id: chosen} : args;

/** Chooses what is shown; `address(id)` has its resources read from now on. */
export class Chooser {
  #store;
  #follow;

  /**
   * @param {import('../store.js').Store} store
   * @param {import('./follow.js').Follow} follow
   * @param {{address: (id: string | null) => Promise<void> | undefined, blank: () => object}} ways
   */
  constructor(store, follow, {address, blank}) {
    this.#store = store;
    this.#follow = follow;
    this.address = address;
    this.blank = blank;
    store.watch(['sessions', 'active'], ({sessions, active, chosen}) => {
      if (chosen === null) return;
      // Its resources are gone with it. After the end of all, what was last seen of it stays.
      if (!active) this.#keepTo(null);
      else if (sessions && !sessions.sessions.some(({sessionId}) => sessionId === chosen)) this.choose(null);
    });
  }

  /** Show that process, and no other until it ends; null shows the one in focus. */
  choose(id) {
    const {chosen, session} = this.#store.state;
    if (id === chosen) return;
    // The one that is shown is kept to as well: the focus may have moved already, and the page learns that later.
    if (chosen !== null || id !== session?.sessionId) {
      // What is there is of another process.
      this.#store.update(this.blank());
      this.#follow.reset();
    }
    this.#keepTo(id);
  }

  #keepTo(id) {
    this.#store.update({chosen: id});
    this.address(id);
  }
}

/** All processes, of all programs. What waits for programs that dial in is none of them. @returns {Process[]} */
export function processesOf({sessions, session, active}) {
  /** @type {Process[]} */
  const all = (active && (sessions ?? session)?.sessions) || [];
  const parents = new Set(all.map(({parentSessionId}) => parentSessionId));
  return all.filter(({processId, sessionId}) => processId !== null || !parents.has(sessionId));
}

/** Labels that may stand for a process, the best first. */
const SHORT = ['rank', 'worker', 'pod', 'name', 'task'];

/** @param {Process} process */
function labelOf({labels = {}}) {
  const label = SHORT.find((each) => each in labels);
  if (label === undefined) return null;
  return label === 'name' || label === 'pod' ? labels[label] : `${label} ${labels[label]}`;
}

/**
 * Return a name for each process: that of its program with its label, numbered where several have it. What `-c` runs has
 * none: it is a child of its parent.
 *
 * @param {Process[]} processes
 * @returns {Map<string, string>}
 */
export function namesOf(processes) {
  const names = new Map();
  const counts = new Map();
  for (const process of processes) {
    const {sessionId, processName, parentSessionId} = process;
    const label = labelOf(process);
    const program = processName && !processName.startsWith('-') ? baseName(processName) : null;
    const known = label === null ? program : [program, label].filter(Boolean).join(' ');
    const parent = names.get(parentSessionId);
    const base = known ?? (parent ? `${parent} child` : 'a process');
    const number = (counts.get(base) ?? 0) + 1;
    counts.set(base, number);
    names.set(sessionId, known && number === 1 ? base : `${base} ${number}`);
  }
  return names;
}

/**
 * A name of `namesOf` in two parts: the program's, and what tells the process from its siblings, which is empty without labels.
 *
 * @param {string} name @param {Process} process @returns {[string, string]}
 */
export function partsOf(name, process) {
  const label = labelOf(process);
  const at = label === null ? -1 : name.lastIndexOf(label);
  return at < 1 ? [name, ''] : [name.slice(0, at - 1), name.slice(at)];
}

/**
 * Whose stop one of the past is, by the names that the list of processes has; with its pid if it is listed no more. Empty
 * if there was only ever the one that is shown.
 *
 * @param {{sessionId: string, processName: string | null, processId?: number | null}} past
 * @param {{session: any, sessions: any, active: boolean}} state
 */
export function ownerOf({sessionId, processName, processId = null}, state) {
  const processes = processesOf(state);
  const listed = namesOf(processes).get(sessionId);
  if (listed) return processes.length > 1 ? listed : '';
  const pid = processId === null ? '' : ` (pid ${processId})`;
  return `${processName === null ? sessionId : baseName(processName)}${pid}, which has ended`;
}

/** How many processes are between one and its program's first. @param {Process} process @param {Process[]} all */
export function depthOf({parentSessionId}, all) {
  const parent = all.find(({sessionId}) => sessionId === parentSessionId);
  return parent ? 1 + depthOf(parent, all) : 0;
}
