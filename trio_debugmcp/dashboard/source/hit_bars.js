// How often a line ran, or a breakpoint was hit, as a bar in the gutter. Pure, but for the node.

import {el} from '../view/dom.js';
import {shortCount} from '../view/words.js';

/** @param {Iterable<number>} counts */
export function mostOf(counts) {
  let most = 0;
  for (const count of counts) most = Math.max(most, count);
  return most;
}

/** How long the bar of a count is, of 1: each doubling is a step, as counts differ by thousands. @param {number} count @param {number} most */
export const shareOf = (count, most) => (count > 0 ? (1 + Math.log2(count)) / (1 + Math.log2(Math.max(count, most))) : 0);

/** How often a line ran, beside the gutter: as a number, and as a bar. @param {number} count @param {number} most */
export function ranNode(count, most) {
  const node = el('span', {className: 'ran', title: count ? `Ran ${count.toLocaleString('en')} times in this run` : ''}, count ? `${shortCount(count)}×` : '');
  node.style.setProperty('--bar', String(shareOf(count, most)));
  return node;
}
