// The connected clients, as far as the timeline shows them.

import {byId, el, setText} from '../view/dom.js';
import {PAGE_NAME} from '../connection/mcp.js';
import {Roster} from './roster.js';
import {plural} from '../view/words.js';

const ROLES = {control: 'in control', observe: 'observing'};

export function createClients(store) {
  const list = byId('clients');
  const note = byId('clients-note');
  const names = el('span', {className: 'note when-folded'});
  note.before(names);
  const roster = new Roster();
  let drawn = '';
  store.watch(['events', 'link', 'role', 'people'], ({events, link, role, people}) => {
    const persons = new Set(people.clients.filter(({person}) => person).map(({name}) => name));
    setText(note, link.status === 'open' ? '' : 'as last seen');
    const rows = withOurselves(roster.clients(events), role).map((client) => ({client, isPerson: persons.has(client.name)}));
    const looks = JSON.stringify(rows);
    setText(names, rows.map(({client: {name, count, ours}}) => (ours ? 'this page' : `${name ?? 'unnamed'}${count > 1 ? ` × ${count}` : ''}`)).join(', '));
    if (looks !== drawn) list.replaceChildren(...rows.map(({client, isPerson}) => clientRow(client, isPerson)));
    drawn = looks;
  });
}

/** `person`: one sits at it, as at every page. */
function clientRow({name, version, role, count, ours = false}, person) {
  const release = version && name !== PAGE_NAME ? `v${version}` : null; // pages are as the server is
  const several = count > 1 ? el('span', {className: 'detail'}, plural(count, 'connection')) : null;
  return el(
    'li',
    {className: 'row'},
    el('span', {className: 'dot client'}),
    el('span', {className: 'grow'}, el('span', {className: 'name'}, `${name ?? 'unnamed'}${ours ? ' (this page)' : ''}`), several),
    el('span', {className: 'where'}, [person && name !== PAGE_NAME ? 'a person' : null, ROLES[role], release].filter(Boolean).join(' · ')),
  );
}

/** Add this page, the one client that is known for certain. */
function withOurselves(clients, role) {
  if (role === null) return clients;
  const ours = ({name, role: other}) => name === PAGE_NAME && (other ?? role) === role;
  const known = clients.find(ours) ?? {name: PAGE_NAME, count: 1};
  return [...clients.filter((client) => client !== known), {...known, role, ours: true}];
}
