// Time to pixels. An agent thinks for minutes between bursts of milliseconds, so long silences are drawn short.

const SILENCE = 2;
const DRAWN_SILENCE = 0.6;

/** Make a scale over moments (seconds, ascending): `x(moment)` is 0 to 1; `breaks` are the silences that were cut. */
export function timeScale(moments) {
  const knots = [];
  const breaks = [];
  let drawn = 0;
  moments.forEach((moment, index) => {
    if (index > 0) {
      const gap = moment - moments[index - 1];
      drawn += gap > SILENCE ? DRAWN_SILENCE : gap;
      if (gap > SILENCE) breaks.push({from: moments[index - 1], to: moment, seconds: gap});
    }
    knots.push({moment, drawn});
  });
  const whole = drawn || 1;
  return {breaks, x: (moment) => between(knots, moment) / whole};
}

function between(knots, moment) {
  if (knots.length === 0) return 0;
  let low = 0;
  let high = knots.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (knots[middle].moment < moment) low = middle + 1;
    else high = middle;
  }
  const right = knots[low];
  const left = knots[low - 1];
  if (left === undefined || right.moment <= moment) return right.drawn;
  return left.drawn + ((moment - left.moment) / (right.moment - left.moment)) * (right.drawn - left.drawn);
}
