// Who is connected, and the tools that they call, as it happens.

import {byId, el, setText} from '../dom.js';
import {isBookkeeping} from '../events.js';
import {drawListbox} from '../listbox.js';
import {brief, clock, duration, plural} from '../words.js';

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

export function createClients(store) {
  const list = byId('clients');
  const note = byId('clients-note');
  store.watch(['events', 'link'], ({events, link}) => {
    const clients = connected(events);
    setText(note, link.status !== 'open' ? 'as last seen' : '');
    list.replaceChildren(
      ...clients.map(({name, version, role, count}) =>
        el(
          'li',
          {className: 'row'},
          el('span', {className: 'dot client'}),
          el('span', {className: 'grow name'}, name ?? 'unnamed', count > 1 ? el('span', {className: 'detail'}, plural(count, 'connection')) : null),
          el('span', {className: 'where'}, [role === 'control' ? 'in control' : role && 'observing', version].filter(Boolean).join(' · ')),
        ),
      ),
    );
  });
}

/** Who joined and has not left. Who calls without having been seen to join came before what the timeline still has. */
function connected(events) {
  const present = new Map();
  for (const {type, payload} of events) {
    if (type === 'toolCalled' && payload.client) {
      const known = [...present.values()].some(({name, count}) => name === payload.client && count > 0);
      if (!known) present.set(payload.client, {name: payload.client, count: 1});
    }
    if (type !== 'clientJoined' && type !== 'clientLeft') continue;
    const key = [payload.name, payload.version, payload.role].join(' ');
    const before = present.get(key) ?? {...payload, count: 0};
    present.set(key, {...before, count: Math.max(0, before.count + (type === 'clientJoined' ? 1 : -1))});
    if (type === 'clientLeft') present.delete(payload.name);
  }
  return [...present.values()].filter(({count}) => count > 0);
}
