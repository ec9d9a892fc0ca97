// The state of the page in one object; each view is drawn again when a part that it depends on is replaced.

export class Store {
  #views = [];
  #changed = new Set();

  constructor(initial) {
    this.state = initial;
  }

  /** Replace parts of the state. Views are drawn once for all changes of the same moment. */
  update(parts) {
    if (this.#changed.size === 0) queueMicrotask(() => this.#draw());
    for (const key of Object.keys(parts)) this.#changed.add(key);
    Object.assign(this.state, parts);
  }

  /** Draw now, and again whenever one of these parts was replaced. */
  watch(keys, draw) {
    this.#views.push({keys, draw});
    draw(this.state);
  }

  #draw() {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const {keys, draw} of this.#views) {
      if (keys.some((key) => changed.has(key))) draw(this.state);
    }
  }
}
