// The menu of a line of the source, by a right click, the menu key, or Shift+F10: breakpoints, run to here, copy.

import {editBreakpoint} from './breakpoint_editor.js';
import {copy} from '../view/clipboard.js';
import {byId} from '../view/dom.js';
import {openMenu} from '../view/menu.js';
import {place} from '../view/words.js';

/** @param {any} store @param {any} actions @param {{why: (question: object) => void, history: (question: object) => void}} run */
export function createLineMenu(store, actions, run) {
  byId('source').addEventListener('contextmenu', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const row = target.closest('.line');
    const line = Number(row?.querySelector('.number')?.textContent);
    const file = store.state.place?.file;
    // A right click on chosen text is for the browser's own menu, which copies it.
    const chosen = !target.closest('.gutter') && !getSelection()?.isCollapsed;
    if (!row || !line || !file || chosen) return;
    event.preventDefault();
    const box = row.querySelector('.gutter')?.getBoundingClientRect() ?? row.getBoundingClientRect();
    const byKey = event.clientX === 0 && event.clientY === 0;
    const at = byKey ? {x: box.right, y: box.bottom} : {x: event.clientX, y: event.clientY};
    openMenu(at, `Line ${line}`, [...items(store.state, actions, file, line), ...ofRun(store.state, run, file, line)]);
  });
}

/** What the run that is open is asked about a line. */
function ofRun({run: opened}, run, file, line) {
  if (!opened) return [];
  return [
    {name: `Why did it run, or not, in ${opened.id}`, run: () => run.why({file, line})},
    {name: `Each time it ran in ${opened.id}`, run: () => run.history({file, line})},
  ];
}

function items({role, session, breakpoints}, actions, file, line) {
  const there = (breakpoints?.breakpoints ?? []).filter((each) => each.file === file && each.line === line);
  const location = {name: `Copy ${place({file, line})}`, run: () => copy(`${file}:${line}`)};
  if (role !== 'control') return [location];
  const own = there.flatMap((each) => [
    {name: `Edit ${each.id}…`, run: () => editBreakpoint(each, actions)},
    {name: each.enabled ? `Switch ${each.id} off` : `Switch ${each.id} on`, run: () => actions.enableBreakpoint(each.id, !each.enabled)},
    {name: `Remove ${each.id}`, run: () => actions.removeBreakpoint(each.id)},
  ]);
  const fresh = [
    {name: 'Set breakpoint', hint: 'Enter', run: () => actions.toggleBreakpoint(file, line)},
    {name: 'Set breakpoint with…', run: () => editBreakpoint({file, line}, actions)},
  ];
  const run = {name: 'Run to this line', run: () => actions.runTo(file, line)};
  return [...(there.length ? own : fresh), ...(session?.state === 'Paused' ? [run] : []), location];
}
