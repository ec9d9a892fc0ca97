// Copying: by the clipboard where the browser gives it, else through a field, as on a page that came over plain HTTP.

import {el} from './dom.js';

/**
 * Copy a text, and say so for a moment on `button`.
 *
 * @param {string} text
 * @param {HTMLElement | null} [button]
 * @returns {Promise<boolean>}
 */
export async function copy(text, button = null) {
  const copied = await written(text);
  if (button) said(button, copied ? 'Copied' : 'Not copied');
  return copied;
}

const SHOWN_MILLISECONDS = 1500;

/** @param {HTMLElement} button @param {string} word */
function said(button, word) {
  button.dataset.said = word;
  const status = el('span', {className: 'unseen', role: 'status'});
  button.after(status);
  status.textContent = word;
  setTimeout(() => {
    delete button.dataset.said;
    status.remove();
  }, SHOWN_MILLISECONDS);
}

/** @param {string} text */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byField(text); // not a secure context, or not allowed
  }
}

/** @param {string} text */
function byField(text) {
  const field = el('textarea', {className: 'unseen', value: text, ariaLabel: 'Text to copy', readOnly: true});
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } finally {
    field.remove();
    before?.focus();
  }
}
