// The error of the user's last action.

import {byId, el} from './dom.js';

const SECONDS = 12;

export function createNotice(store, actions) {
  const view = el('p', {id: 'notice', className: 'notice', role: 'alert', hidden: true});
  byId('status').append(view);
  /** @type {number | undefined} */
  let timer;
  store.watch(['notice'], ({notice}) => {
    clearTimeout(timer);
    view.hidden = notice === null;
    view.textContent = notice ?? '';
    if (notice) timer = setTimeout(actions.dismissNotice, SECONDS * 1000);
  });
}
