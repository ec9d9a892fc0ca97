// The call stack of the chosen thread.

import {byId, el, redraw, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {moreRow} from '../view/more.js';
import {placeNode} from '../view/places.js';
import {clock, plural} from '../view/words.js';

export function createStack(store, actions) {
  const list = byId('stack');
  const note = byId('stack-note');
  const rest = el('div', {className: 'rest'});
  list.after(rest);
  store.watch(['frames', 'stack'], ({frames, stack}) => {
    list.dataset.stale = String(frames.seenAt ? false : stack?.stale ?? false);
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
          placeNode(frame.location),
        ],
      })),
      (key) => actions.selectFrame(Number(key)),
    );
    const load = stack?.stale === false ? () => actions.lists.moreFrames() : null;
    redraw(rest, [moreRow(frames.list.length, totalOf(stack, frames), load)].filter((each) => each !== null));
  });
}

/** How many frames the thread has, of which a stop brings the first. */
const totalOf = (stack, frames) =>
  Math.max(frames.total ?? (frames.threadId === stack?.threadId ? stack?.total ?? 0 : 0), frames.list.length);

function noteOf(stack, frames) {
  if (frames.seenAt) return `seen at ${clock(frames.seenAt)}`; // it runs, and was asked
  if (stack?.stale && stack.capturedAt) return `as of ${clock(stack.capturedAt)}`;
  return frames.list.length === 0 ? '' : plural(totalOf(stack, frames), 'frame');
}
