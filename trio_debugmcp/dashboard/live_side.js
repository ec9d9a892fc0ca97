// The side of the store that what is now is written to, also while the page shows a stop of the past.

/** What of the page's state is of a moment. The session itself is not: buttons always act on now. */
const PINNED = ['stack', 'threads', 'frames', 'place', 'changed', 'event', 'watches'];

/** The store as the live side of the page writes it: while a past stop is shown, what is pinned is kept aside. */
export class LiveSide {
  /** @type {any} */
  #aside = null;

  /** @param {import('./store.js').Store} store */
  constructor(store) {
    this.store = store;
  }

  get state() {
    return this.#aside ? {...this.store.state, ...this.#aside} : this.store.state;
  }

  /** @param {any} parts */
  update(parts) {
    if (!this.#aside) {
      this.store.update(parts);
      return;
    }
    const shown = {};
    for (const [key, value] of Object.entries(parts)) {
      if (key in this.#aside) this.#aside[key] = value;
      else shown[key] = value;
    }
    this.store.update(shown);
  }

  /** @param {string[]} keys @param {(state: any) => void} draw */
  watch(keys, draw) {
    this.store.watch(keys, draw);
  }

  /** Show these parts in the place of what is now. @param {any} parts */
  pin(parts) {
    this.#aside ??= Object.fromEntries(PINNED.map((key) => [key, this.store.state[key]]));
    this.store.update(parts);
  }

  /** Show again what is now. @param {any} parts  What else changes with it. */
  release(parts) {
    const aside = this.#aside;
    if (!aside) return;
    this.#aside = null;
    // Watches may have been added and removed meanwhile: their values are those of now.
    const known = new Map(aside.watches.map((watch) => [watch.expression, watch]));
    const watches = this.store.state.watches.map(({expression}) => known.get(expression) ?? {expression});
    this.store.update({...aside, watches, ...parts});
  }
}
