// An axis of time for pictures: seconds as they passed, but for long silences, which are drawn short. Pure.

import {clock, clockWithMilliseconds} from '../view/words.js';

const SILENCE = 2;
const DRAWN_SILENCE = 0.6;

/**
 * @typedef {object} TimeAxis
 * @property {(moment: number) => number} place  Of a moment, in seconds.
 * @property {(place: number, step: number) => string} tick
 * @property {number[]} cuts  Where a silence is drawn short.
 * @property {number} to
 */

/** Make an axis from the first to the last of these moments, which ascend but for clocks that were set back. @param {number[]} moments @returns {TimeAxis} */
export function timeAxis(moments) {
  const start = moments[0] ?? 0;
  /** Between two of these it is straight. */
  const knots = [{moment: start, place: 0}];
  let last = start;
  for (const moment of moments) {
    const gap = moment - last;
    if (gap > SILENCE) {
      const place = placeIn(knots, last);
      knots.push({moment: last, place}, {moment, place: place + DRAWN_SILENCE});
    }
    last = Math.max(last, moment);
  }
  const to = placeIn(knots, last);
  knots.push({moment: last, place: to});
  const cuts = knots.flatMap(({moment, place}, index) => {
    const next = knots[index + 1];
    const gap = next ? next.moment - moment : 0;
    return next && gap > next.place - place + 1e-6 ? [(place + next.place) / 2] : [];
  });
  return {
    cuts,
    to: Math.max(to, 1e-3),
    place: (moment) => placeIn(knots, Math.min(moment, last)),
    tick: (place, step) => tickOf(momentIn(knots, place), step),
  };
}

/** @param {{moment: number, place: number}[]} knots @param {number} moment */
function placeIn(knots, moment) {
  const index = before(knots, 'moment', moment);
  const [one, next] = [knots[index], knots[index + 1]];
  if (!next || next.moment <= one.moment) return one.place + Math.max(0, moment - one.moment);
  return one.place + Math.min(1, Math.max(0, (moment - one.moment) / (next.moment - one.moment))) * (next.place - one.place);
}

/** @param {{moment: number, place: number}[]} knots @param {number} place */
function momentIn(knots, place) {
  const index = before(knots, 'place', place);
  const [one, next] = [knots[index], knots[index + 1]];
  if (!next || next.place <= one.place) return one.moment + (place - one.place);
  return one.moment + ((place - one.place) / (next.place - one.place)) * (next.moment - one.moment);
}

/** The last knot at or before a value. @param {{moment: number, place: number}[]} knots @param {'moment' | 'place'} by @param {number} value */
function before(knots, by, value) {
  let [low, high] = [0, knots.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (knots[middle][by] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @param {number} moment @param {number} step */
function tickOf(moment, step) {
  const iso = new Date(moment * 1000).toISOString();
  return step < 1 ? clockWithMilliseconds(iso) : clock(iso);
}
