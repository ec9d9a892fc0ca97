// Light or dark: as the system has it, unless the user chooses otherwise.

import {byId} from './dom.js';

const KEY = 'trio-debugmcp.theme';

export function createTheme() {
  const choose = (theme) => (document.documentElement.dataset.theme = theme);
  const kept = localStorage.getItem(KEY) ?? 'system';
  choose(kept);
  for (const radio of byId('theme').querySelectorAll('input')) radio.checked = radio.value === kept;
  byId('theme').addEventListener('change', (event) => {
    const target = /** @type {HTMLInputElement} */ (event.target);
    localStorage.setItem(KEY, target.value);
    choose(target.value);
  });
}
