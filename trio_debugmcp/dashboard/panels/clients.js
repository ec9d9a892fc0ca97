// The connected clients, as far as the timeline shows them.

import {byId, el, setText} from '../dom.js';
import {PAGE_NAME} from '../mcp.js';
import {plural} from '../words.js';

const ROLES = {control: 'in control', observe: 'observing'};

export function createClients(store) {
  const list = byId('clients');
  const note = byId('clients-note');
  store.watch(['events', 'link', 'role'], ({events, link, role}) => {
    setText(note, link.status === 'open' ? '' : 'as last seen');
    list.replaceChildren(...withOurselves(connected(events), role).map(clientRow));
  });
}

function clientRow({name, version, role, count}) {
  const several = count > 1 ? el('span', {className: 'detail'}, plural(count, 'connection')) : null;
  return el(
    'li',
    {className: 'row'},
    el('span', {className: 'dot client'}),
    el('span', {className: 'grow'}, el('span', {className: 'name'}, name ?? 'unnamed'), several),
    el('span', {className: 'where'}, [ROLES[role], version].filter(Boolean).join(' · ')),
  );
}

/**
 * Return the clients that joined and have not left, and those that call tools, since the timeline may have begun after
 * they joined. At the start of every session the server records again who is connected.
 */
function connected(all) {
  const start = all.findLastIndex(({type, payload}) => type === 'sessionStarted' && payload.parentSessionId === null);
  const events = all.slice(Math.max(0, start));
  const present = new Map();
  const add = (key, client, change) => {
    const count = Math.max(0, (present.get(key)?.count ?? 0) + change);
    present.set(key, {...client, count});
  };
  for (const {type, payload} of events) {
    const key = `${payload.name} ${payload.version} ${payload.role}`;
    if (type === 'clientJoined') add(key, payload, 1);
    else if (type === 'clientLeft') {
      add(key, payload, -1);
      present.delete(payload.name);
    } else if (type === 'toolCalled' && payload.client && !isPresent(present, payload.client)) {
      add(payload.client, {name: payload.client}, 1);
    }
  }
  return [...present.values()].filter(({count}) => count > 0);
}

const isPresent = (present, client) => [...present.values()].some(({name, count}) => name === client && count > 0);

/** Add this page, the one client that is known for certain. */
function withOurselves(clients, role) {
  if (role === null) return clients;
  const ours = ({name, role: other}) => name === PAGE_NAME && (other ?? role) === role;
  const known = clients.find(ours) ?? {name: PAGE_NAME, count: 1};
  return [...clients.filter((client) => client !== known), {...known, role}];
}
