// When the card looks whether the program has moved on: while it is seen, and ever more rarely.

const FIRST_SECONDS = 1;
const SECONDS = 5;
const MAX_SECONDS = 30;
const SLOWER = 1.25;

export class Freshness {
  #seen = false;
  #wanted = false;
  #seconds = FIRST_SECONDS;
  #timer = 0;
  #looking = false;

  /** @param {() => Promise<boolean>} look returns whether to look again */
  constructor(look) {
    this.look = look;
    new IntersectionObserver((entries) => {
      this.#seen = entries.some((each) => each.isIntersecting);
      this.#plan();
    }).observe(document.documentElement);
    document.addEventListener('visibilitychange', () => this.#plan());
  }

  /** Begin to look, at what has just been drawn. */
  start() {
    this.#wanted = true;
    this.#seconds = FIRST_SECONDS;
    this.#plan();
  }

  /** Look no more: what is shown is over, or the host does not let the card look. */
  stop() {
    this.#wanted = false;
    this.#plan();
  }

  #plan() {
    clearTimeout(this.#timer);
    // A card out of sight asks nothing: a long chat has many of them.
    if (!this.#wanted || !this.#seen || document.hidden || this.#looking) return;
    this.#timer = setTimeout(() => this.#turn(), this.#seconds * 1000);
  }

  async #turn() {
    this.#looking = true;
    this.#wanted = await this.look();
    this.#looking = false;
    this.#seconds = Math.min(MAX_SECONDS, Math.max(SECONDS, this.#seconds * SLOWER));
    this.#plan();
  }
}
