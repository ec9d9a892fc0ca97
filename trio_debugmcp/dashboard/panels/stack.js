// The call stack of the chosen thread.

import {byId, el, setText} from '../dom.js';
import {drawListbox} from '../listbox.js';
import {clock, place, plural} from '../words.js';

export function createStack(store, actions) {
  const list = byId('stack');
  const note = byId('stack-note');
  store.watch(['frames', 'stack'], ({frames, stack}) => {
    list.dataset.stale = String(stack?.stale ?? false);
    setText(note, noteOf(stack, frames));
    drawListbox(
      list,
      frames.list.map((frame, index) => ({
        key: String(index),
        selected: index === frames.index,
        title: frame.location.file ?? '',
        dataset: {foreign: String(!frame.isUserCode)},
        content: [
          el('span', {className: 'grow name'}, frame.name),
          el('span', {className: 'where'}, place(frame.location)),
        ],
      })),
      (key) => actions.selectFrame(Number(key)),
    );
  });
}

function noteOf(stack, frames) {
  if (stack?.stale && stack.capturedAt) return `as of ${clock(stack.capturedAt)}`;
  return frames.list.length === 0 ? '' : plural(Math.max(stack.total, frames.list.length), 'frame');
}
