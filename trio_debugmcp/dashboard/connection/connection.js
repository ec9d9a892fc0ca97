// Whether the page is up to date: the state of the connection, since when it is lost, and what to do about it.

import {byId, el, setData, setText} from '../view/dom.js';
import {tokenIn} from './token.js';
import {clock, duration} from '../view/words.js';

const CHIP = {
  connecting: 'Connecting…',
  open: 'Live',
  silent: 'No answer',
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
  const rest = el('span');
  trouble.replaceChildren(sentence, countdown, rest);
  trouble.after(form);
  let timer = 0;

  function draw({link, freshAt}) {
    const status = link.silentSince ? 'silent' : link.status;
    setData(document.body, 'link', status);
    setText(chip, CHIP[status]);
    const words = sentenceOf(link, freshAt);
    trouble.hidden = words === '';
    setText(sentence, words);
    setText(rest, link.silentSince ? `.${seenAt(link.silentSince)}` : '');
    form.hidden = link.status !== 'no-token' && link.status !== 'refused';
    clearInterval(timer);
    if (link.status === 'lost' || link.silentSince) timer = window.setInterval(() => count(link), 1000);
    count(link);
  }

  function count({status, retryAt, silentSince}) {
    const seconds = Math.round(((status === 'lost' ? retryAt : silentSince) - Date.now()) / 1000);
    if (silentSince) setText(countdown, ` for ${seconds > -60 ? `${-seconds} s` : duration(-seconds)}`);
    else setText(countdown, status === 'lost' && seconds > 0 ? ` Next try in ${seconds} s.` : '');
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

/** @param {number | null} freshAt */
const seenAt = (freshAt) => (freshAt ? ` What you see is from ${clock(new Date(freshAt).toISOString())}.` : '');

function sentenceOf({status, detail, silentSince}, freshAt) {
  const because = detail ? ` (${detail})` : '';
  switch (status) {
    case 'lost':
      return `Connection to the server lost${because}.${seenAt(freshAt)} Reconnecting…`;
    case 'open':
      return silentSince ? 'The server has not answered' : '';
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
