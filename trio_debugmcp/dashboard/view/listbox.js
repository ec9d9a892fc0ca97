// A list from which one row is chosen, by mouse or keyboard: one tab stop, arrows, Home, End and Page keys move, Enter chooses.

import {el, redraw} from './dom.js';
import {stepOf} from './roving.js';

/** Draw rows `{key, selected, content, title, dataset}` into `list`, and call `choose(key)` when one is chosen. */
export function drawListbox(list, rows, choose) {
  list.role = 'listbox';
  const selected = Math.max(0, rows.findIndex((row) => row.selected));
  redraw(
    list,
    rows.map((row, index) =>
      el(
        'li',
        {
          role: 'option',
          className: 'row',
          tabIndex: index === selected ? 0 : -1,
          ariaSelected: String(Boolean(row.selected)),
          title: row.title,
          dataset: {key: row.key, ...row.dataset},
          onclick: () => choose(row.key),
          onkeydown: (event) => moved(event, list, () => choose(row.key)),
        },
        ...row.content,
      ),
    ),
  );
}

function moved(event, list, choose) {
  if (event.key === 'Enter' || event.key === ' ') choose();
  else {
    const rows = [...list.children];
    const next = stepOf(event.key, rows.indexOf(event.currentTarget), rows.length - 1);
    if (next === null) return;
    rows[next].focus();
  }
  event.preventDefault();
}
