// What to do when there is nothing to see.

import {byId, el} from './dom.js';

export function createEmpty(store) {
  const view = byId('empty');
  store.watch(['active', 'place', 'link', 'last', 'session', 'role'], ({active, place, link, last, session, role}) => {
    const runs = active && session !== null && session.state !== 'Paused';
    const show = place === null && (runs || (link.status === 'open' && !active));
    view.hidden = !show;
    byId('source').hidden = show;
    if (show) view.replaceChildren(...(runs ? running(role) : words(last)));
  });
}

/** @param {string | null} role */
function running(role) {
  const how = 'Pause stops it where it is. “Go to…” opens a file of it, for a breakpoint.';
  return [
    el('h3', {}, 'The program runs'),
    el('p', {}, 'It has not stopped yet. Where it stops, its source is shown here.'),
    ...(role === 'control' ? [el('p', {}, how)] : []),
  ];
}

function words(last) {
  const parts = [
    el('h3', {}, last ? 'The debug session has ended' : 'No debug session yet'),
    last?.problem ? el('p', {}, last.problem) : null,
    el('p', {}, 'This page follows the session as soon as one starts; there is nothing to reload.'),
    el('p', {}, 'Ask the agent that is connected to this server to debug a program:'),
    el('blockquote', {}, 'Launch app.py under the debugger, stop where the total is wrong, and tell me why.'),
    el('p', {}, 'or call the tool yourself from any MCP client:'),
    el('pre', {}, 'debug_launch {"program": "app.py"}'),
  ];
  return parts.filter((part) => part !== null);
}
