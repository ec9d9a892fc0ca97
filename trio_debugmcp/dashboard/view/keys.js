// What the keys do, and the switch for those that are a letter or a sign alone.

import {openDialog} from './dialog.js';
import {byId, el} from './dom.js';
import {areOn, switchTo} from './single_keys.js';

/** @type {[string, string, boolean][]}  Keys, what they do, and whether only a page in control has them. */
const KEYS = [
  ['F5, F6', 'continue, pause', true],
  ['F10, F11, Shift+F11', 'step over, in, out', true],
  ['Shift+F5, Ctrl+Shift+F5', 'stop, restart', true],
  ['←, →', 'back and forward in time; in lists and in the source with Shift, in a field after Esc', false],
  ['Esc', 'to now, and to where the program is', false],
  ['Ctrl+P', 'go to a file or a line', false],
  ['Shift+F10', 'the menu of a line or a variable', false],
  ['arrows, Home, End, Page keys', 'move in a list, the toolbar, the gutter', false],
];

/** @type {[string, string][]} */
const SINGLE = [
  ['/', 'find in the source'],
  ['v', 'the value of what is selected, or of the line with the focus'],
  ['h', 'the values of the variable with the focus over the stops, or over the run that is shown'],
];

export function createKeys(store) {
  const open = () => {
    const box = el('input', {type: 'checkbox', checked: areOn(), onchange: () => switchTo(box.checked)});
    openDialog(
      {title: 'Keys'},
      el('dl', {className: 'keys'}, ...KEYS.filter(([, , control]) => !control || store.state.role === 'control').flatMap(row)),
      el('label', {className: 'switch'}, box, ' Letters and signs alone are keys, too:'),
      el('dl', {className: 'keys'}, ...SINGLE.flatMap(row)),
    );
    box.focus();
  };
  // On a narrow screen, which rarely has a keyboard, it stands at the end of the page: the bar has no room for it.
  const button = (place) => el('button', {type: 'button', className: `chip keys-of-${place}`, title: 'What the keys do', onclick: open}, 'Keys');
  byId('theme').before(button('bar'));
  byId('main').after(button('end'));
}

/** @param {any[]} key */
const row = ([keys, words]) => [el('dt', {}, ...keys.split(', ').map((key) => el('kbd', {}, key))), el('dd', {}, words)];
