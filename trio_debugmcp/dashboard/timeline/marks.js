// The marks of a timeline: events that would overlap are one mark. Only those that can be seen are in the document, and
// a redraw makes nodes for new marks only: the others are moved.

import {svg} from '../view/dom.js';
import {LANES, wordsOf} from './events.js';
import {clock, plural} from '../view/words.js';

export const LANE = 18;
export const AXIS = 16;
export const HEIGHT = AXIS + LANES.length * LANE;

/** Marks that are nearer are one. */
export const NEAR = 9;

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent @typedef {import('./course.js').Cluster} Cluster */

/** @param {number} lane */
export const middle = (lane) => AXIS + lane * LANE + LANE / 2;

export class Marks {
  /** @type {Map<number, {node: SVGGElement, count: number, selected: boolean, x: number}>} */
  #drawn = new Map();
  /** @type {Cluster[]} */
  #clusters = [];
  /** @type {TimelineEvent | null} */
  #chosen = null;
  #tabbable = 0;
  /** What was drawn of the axis. */
  #view = '';
  /** Where a place on the axis is, in pixels. @type {(at: number) => number} */
  #pixels = (at) => at;

  /**
   * @param {SVGGElement} group  What the marks are put into.
   * @param {(event: TimelineEvent) => void} onChoose
   */
  constructor(group, onChoose) {
    this.group = group;
    this.onChoose = onChoose;
    group.addEventListener('click', (event) => this.#choose(this.#at(event.target)));
    group.addEventListener('keydown', (event) => this.#pressed(event));
  }

  /**
   * Say which of how many the mark is that gets the focus: the others may be out of sight. What is around the picture listens
   * for that, as Tab would also lead to a group of an SVG that does.
   *
   * @param {EventTarget | null} element
   */
  count(element) {
    const cluster = this.#at(element);
    if (cluster === undefined) return;
    const mark = this.#drawn.get(cluster.key)?.node;
    mark?.setAttribute('aria-posinset', String(this.#clusters.indexOf(cluster) + 1));
    mark?.setAttribute('aria-setsize', String(this.#clusters.length));
  }

  /**
   * Draw the marks between two places, in pixels, and the one that has the keyboard's focus, wherever it is.
   *
   * @param {import('./course.js').Clusters} clusters
   * @param {{left: number, right: number, pixels: (at: number) => number}} view
   * @param {TimelineEvent | null} chosen
   */
  draw(clusters, {left, right, pixels}, chosen) {
    const [found, touched] = [clusters.all, clusters.touched];
    clusters.touched = new Set();
    const view = `${left} ${right} ${pixels(0)} ${pixels(1)}`;
    const isSame = found === this.#clusters && chosen === this.#chosen && view === this.#view;
    [this.#clusters, this.#chosen, this.#pixels, this.#view] = [found, chosen, pixels, view];
    const isSeen = (/** @type {Cluster} */ {at}) => pixels(at) >= left && pixels(at) <= right;
    if (isSame && chosen === null) {
      for (const cluster of touched) if (isSeen(cluster)) this.#append(cluster);
      this.#reachable(found.at(-1)?.key ?? 0);
      return;
    }
    const focused = this.#at(document.activeElement)?.key;
    const wanted = found.filter((cluster) => isSeen(cluster) || cluster.key === focused);
    const selected = chosen && found.find(({events}) => events.includes(chosen));
    this.#reachable((selected ?? found.at(-1))?.key ?? 0);
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

  /** Draw a mark that has grown, or a new one, which is the last. @param {Cluster} cluster */
  #append(cluster) {
    const node = this.#nodeOf(cluster, false);
    if (!node.isConnected) this.group.append(node);
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

  /** The Tab key leads to one mark, and to the one that has the focus. @param {number} key */
  #reachable(key) {
    const before = this.#drawn.get(this.#tabbable)?.node;
    if (key !== this.#tabbable && before !== document.activeElement) before?.setAttribute('tabindex', '-1');
    this.#tabbable = key;
    this.#drawn.get(key)?.node.setAttribute('tabindex', '0');
  }

  /** @param {Cluster} cluster @param {boolean} selected */
  #nodeOf(cluster, selected) {
    const {key, at, events, lane} = cluster;
    let drawn = this.#drawn.get(key);
    if (drawn?.count !== events.length || drawn.selected !== selected) {
      const node = markNode(cluster, selected);
      const focused = drawn !== undefined && drawn.node === document.activeElement;
      node.setAttribute('tabindex', key === this.#tabbable || focused ? '0' : '-1');
      drawn?.node.replaceWith(node);
      if (focused) node.focus();
      drawn = {node, count: events.length, selected, x: Number.NaN};
      this.#drawn.set(key, drawn);
    }
    const x = Math.round(this.#pixels(at) * 10) / 10;
    if (drawn.x !== x) {
      drawn.x = x;
      drawn.node.setAttribute('transform', `translate(${x} ${middle(lane)})`);
    }
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
