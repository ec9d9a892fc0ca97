// The processes of all programs: choosing one shows it, until it ends or one goes back to where the program is.

import {byId, el, setText} from '../view/dom.js';
import {drawListbox} from '../view/listbox.js';
import {placeNode} from '../view/places.js';
import {depthOf, namesOf, processesOf} from './processes.js';
import {shareInWords} from './processor.js';
import {whyPaused} from '../view/words.js';

/** Of more processes than these each is one line. */
const MOST_TALL = 5;

/** @param {import('../store.js').Store} store @param {(id: string) => void} choose */
export function createProcesses(store, choose) {
  const list = byId('children');
  /** @type {string | null} */
  let revealed = null;
  store.watch(['session', 'sessions', 'active', 'chosen', 'processor'], (state) => {
    const processes = processesOf(state);
    const names = namesOf(processes);
    const focus = state.sessions?.focus ?? null;
    byId('children-panel').hidden = processes.length < 2;
    if (processes.length < 2) return;
    setText(byId('children-note'), state.chosen === null ? `${processes.length} processes` : 'kept to one');
    list.dataset.many = String(processes.length > MOST_TALL);
    drawListbox(
      list,
      processes.map((each) => ({
        key: each.sessionId,
        selected: each.sessionId === state.session?.sessionId,
        title: [each.processName, whyPaused(each.pauseReason), detailOf(each, focus)].filter(Boolean).join(', '),
        dataset: {depth: String(Math.min(3, depthOf(each, processes)))},
        content: [
          el('span', {className: `dot thread-${each.state === 'Paused' ? 'suspended' : 'running'}`}),
          el(
            'span', {className: 'grow'},
            el('span', {className: 'name'}, names.get(each.sessionId)),
            el('span', {className: 'detail'}, detailOf(each, focus)),
          ),
          el('span', {className: 'cpu', title: 'Of one processor, over the last second'}, shareInWords(state.processor, each)),
          each.currentLocation ? placeNode(each.currentLocation) : el('span', {className: 'where'}, each.state),
        ],
      })),
      choose,
    );
    const shown = state.session?.sessionId ?? null;
    if (shown === revealed) return; // the person may have scrolled from there
    revealed = shown;
    const row = /** @type {HTMLElement | null} */ (list.querySelector('[aria-selected="true"]'));
    if (row) list.scrollTop = row.offsetTop - list.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
  });
}

const detailOf = ({sessionId, processId, state}, focus) =>
  [processId && `pid ${processId}`, sessionId, state, sessionId === focus && 'in focus'].filter(Boolean).join(' · ');
