// What a timeline draws behind its marks: the program's state, how long calls took, silences, gaps, and the time.

import {svg} from '../view/dom.js';
import {laneOf} from './events.js';
import {AXIS, HEIGHT, LANE, middle} from './marks.js';
import {clock, clockWithMilliseconds, duration} from '../view/words.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */
/** @typedef {{from: number, to: number}} Span */

const TICK_PIXELS = 150;
const CLOCK_PIXELS = 50;
const FINE_CLOCK_PIXELS = 74;

export const CALL_LANE = laneOf({type: 'toolCalled'});

/**
 * Return spans as one path: there are thousands of them. Those that are nearer than a pixel are one.
 *
 * @param {Span[]} spans  On the axis, ascending.
 * @param {{left: number, right: number, pixels: (at: number) => number}} view  What can be seen of it, in pixels.
 * @param {{y: number, height: number}} box
 * @param {number} [least]  Pixels: shorter ones are left out.
 */
export function pathOf(spans, {left, right, pixels}, {y, height}, least = 0) {
  let path = '';
  let from = 0;
  let to = -1;
  const close = () => {
    if (to >= from) path += `M${from.toFixed(1)} ${y}h${Math.max(1, to - from).toFixed(1)}v${height}H${from.toFixed(1)}z`;
  };
  for (const each of spans) {
    const span = {from: pixels(each.from), to: pixels(each.to)};
    if (span.to < left || span.from > right || span.to - span.from < least) continue;
    if (to >= from && span.from - to < 1) to = Math.max(to, span.to);
    else {
      close();
      [from, to] = [Math.max(span.from, left), span.to];
    }
    to = Math.min(to, right);
  }
  close();
  return path;
}

export const BAND = {y: AXIS + 2, height: LANE - 4};

/** @param {number} lane */
export const callBox = (lane) => ({y: middle(lane) - 2.5, height: 5});

/** Draw a silence that is cut short. @param {Span & {seconds: number}} silence */
export function silence({from, to, seconds}) {
  const [left, right] = [from + 6, to - 6];
  if (right - left < 6) return [];
  const area = svg('rect', {class: 'silence', x: left, y: AXIS, width: right - left, height: HEIGHT - AXIS});
  if (right - left <= 34) return [area];
  const place = {x: (left + right) / 2, y: HEIGHT - 4, 'text-anchor': 'middle'};
  return [area, svg('text', {class: 'tick', ...place}, `+${duration(seconds)}`)];
}

/** Draw what is not here. @param {Span & {missing: number}} gap */
export function gapArea({from, to, missing}) {
  const width = Math.max(8, to - from);
  const words = `${missing} not loaded`;
  const title = svg('title', {}, words);
  const area = {class: 'unloaded', x: (from + to - width) / 2, y: AXIS, width, height: HEIGHT - AXIS};
  const text = {class: 'tick', x: (from + to) / 2, y: HEIGHT - 4, 'text-anchor': 'middle'};
  return [svg('rect', area, title), ...(width > 80 ? [svg('text', text, words)] : [])];
}

/**
 * Return clock times along the axis, where there is room for them; with milliseconds, where they would be the same.
 *
 * @param {TimelineEvent[]} events
 * @param {(index: number) => number} at
 * @param {number} left
 * @param {number} right
 * @param {number} width
 * @param {number} [first]
 */
export function ticks(events, at, left, right, width, first = 0) {
  const shown = [];
  for (let index = first, x = at(first); index < events.length && x <= Math.min(right, width - CLOCK_PIXELS); ) {
    if (x >= left) shown.push({x, time: events[index].timestamp});
    index = firstBehind(at, x + TICK_PIXELS, index, events.length);
    x = at(index);
  }
  const plain = shown.map(({time}) => clock(time));
  const fine = plain.some((text, index) => text === plain[index + 1]);
  const last = width - (fine ? FINE_CLOCK_PIXELS : CLOCK_PIXELS); // so that its end is in sight
  return shown.map(({x, time}, index) => ({x: Math.min(x, last), text: fine ? clockWithMilliseconds(time) : plain[index]}));
}

/** Return the first of ascending places that is not before `x`. @param {(index: number) => number} at */
function firstBehind(at, x, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {{x: number, text: string}} one */
export const tick = ({x, text}) => svg('text', {class: 'tick', x: x.toFixed(1), y: 11}, text);
