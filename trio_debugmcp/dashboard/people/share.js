// The link with which others watch, and its QR code. The page asks the server for it: it knows its own token only.

import {copy} from '../view/clipboard.js';
import {openDialog} from '../view/dialog.js';
import {byId, el, svg} from '../view/dom.js';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function createShare(store, call) {
  const button = el('button', {
    type: 'button',
    id: 'share',
    className: 'chip',
    title: 'A link with which others may watch',
    hidden: true,
    onclick: () => share(call),
  }, 'Share');
  byId('role').before(button);
  store.watch(['role', 'link'], ({role, link}) => {
    button.hidden = role !== 'control' || link.status !== 'open';
  });
}

async function share(call) {
  const text = el('p', {className: 'hint', role: 'status'}, 'Asking the server…');
  const body = el('div', {className: 'share'}, text);
  openDialog({title: 'Let others watch'}, body);
  try {
    const {url, qr} = await call('observe_link', {origin: location.origin});
    body.replaceChildren(...shown(url, qr));
  } catch (error) {
    text.className = 'problem';
    text.textContent = error.message;
  }
}

/** @param {string} url @param {string} qr */
function shown(url, qr) {
  const link = el('input', {className: 'typed', value: url, readOnly: true, ariaLabel: 'Link for observers', onfocus: () => link.select()});
  const button = el('button', {type: 'button', className: 'button main', onclick: () => copy(url, button)}, 'Copy link');
  const here = LOOPBACK.test(location.hostname)
    ? 'This address is this machine’s own: from others it opens only if the server listens there (serve --ws HOST:PORT) or by a tunnel.'
    : null;
  return [
    el('p', {}, 'Whoever has this link sees what you see and can change nothing. It works until the server ends, or, with --observe-token, until you change that token.'),
    picture(qr),
    el('div', {className: 'link'}, link, button),
    here === null ? el('span') : el('p', {className: 'hint'}, here),
  ];
}

/**
 * The QR code: dark squares on white in light and in dark, as readers want it.
 *
 * @param {string} qr  rows from the top with a slash between, `1` where it is dark
 */
export function picture(qr) {
  const rows = qr.split('/');
  const runs = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`));
  const drawing = svg(
    'svg',
    {viewBox: `0 0 ${rows.length} ${rows.length}`, role: 'img', 'aria-label': 'QR code of the link', class: 'qr', 'shape-rendering': 'crispEdges'},
    svg('path', {d: runs.join('')}),
  );
  return drawing;
}
