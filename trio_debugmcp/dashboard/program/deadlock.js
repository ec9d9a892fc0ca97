// Dead-locks: who waits for whom, in words for the headline, and as a ring.

import {el, svg} from '../view/dom.js';

/** @typedef {import('./now.js').ThreadNow} ThreadNow */

/** Threads that the headline and the ring name; of a longer ring the rest is counted. */
const MOST_NAMED = 8;
const NAME_CHARACTERS = 14;

const WIDTH = 280;
const HEIGHT = 150;

/**
 * Return the threads of each dead-lock, in the order in which they wait.
 *
 * @param {{threads: ThreadNow[], deadlocks: number[][]}} answer
 * @returns {ThreadNow[][]}
 */
export function deadlocksOf({threads, deadlocks}) {
  const known = new Map(threads.map((thread) => [thread.id, thread]));
  return deadlocks.map((ids) => inOrder(ids.flatMap((id) => known.get(id) ?? []))).filter(({length}) => length > 0);
}

/** Put first what each waits for next, as far as its words tell. @param {ThreadNow[]} ring */
function inOrder(ring) {
  const ordered = ring.slice(0, 1);
  while (ordered.length < ring.length) {
    const held = /(?:held by|the end of|run by) thread (\d+)/.exec(ordered.at(-1)?.waitsFor ?? '')?.[1];
    const next = ring.find((thread) => String(thread.id) === held && !ordered.includes(thread));
    ordered.push(next ?? /** @type {ThreadNow} */ (ring.find((thread) => !ordered.includes(thread))));
  }
  return ordered;
}

/** @param {ThreadNow} thread */
export const nameOf = ({name, id}) => name ?? `Thread ${id}`;

/** A dead-lock as `ab → bc → ca → ab`. @param {ThreadNow[]} ring */
export function ringInWords(ring) {
  const names = ring.slice(0, MOST_NAMED).map(nameOf);
  const more = ring.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : []), names[0]].join(' → ');
}

/** Draw a dead-lock: each arrow leads from a thread to the one that has what it waits for. @param {ThreadNow[]} ring */
export function ringPicture(ring) {
  const shown = ring.slice(0, MOST_NAMED);
  const places = shown.map((_, index) => onEllipse(index / shown.length));
  const arrows = places.map((from, index) => arrow(from, places[(index + 1) % places.length]));
  const boxes = shown.map((thread, index) => box(thread, places[index]));
  const [top, bottom] = [Math.min(...places.map(({y}) => y)) - 15, Math.max(...places.map(({y}) => y)) + 15];
  const label = shown.map((thread) => `${nameOf(thread)} waits for ${thread.waitsFor ?? 'another'}`).join('; ');
  return el(
    'figure',
    {className: 'ring'},
    svg('svg', {viewBox: `0 ${top} ${WIDTH} ${bottom - top}`, role: 'img', 'aria-label': `Dead-lock: ${label}`}, ...arrows, ...boxes),
  );
}

/** @param {number} part  Of the way around, from the top. */
function onEllipse(part) {
  const angle = part * 2 * Math.PI - Math.PI / 2;
  return {x: WIDTH / 2 + Math.cos(angle) * (WIDTH / 2 - 54), y: HEIGHT / 2 + Math.sin(angle) * (HEIGHT / 2 - 18)};
}

/** @typedef {{x: number, y: number}} Point */

/** An arrow that ends between the boxes. @param {Point} from @param {Point} to */
function arrow(from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const along = {x: (to.x - from.x) / length, y: (to.y - from.y) / length};
  // As far from the middle of a box as its edge is in that direction.
  const edge = Math.min(52 / (Math.abs(along.x) || 0.01), 16 / (Math.abs(along.y) || 0.01));
  const [begin, end] = [edge, length - edge];
  const at = (distance, aside = 0) =>
    `${(from.x + along.x * distance - along.y * aside).toFixed(1)} ${(from.y + along.y * distance + along.x * aside).toFixed(1)}`;
  return svg('path', {
    class: 'arrow',
    d: `M${at(begin)} L${at(end)} M${at(end - 7, 4)} L${at(end)} L${at(end - 7, -4)}`,
  });
}

/** @param {ThreadNow} thread @param {Point} place */
function box(thread, {x, y}) {
  const name = nameOf(thread);
  const short = name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS - 1)}…` : name;
  return svg(
    'g',
    {},
    svg('rect', {x: (x - 50).toFixed(1), y: (y - 13).toFixed(1), width: 100, height: 26, rx: 6}),
    svg('text', {x: x.toFixed(1), y: (y + 4).toFixed(1), 'text-anchor': 'middle'}, short),
  );
}
