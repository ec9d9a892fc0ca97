// The marks of a timeline: events that would overlap are one mark. Only those that can be seen are in the document, and
// a redraw makes nodes for new marks only: the others are moved.

import {svg} from '../view/dom.js';
import {LANES, laneOf, wordsOf} from './events.js';
import {clock, plural} from '../view/words.js';

export const LANE = 18;
export const AXIS = 16;
export const HEIGHT = AXIS + LANES.length * LANE;

const NEAR = 9;

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */
/** @typedef {{key: number, lane: number, x: number, events: TimelineEvent[]}} Cluster */

/** @param {number} lane */
export const middle = (lane) => AXIS + lane * LANE + LANE / 2;

/**
 * Merge marks that would overlap into one with their number.
 *
 * @param {TimelineEvent[]} events
 * @param {(index: number) => number} at  Where an event is, in pixels.
 * @returns {Cluster[]}
 */
export function clusters(events, at) {
  const open = new Array(LANES.length);
  const all = [];
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index];
    const lane = laneOf(event);
    const x = at(index);
    const current = open[lane];
    if (current && x - current.x < NEAR) current.events.push(event);
    else all.push((open[lane] = {key: event.eventId, lane, x, events: [event]}));
  }
  return all;
}

export class Marks {
  /** @type {Map<number, {node: SVGGElement, looks: string, x: number}>} */
  #drawn = new Map();
  /** @type {Cluster[]} */
  #clusters = [];
  /** @type {TimelineEvent | null} */
  #chosen = null;
  #tabbable = 0;

  /**
   * @param {SVGGElement} group  What the marks are put into.
   * @param {(event: TimelineEvent) => void} onChoose
   */
  constructor(group, onChoose) {
    this.group = group;
    this.onChoose = onChoose;
    group.addEventListener('click', (event) => this.#choose(this.#at(event.target)));
    group.addEventListener('keydown', (event) => this.#pressed(event));
    group.addEventListener('focusin', (event) => this.#count(event.target));
  }

  /** Say which of how many a mark is: the others may be out of sight. @param {EventTarget | null} element */
  #count(element) {
    const cluster = this.#at(element);
    if (cluster === undefined) return;
    const mark = this.#drawn.get(cluster.key)?.node;
    mark?.setAttribute('aria-posinset', String(this.#clusters.indexOf(cluster) + 1));
    mark?.setAttribute('aria-setsize', String(this.#clusters.length));
  }

  /**
   * Draw the marks between two places, in pixels, and the one that has the keyboard's focus, wherever it is.
   *
   * @param {Cluster[]} found
   * @param {number} left
   * @param {number} right
   * @param {TimelineEvent | null} chosen
   */
  draw(found, left, right, chosen) {
    [this.#clusters, this.#chosen] = [found, chosen];
    const focused = this.#at(document.activeElement)?.key;
    const wanted = found.filter(({key, x}) => (x >= left && x <= right) || key === focused);
    const selected = chosen && found.find(({events}) => events.includes(chosen));
    this.#tabbable = (selected ?? found.at(-1))?.key ?? 0;
    const gone = new Set(this.#drawn.keys());
    for (const {key} of wanted) gone.delete(key);
    for (const key of gone) {
      this.#drawn.get(key)?.node.remove();
      this.#drawn.delete(key);
    }
    /** @type {Element | null} */
    let next = this.group.firstElementChild;
    for (const cluster of wanted) {
      const before = this.#drawn.get(cluster.key)?.node;
      const node = this.#nodeOf(cluster, cluster === selected);
      if (next && before === next) next = node; // it was replaced by one that looks different
      if (node === next) next = next.nextElementSibling;
      else this.group.insertBefore(node, next);
    }
  }

  /** Move the focus to the mark after or before the one that has it. @param {1 | -1} step */
  walk(step) {
    const index = this.#clusters.findIndex(({key}) => key === this.#at(document.activeElement)?.key);
    const next = this.#clusters[index + step];
    if (index < 0 || next === undefined) return;
    const node = this.#nodeOf(next, false); // it may be out of sight
    if (!node.isConnected) this.group.append(node);
    node.setAttribute('tabindex', '0');
    node.focus();
    node.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  /** @param {Cluster} cluster @param {boolean} selected */
  #nodeOf(cluster, selected) {
    const {key, x, events} = cluster;
    const looks = `${events.length} ${events.at(-1)?.eventId} ${selected}`;
    let drawn = this.#drawn.get(key);
    if (drawn?.looks !== looks) {
      const node = markNode(cluster, selected);
      const focused = drawn?.node === document.activeElement;
      drawn?.node.replaceWith(node);
      if (focused) node.focus();
      drawn = {node, looks, x: Number.NaN};
      this.#drawn.set(key, drawn);
    }
    if (Math.abs(drawn.x - x) >= 0.1 || Number.isNaN(drawn.x)) {
      drawn.x = x;
      drawn.node.setAttribute('transform', `translate(${x.toFixed(1)} ${middle(cluster.lane)})`);
    }
    const tabindex = key === this.#tabbable || drawn.node === document.activeElement ? '0' : '-1';
    if (drawn.node.getAttribute('tabindex') !== tabindex) drawn.node.setAttribute('tabindex', tabindex);
    return drawn.node;
  }

  /** Return the cluster whose mark an element is in. @param {EventTarget | null} element */
  #at(element) {
    const mark = element instanceof Element ? element.closest('.mark') : null;
    if (mark === null || !this.group.contains(mark)) return undefined;
    const key = Number(mark.getAttribute('data-key'));
    return this.#clusters.find((each) => each.key === key);
  }

  /**
   * Choose the last stop of a merged mark, which looks like one, or else its last event; chosen again, it shows its events
   * one by one, back from there. @param {Cluster | undefined} cluster
   */
  #choose(cluster) {
    if (cluster === undefined) return;
    const index = this.#chosen ? cluster.events.indexOf(this.#chosen) : -1;
    const first = cluster.events.findLast(({type}) => type === 'stopped') ?? cluster.events[cluster.events.length - 1];
    this.onChoose(index > 0 ? cluster.events[index - 1] : first);
  }

  /** @param {KeyboardEvent} pressed */
  #pressed(pressed) {
    if (pressed.key === 'ArrowRight' || pressed.key === 'ArrowLeft') this.walk(pressed.key === 'ArrowRight' ? 1 : -1);
    else if (pressed.key === 'Enter' || pressed.key === ' ') this.#choose(this.#at(pressed.target));
    else return;
    pressed.preventDefault();
  }
}

/** @param {Cluster} cluster @param {boolean} selected */
function markNode({key, events}, selected) {
  const last = events[events.length - 1];
  const event = events.find(({type}) => type === 'sessionEnded' || type === 'stopped') ?? last;
  const heap = events.length > 1 ? `${plural(events.length, 'event')}, the last: ` : '';
  const words = heap + wordsOf(heap ? last : event);
  return svg(
    'g',
    {
      class: `mark ${event.type}${events.length > 1 ? ' many' : ''}`,
      role: 'option',
      'aria-selected': String(selected),
      'aria-label': `${clock(event.timestamp)} ${words}`,
      'data-key': key,
      'data-id': event.eventId,
      'data-type': event.type,
    },
    svg('title', {}, `${clock(event.timestamp)}  ${words}`),
    svg('rect', {class: 'hit', x: -7, y: -8, width: 14, height: 16}),
    shape(event),
  );
}

/** @param {TimelineEvent} event */
function shape({type, payload}) {
  switch (type) {
    case 'exception':
      return svg('path', {class: 'shape', d: 'M0 -6 L6 5 L-6 5 Z'});
    case 'output':
      return svg('rect', {class: `shape ${payload.stream}`, x: -1.5, y: -5, width: 3, height: 10, rx: 1});
    case 'stopped':
      return svg('path', {class: 'shape', d: 'M-4.5 -5 h3 v10 h-3 z M1.5 -5 h3 v10 h-3 z'});
    case 'continued':
      return svg('path', {class: 'shape', d: 'M-4 -5 L5 0 L-4 5 Z'});
    case 'sessionStarted':
    case 'sessionEnded':
      return svg('rect', {class: 'shape', x: -4.5, y: -4.5, width: 9, height: 9, rx: 1.5});
    case 'toolCalled':
      return svg('rect', {class: `shape${payload.error ? ' failed' : ''}`, x: -3, y: -5, width: 6, height: 10, rx: 3});
    case 'stepped':
      return svg('circle', {class: 'shape', r: 2.5});
    default:
      return svg('circle', {class: 'shape', r: 4.5});
  }
}
