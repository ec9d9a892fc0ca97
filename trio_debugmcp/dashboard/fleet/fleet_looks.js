// A look at all processes at once, when a person asks for it: where each is, and their stacks merged.

import {isAnswer} from '../connection/mcp.js';

/**
 * @typedef {{name: string, location: {file: string | null, line: number | null}}} BranchFrame
 * @typedef {{depth: number, count: number, who: string, frames: BranchFrame[], sessionIds: string[]}} Branch
 * @typedef {object} FleetSeen
 * @property {number} at  When, in the page's time.
 * @property {Map<string, {location: any, waitsFor: string | null}>} processes  By their sessions.
 * @property {Branch[]} tree
 * @property {number} totalBranches
 * @property {string} problem  Why there is nothing, if so.
 */

export class FleetLooks {
  #store;
  #looks = false;

  /** @param {import('../store.js').Store} store @param {(name: string, args: object) => Promise<any>} ask */
  constructor(store, ask) {
    this.#store = store;
    this.ask = ask;
    store.watch(['active'], ({active, fleet}) => {
      if (!active && fleet) store.update({fleet: null});
    });
  }

  /** Look; one look at a time. */
  look = async () => {
    if (this.#looks) return;
    this.#looks = true;
    try {
      const {processes = [], tree = [], totalBranches = tree.length} = await this.ask('fleet_state', {});
      const seen = new Map(processes.map(({sessionId, location, waitsFor}) => [sessionId, {location, waitsFor}]));
      this.#store.update({fleet: {at: Date.now(), processes: seen, tree, totalBranches, problem: ''}});
    } catch (error) {
      if (!isAnswer(error)) throw error;
      this.#store.update({fleet: {at: Date.now(), processes: new Map(), tree: [], totalBranches: 0, problem: error.message}});
    } finally {
      this.#looks = false;
    }
  };
}
