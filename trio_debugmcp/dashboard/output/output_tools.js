// Searching in the output, and whether its long lines are broken.

import {byId, el} from '../view/dom.js';
import {createFind, rangesOf} from '../view/find.js';

const KEY = 'trio-debugmcp.wrap';

export function createOutputTools() {
  const view = byId('output');
  const wrap = el('button', {type: 'button', className: 'small', title: 'Break long lines', onclick: () => choose(view.dataset.wrap === 'off')}, 'Wrap');
  const find = createFind({label: 'Find in the output', view, search: (word) => rangesOf(view, word), show});
  byId('output-note').after(el('span', {className: 'tools'}, find.node, wrap));
  choose(localStorage.getItem(KEY) !== 'off');

  /** @param {boolean} wraps */
  function choose(wraps) {
    view.dataset.wrap = wraps ? 'on' : 'off';
    wrap.ariaPressed = String(wraps);
    localStorage.setItem(KEY, view.dataset.wrap);
  }

  /** @param {Range} range */
  function show(range) {
    range.startContainer.parentElement?.scrollIntoView({block: 'nearest'}); // lays out a part that was out of sight
    const [box, frame] = [range.getBoundingClientRect(), view.getBoundingClientRect()];
    if (box.top < frame.top || box.bottom > frame.bottom) view.scrollTop += box.top - frame.top - frame.height / 2.5;
    if (box.left < frame.left || box.right > frame.right) view.scrollLeft += box.left - frame.left - frame.width / 3;
  }
}
