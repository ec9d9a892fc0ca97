// Whether the page is up to date: the state of the connection, since when it is lost, and what to do about it.

import {byId, el, setData, setText} from '../view/dom.js';
import {tokenIn} from './token.js';
import {clock} from '../view/words.js';

const CHIP = {
  connecting: 'Connecting…',
  open: 'Live',
  lost: 'Connection lost',
  refused: 'Refused',
  'no-token': 'No token',
};

const OPEN_THE_URL = 'Open the URL that the server printed when it started';

export function createConnection(store) {
  const chip = byId('link');
  const trouble = byId('trouble');
  const role = byId('role');
  const sentence = el('span');
  const countdown = el('span', {ariaHidden: 'true'}); // or screen readers would speak every second
  const form = tokenForm();
  trouble.replaceChildren(sentence, countdown);
  trouble.after(form);
  let timer = 0;

  function draw({link, freshAt}) {
    setData(document.body, 'link', link.status);
    setText(chip, CHIP[link.status]);
    const words = sentenceOf(link, freshAt);
    trouble.hidden = words === '';
    setText(sentence, words);
    form.hidden = link.status !== 'no-token' && link.status !== 'refused';
    clearInterval(timer);
    if (link.status === 'lost') timer = window.setInterval(() => count(link), 1000);
    count(link);
  }

  function count({status, retryAt}) {
    const seconds = Math.round(((retryAt ?? 0) - Date.now()) / 1000);
    setText(countdown, status !== 'lost' ? '' : seconds > 0 ? ` Next try in ${seconds} s.` : '');
  }

  store.watch(['link'], draw);
  store.watch(['freshAt'], ({freshAt}) => setData(document.body, 'seen', String(freshAt !== null)));
  store.watch(['role'], (state) => {
    role.hidden = state.role === null;
    role.dataset.role = state.role ?? '';
    setText(role, state.role === 'control' ? 'In control' : 'Observing');
    role.title =
      state.role === 'control'
        ? 'This page may control the program.'
        : 'This page only watches. Open the URL with the control token to take part.';
  });
}

function sentenceOf({status, detail}, freshAt) {
  const because = detail ? ` (${detail})` : '';
  const fresh = status === 'lost' && freshAt ? ` What you see is from ${clock(new Date(freshAt).toISOString())}.` : '';
  const again = ' Reconnecting…';
  switch (status) {
    case 'lost':
      return `Connection to the server lost${because}.${fresh}${again}`;
    case 'refused':
      return `The server refuses this page’s token${because}. ${OPEN_THE_URL}, or paste it here.`;
    case 'no-token':
      return `This page needs a token. ${OPEN_THE_URL}, with #token=… at its end, or paste it here.`;
    default:
      return '';
  }
}

/** A field for a token, or for the whole URL with one. */
function tokenForm() {
  const input = el('input', {
    type: 'password',
    name: 'token',
    className: 'typed',
    ariaLabel: 'Token, or URL with a token',
    placeholder: 'Token, or URL with a token',
    autocomplete: 'off',
  });
  const submitted = (event) => {
    event.preventDefault();
    const token = tokenIn(input.value);
    if (!token) return input.focus();
    form.reset();
    location.hash = new URLSearchParams({token}).toString(); // as if the URL had been opened
  };
  const form = el('form', {className: 'token', hidden: true, onsubmit: submitted}, input, el('button', {type: 'submit', className: 'button'}, 'Connect'));
  return form;
}
