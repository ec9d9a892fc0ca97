// What to do when there is nothing to see.

import {byId, el} from '../dom.js';

export function createEmpty(store) {
  const view = byId('empty');
  store.watch(['active', 'place', 'link', 'last'], ({active, place, link, last}) => {
    const show = link.status === 'open' && !active && place === null;
    view.hidden = !show;
    byId('source').hidden = show;
    if (show) view.replaceChildren(...words(last));
  });
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
