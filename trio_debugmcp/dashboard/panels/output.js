// The output of the program and of the debugger; the view stays at the end unless the user has scrolled up.

import {byId, el, setText} from '../dom.js';
import {clock, plural} from '../words.js';

export function createOutput(store) {
  const view = byId('output');
  const note = byId('output-note');
  let drawn = [];

  store.watch(['output'], ({output}) => {
    const {entries, dropped} = output;
    const atEnd = view.scrollTop + view.clientHeight > view.scrollHeight - 8;
    const keep = continues(drawn, entries);
    if (!keep) view.replaceChildren();
    for (const entry of keep ? entries.slice(entries.indexOf(keep) + 1) : entries) view.append(piece(entry));
    while (view.childElementCount > entries.length) view.firstElementChild.remove();
    drawn = entries;
    setText(note, dropped ? `${plural(dropped, 'earlier entry').replace('entrys', 'entries')} not kept` : '');
    if (atEnd) view.scrollTop = view.scrollHeight;
  });
}

/** Return the entry up to which the new list repeats what is drawn, or null if it is another list. */
function continues(drawn, entries) {
  const last = drawn.at(-1);
  if (last === undefined) return null;
  return entries.find(({seq, time, text}) => seq === last.seq && time === last.time && text === last.text) ?? null;
}

const piece = ({stream, text, time}) =>
  el('span', {className: `piece ${stream}`, title: `${stream}, ${clock(time)}`}, text);
