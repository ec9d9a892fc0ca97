// The order of the panels in the document is the one on the screen, at every width: the tab key follows the document.

import {byId} from './dom.js';

/** Widths at which css/layout.css places the panels differently. */
const NARROW = matchMedia('(max-width: 699px)');
const MEDIUM = matchMedia('(max-width: 1059px)');

/** Keep the document in the order that the style sheets give: each column and panel has it as `order`. */
export function keepArranged() {
  const main = byId('main');
  const columns = /** @type {HTMLElement[]} */ ([...main.children]);
  const homes = columns.map((column) => /** @type {HTMLElement[]} */ ([...column.children]));

  function arrange() {
    const focused = document.activeElement;
    const places = scrolled(main); // what is moved in the document is scrolled back to its start
    const parts = NARROW.matches
      ? columns.flatMap((column, index) => (isColumn(column) ? homes[index] : [column]))
      : columns;
    columns.forEach((column, index) => isColumn(column) && fill(column, homes[index]));
    fill(main, parts.map((part) => ({part, order: orderOf(part)})).sort((a, b) => a.order - b.order).map(({part}) => part));
    if (focused instanceof HTMLElement && focused !== document.activeElement) focused.focus();
    for (const {node, left, top} of places) node.scrollTo({left, top, behavior: 'instant'});
  }

  for (const width of [NARROW, MEDIUM]) width.addEventListener('change', arrange);
  if (MEDIUM.matches) arrange();
}

/** What is scrolled inside, and how far. @param {HTMLElement} view */
const scrolled = (view) => [...view.querySelectorAll('*')]
  .map((node) => ({node, left: node.scrollLeft, top: node.scrollTop}))
  .filter(({left, top}) => left !== 0 || top !== 0);

/** @param {HTMLElement} part */
const isColumn = (part) => part.classList.contains('column');

/** @param {HTMLElement} part */
const orderOf = (part) => Number(getComputedStyle(part).order);

/** @param {HTMLElement} view @param {HTMLElement[]} parts */
function fill(view, parts) {
  parts.forEach((part, index) => {
    if (view.children[index] !== part) view.insertBefore(part, view.children[index] ?? null);
  });
}
