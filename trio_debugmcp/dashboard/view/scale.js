// Time to pixels. An agent thinks for minutes between bursts of milliseconds, so long silences are drawn short.

const SILENCE = 2;
const DRAWN_SILENCE = 0.6;

/**
 * Make a scale over moments (seconds, ascending): `x(moment)` is 0 to 1, `at(index)` the same for one of the moments;
 * `breaks` are the silences that were cut.
 *
 * @param {number[]} moments
 */
export function timeScale(moments) {
  const drawn = new Float64Array(moments.length);
  const breaks = [];
  for (let index = 1; index < moments.length; index += 1) {
    const [from, to] = [moments[index - 1], moments[index]];
    const gap = Math.max(0, to - from); // clocks are set back
    drawn[index] = drawn[index - 1] + (gap > SILENCE ? DRAWN_SILENCE : gap);
    if (gap > SILENCE) breaks.push({from, to, seconds: gap});
  }
  const whole = drawn.at(-1) || 1;

  /** @param {number} moment */
  function x(moment) {
    if (moments.length === 0) return 0;
    const right = firstFrom(moments, moment);
    if (right === 0 || moments[right] <= moment) return drawn[right] / whole;
    const portion = (moment - moments[right - 1]) / (moments[right] - moments[right - 1]);
    return (drawn[right - 1] + portion * (drawn[right] - drawn[right - 1])) / whole;
  }

  return {breaks, x, at: (/** @type {number} */ index) => drawn[index] / whole, whole};
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
