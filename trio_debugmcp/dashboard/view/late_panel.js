// A button that was pressed, and to which there is no answer yet.

import {byId, el, setText} from './dom.js';
import {DONE_BY} from './late.js';

export function createLate(store) {
  const view = el('p', {id: 'late', className: 'late', role: 'status', hidden: true});
  byId('status').append(view);
  store.watch(['late'], ({late}) => {
    view.hidden = late === null;
    setText(view, late === null ? '' : `No answer yet to ${DONE_BY[late]}.`);
  });
}
