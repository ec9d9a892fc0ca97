// Dialogs: the browser's own, which keep the focus inside, close at Escape, and return the focus.

import {el} from './dom.js';

let count = 0;

/** Function keys of the page (`program/controls.js`). */
const PAGES_KEYS = new Set(['F5', 'F6', 'F10', 'F11']);

/**
 * Open a dialog with a title. It closes at Escape, at its ×, and by what is returned. `onclose` is called once.
 *
 * @param {{title: string, className?: string, onclose?: () => void}} options
 * @param {...(Node | string | null | undefined)} content
 * @returns {HTMLDialogElement}
 */
export function openDialog({title, className = '', onclose}, ...content) {
  count += 1;
  const opener = document.activeElement;
  const key = opener?.getAttribute('data-key') ?? opener?.ariaLabel;
  const heading = el('h2', {id: `dialog-${count}`}, title);
  const close = el('button', {type: 'button', className: 'remove', ariaLabel: 'Close', onclick: () => dialog.close()}, '×');
  const dialog = el(
    'dialog',
    {className: `dialog ${className}`, 'aria-labelledby': heading.id},
    el('header', {}, heading, close),
    ...content,
  );
  function left() {
    if (!dialog.isConnected) return; // it was left already
    dialog.remove();
    onclose?.();
    if (opener?.isConnected || !key) return;
    // What opened it was drawn again meanwhile: the one that stands in its place gets the focus.
    const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-key], [aria-label]'));
    [...rows].find((node) => (node.getAttribute('data-key') ?? node.ariaLabel) === key)?.focus();
  }
  // The browser says later that it has closed: until then a key would be for nothing, and what closes it could not set the
  // focus: it would be taken away again.
  dialog.close = () => {
    HTMLDialogElement.prototype.close.call(dialog);
    left();
  };
  dialog.addEventListener('cancel', (event) => {
    if (event.target !== dialog) return; // a part of it has been cancelled
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener('close', left); // not every close can be prevented
  // The page's own keys (Escape, F10, …) are not for it while a dialog is open. Nor are they for the browser, whose F5 would
  // load the page anew, without what was typed.
  dialog.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (PAGES_KEYS.has(event.key) && !event.altKey && !event.metaKey) event.preventDefault();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Ask for a confirmation; `verb` is the button that gives it.
 *
 * @param {string} title
 * @param {string} sentence
 * @param {string} verb
 * @returns {Promise<boolean>}
 */
export function confirmed(title, sentence, verb) {
  return new Promise((resolve) => {
    let answer = false;
    const yes = el('button', {type: 'button', className: 'button danger', onclick: () => ((answer = true), dialog.close())}, verb);
    const no = el('button', {type: 'button', className: 'button', autofocus: true, onclick: () => dialog.close()}, 'Cancel');
    const dialog = openDialog(
      {title, onclose: () => resolve(answer)},
      el('p', {}, sentence),
      el('footer', {}, no, yes),
    );
    no.focus();
  });
}

/**
 * A labelled field with a hint, and a place for what is wrong with it, which screen readers announce.
 *
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {string} [hint]
 */
export function field(label, input, hint = '') {
  count += 1;
  input.id ||= `field-${count}`;
  const problem = el('p', {id: `problem-${count}`, className: 'problem', role: 'alert', hidden: true});
  const help = el('p', {id: `hint-${count}`, className: 'hint'}, hint);
  input.setAttribute('aria-describedby', `${help.id} ${problem.id}`);
  return {
    input,
    node: el('div', {className: 'field'}, el('label', {htmlFor: input.id}, label), input, help, problem),
    /** @param {string} text  what is wrong; empty: nothing */
    refuse(text) {
      problem.textContent = text;
      problem.hidden = text === '';
      input.ariaInvalid = text === '' ? null : 'true';
      if (text) input.focus();
    },
  };
}
