// Whether the page is up to date: the state of the connection, since when it is lost, and what to do about it.

import {byId, setText} from '../dom.js';
import {clock, duration} from '../words.js';

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

  function draw({link, freshAt}) {
    document.body.dataset.link = link.status;
    setText(chip, CHIP[link.status]);
    const sentence = sentenceOf(link, freshAt);
    trouble.hidden = sentence === '';
    setText(trouble, sentence);
  }

  store.watch(['link', 'freshAt'], draw);
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

function sentenceOf({status, detail, retryAt}, freshAt) {
  const because = detail ? ` (${detail})` : '';
  const fresh = freshAt ? ` What you see is from ${clock(new Date(freshAt).toISOString())}.` : '';
  const seconds = ((retryAt ?? 0) - Date.now()) / 1000;
  const again = ` Trying again by itself${seconds > 1.5 ? `, in ${duration(seconds)}` : ''}.`;
  switch (status) {
    case 'lost':
      return `Connection to the server lost${because}.${fresh}${again}`;
    case 'refused':
      return `The server refuses this page’s token${because}. ${OPEN_THE_URL}.`;
    case 'no-token':
      return `This page needs a token. ${OPEN_THE_URL}, with #token=… at its end.`;
    default:
      return '';
  }
}
