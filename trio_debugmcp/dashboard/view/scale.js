// Time to pixels. An agent thinks for minutes between bursts of milliseconds, so long silences are drawn short.

const SILENCE = 2;
const DRAWN_SILENCE = 0.6;

/** By what part the room for time grows at once: so that what is drawn stands still in between. */
const GROWTH = 1.1;

/**
 * A scale over moments (seconds, ascending), which grows as moments are added. What is drawn is in seconds from the first
 * moment, without what silences are longer than they are drawn.
 */
export class TimeScale {
  /** @type {number[]} */
  #moments = [];
  /** @type {number[]} */
  #drawn = [];
  /** The silences that were cut. @type {{from: number, to: number, seconds: number}[]} */
  breaks = [];

  /** @param {number} moment */
  add(moment) {
    const last = this.#moments.at(-1) ?? moment;
    const gap = Math.max(0, moment - last); // clocks are set back
    if (gap > SILENCE) this.breaks.push({from: last, to: moment, seconds: gap});
    this.#drawn.push((this.#drawn.at(-1) ?? 0) + (gap > SILENCE ? DRAWN_SILENCE : gap));
    this.#moments.push(moment);
  }

  /** Where the last moment is. */
  get end() {
    return this.#drawn.at(-1) ?? 0;
  }

  /** The room for what is drawn: the end, and up to a tenth more. */
  get room() {
    return this.end > 0 ? GROWTH ** Math.ceil(Math.log(this.end) / Math.log(GROWTH)) : 1;
  }

  /** Where one of the moments is. @param {number} index */
  at(index) {
    return this.#drawn[index];
  }

  /** Where any moment is. @param {number} moment */
  x(moment) {
    const [moments, drawn] = [this.#moments, this.#drawn];
    if (moments.length === 0) return 0;
    const right = firstFrom(moments, moment);
    if (right === 0 || moments[right] <= moment) return drawn[right];
    const portion = (moment - moments[right - 1]) / (moments[right] - moments[right - 1]);
    return drawn[right - 1] + portion * (drawn[right] - drawn[right - 1]);
  }
}

/** Return the index of the first that is not before a moment, or the last. @param {ArrayLike<number>} moments */
function firstFrom(moments, moment) {
  let low = 0;
  let high = moments.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moments[middle] < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
