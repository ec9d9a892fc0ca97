// What a timeline draws behind its marks: the program's state, how long calls took, silences, gaps, and the time.

import {svg} from '../view/dom.js';
import {laneOf, secondsOf} from './events.js';
import {AXIS, HEIGHT, LANE, middle} from './marks.js';
import {clock, clockWithMilliseconds, duration} from '../view/words.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */
/** @typedef {{from: number, to: number}} Span  In pixels. */
/** @typedef {(event: TimelineEvent) => number} Place  Where an event is, in pixels. */

const STATES = {sessionStarted: 'running', stopped: 'paused', continued: 'running', stepped: 'running'};

const TICK_PIXELS = 150;

/**
 * Return when the program was paused, and when it was running.
 *
 * @param {TimelineEvent[]} events
 * @param {Place} at
 * @param {string | null} stateNow
 */
export function states(events, at, stateNow) {
  const bands = {paused: /** @type {Span[]} */ ([]), running: /** @type {Span[]} */ ([])};
  /** @type {{state: 'paused' | 'running', since: number} | null} */
  let open = null;
  for (const event of events) {
    if (event.payload.parentSessionId || !(event.type in STATES || event.type === 'sessionEnded')) continue;
    if (open) bands[open.state].push({from: open.since, to: at(event)});
    open = event.type in STATES ? {state: STATES[event.type], since: at(event)} : null;
  }
  if (open && stateNow) bands[open.state].push({from: open.since, to: at(events[events.length - 1])});
  return bands;
}

/**
 * Return tool calls, each as long as it took; its event comes when it is done.
 *
 * @param {TimelineEvent[]} events
 * @param {(moment: number) => number} x
 */
export function callSpans(events, x) {
  const spans = [];
  for (const event of events) {
    if (event.type !== 'toolCalled') continue;
    const end = secondsOf(event);
    const span = {from: x(end - event.payload.milliseconds / 1000), to: x(end)};
    if (span.to - span.from >= 4) spans.push(span);
  }
  return spans;
}

/** @param {TimelineEvent[]} events */
export const callLane = (events) => laneOf(events.find(({type}) => type === 'toolCalled') ?? events[0]);

/**
 * Return spans as one path: there are thousands of them. Those that are nearer than a pixel are one.
 *
 * @param {Span[]} spans  Ascending.
 * @param {number} left
 * @param {number} right
 * @param {number} y
 * @param {number} height
 */
export function pathOf(spans, left, right, y, height) {
  let path = '';
  let from = 0;
  let to = -1;
  const close = () => {
    if (to >= from) path += `M${from.toFixed(1)} ${y}h${Math.max(1, to - from).toFixed(1)}v${height}H${from.toFixed(1)}z`;
  };
  for (const span of spans) {
    if (span.to < left || span.from > right) continue;
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
 * Draw clock times along the axis, where there is room for them; with milliseconds, where they would be the same.
 *
 * @param {TimelineEvent[]} events
 * @param {(index: number) => number} at
 * @param {number} left
 * @param {number} right
 * @param {number} width
 */
export function ticks(events, at, left, right, width) {
  const shown = [];
  let free = 0;
  for (let index = 0; index < events.length; index += 1) {
    const x = at(index);
    if (x < free || x > width - 50) continue;
    free = x + TICK_PIXELS;
    if (x >= left && x <= right) shown.push({x, time: events[index].timestamp});
  }
  const plain = shown.map(({time}) => clock(time));
  const fine = plain.some((text, index) => text === plain[index + 1]);
  return shown.map(({x, time}, index) =>
    svg('text', {class: 'tick', x: x.toFixed(1), y: 11}, fine ? clockWithMilliseconds(time) : plain[index]),
  );
}
