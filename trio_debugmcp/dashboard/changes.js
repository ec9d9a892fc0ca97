// What changed since the last stop: remembers the locals of each live call, and compares them with the next capture.

export class Changes {
  #calls = new Map();
  #stop = null;
  #marks = new Map();

  /**
   * Map the path of each variable of this capture that is new or differs to its previous value, or null if it is new.
   * A capture that is read twice (its locals arrive later, or were refreshed) is still compared with the stop before.
   */
  since(stack) {
    const {locals, frames, capturedAt} = stack;
    if (!locals || frames.length === 0) return this.#stop === capturedAt ? this.#marks : new Map();
    const depth = stack.total || frames.length;
    const call = `${stack.threadId} ${depth} ${frames[0].name} ${frames[0].location.file}`;
    if (this.#stop !== capturedAt) {
      this.#stop = capturedAt;
      for (const [key, {depth: other}] of this.#calls) if (other > depth) this.#calls.delete(key);
      this.before = this.#calls.get(call)?.values ?? null;
    }
    const values = new Map(locals.map(({path, value}) => [path, value]));
    this.#calls.set(call, {depth, values});
    this.#marks = new Map();
    if (this.before) {
      for (const [path, value] of values) {
        if (!this.before.has(path)) this.#marks.set(path, null);
        else if (this.before.get(path) !== value) this.#marks.set(path, this.before.get(path));
      }
    }
    return this.#marks;
  }
}
