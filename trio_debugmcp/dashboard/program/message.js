// The message of an exception below the headline: three lines of it, and the rest on request.

import {byId, el, setText} from '../view/dom.js';
import {isWord} from '../view/words.js';

/** @param {import('../store.js').Store} store */
export function createMessage(store) {
  const view = byId('message');
  const text = el('p', {className: 'text', id: 'message-text'});
  const more = el('button', {type: 'button', className: 'more', 'aria-controls': text.id, onclick: toggled});
  view.replaceChildren(text, more);
  let whole = false;

  function toggled() {
    whole = !whole;
    fold();
  }

  function fold() {
    text.classList.toggle('folded', !whole);
    more.hidden = !whole && text.scrollHeight <= text.clientHeight + 1;
    more.ariaExpanded = String(whole);
    setText(more, whole ? 'less' : 'more');
  }

  store.watch(['session', 'active'], ({session, active}) => {
    const message = (active && session?.state === 'Paused' && !isWord(session.exception?.message) && session.exception?.message) || '';
    view.hidden = message === '';
    if (text.textContent === message) return;
    whole = false;
    setText(text, message);
    fold();
  });
  new ResizeObserver(fold).observe(text);
}
