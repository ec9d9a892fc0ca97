// The tool calls of all clients, as they happen.

import {byId, el, setText} from '../dom.js';
import {isBookkeeping} from '../events.js';
import {drawListbox} from '../listbox.js';
import {brief, clock, duration} from '../words.js';

const SHOWN_CALLS = 100;

export function createActivity(store, actions) {
  const list = byId('activity');
  const note = byId('activity-note');
  store.watch(['events', 'event'], ({events, event}) => {
    const calls = events.filter((each) => each.type === 'toolCalled' && !isBookkeeping(each));
    setText(note, calls.length ? String(calls.length) : '');
    drawListbox(
      list,
      calls.slice(-SHOWN_CALLS).reverse().map((call) => callRow(call, event)),
      (key) => actions.showEvent(calls.find(({eventId}) => String(eventId) === key)),
    );
  });
}

function callRow({eventId, timestamp, payload}, chosen) {
  const {tool, arguments: args, milliseconds, error, client} = payload;
  const words = Object.entries(args).map(([name, value]) => `${name}: ${brief(value, 60)}`).join(', ');
  return {
    key: String(eventId),
    selected: chosen?.eventId === eventId,
    title: `${clock(timestamp)} ${client ?? ''}\n${words}`,
    dataset: {failed: String(error !== null)},
    content: [
      el(
        'span',
        {className: 'grow'},
        el('span', {className: 'name'}, tool),
        el('span', {className: 'detail'}, [client, words].filter(Boolean).join(' · ')),
      ),
      el('span', {className: 'where'}, error ?? duration(milliseconds / 1000)),
    ],
  };
}
