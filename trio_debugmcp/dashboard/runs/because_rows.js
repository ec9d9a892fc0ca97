// Lines of answers about a run, one below the other: number, place, statement, and what it did. Each leads to its moment.

import {highlighted} from '../source/highlight.js';
import {el} from '../view/dom.js';
import {place} from '../view/words.js';
import {saidOf} from './run_answers.js';

/** @typedef {import('./run_answers.js').BecauseLine} BecauseLine */

/**
 * Create a row of a line. `current`: it is the moment that is shown.
 *
 * @param {BecauseLine} line
 * @param {{current?: boolean, quiet?: boolean, go: () => void, links?: (Node | null)[]}} options
 */
export function becauseRow(line, {current = false, quiet = false, go, links = []}) {
  const said = saidOf(line);
  return el(
    'li',
    {className: 'because', dataset: {current: String(current), quiet: String(quiet)}},
    el(
      'button',
      {
        type: 'button', className: 'brief', tabIndex: -1, dataset: {row: line.at, at: line.at}, onclick: go,
        ariaCurrent: current ? 'true' : null, title: `${line.file}:${line.line}\n${line.source}\n${said}`,
      },
      el('span', {className: 'at'}, line.at),
      el('span', {className: 'where'}, place(line)),
      el('code', {className: 'statement'}, ...tokensOf(line)),
      el('span', {className: 'said'}, said),
    ),
    links.length ? el('span', {className: 'links'}, ...links) : null,
  );
}

/**
 * Scroll a view, and nothing around it, as far as it takes to see an element of it below `head`, which stays at its top.
 *
 * @param {Element} view
 * @param {Element} node
 * @param {HTMLElement} head
 */
export function bringIntoSight(view, node, head) {
  const [around, box] = [view.getBoundingClientRect(), node.getBoundingClientRect()];
  const top = around.top + head.offsetHeight;
  if (box.top < top) view.scrollTop -= top - box.top;
  else if (box.bottom > around.bottom) view.scrollTop += box.bottom - around.bottom;
}

/** The statement in the colours of the source. @param {BecauseLine} line */
function tokensOf({source, file}) {
  const [tokens = []] = highlighted(source, file);
  return tokens.map(({kind, text}) => (kind ? el('span', {className: `t-${kind}`}, text) : text));
}
