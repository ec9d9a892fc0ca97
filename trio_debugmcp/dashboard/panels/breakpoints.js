// All breakpoints, of every kind, with how often they were hit.

import {byId, el, redraw} from '../dom.js';
import {baseName, plural} from '../words.js';

export function createBreakpoints(store, actions) {
  const list = byId('breakpoints');
  store.watch(['breakpoints', 'role'], ({breakpoints, role}) => {
    const rows = breakpoints === null ? [] : allOf(breakpoints);
    redraw(list, rows.map((each) => row(each, role === 'control' ? actions : null)));
  });
}

function allOf({breakpoints, functionBreakpoints, dataBreakpoints, exceptionBreakpoints}) {
  const onLines = breakpoints.map((each) => ({
    ...each,
    words: each.address ?? `${baseName(each.file)}:${each.line}`,
    kind: `${each.type} ${each.state}`.toLowerCase(),
  }));
  const others = [...functionBreakpoints, ...dataBreakpoints].map((each) => ({
    ...each,
    words: each.functionName ?? each.expression ?? each.id,
    kind: `breakpoint ${each.state}`.toLowerCase(),
  }));
  const exceptions = exceptionBreakpoints.map((each) => ({
    ...each,
    words: each.exceptionType === '*' ? 'any exception' : each.exceptionType,
    kind: `exception ${each.enabled ? (each.verified ? 'bound' : 'pending') : 'disabled'}`,
  }));
  return [...onLines, ...others, ...exceptions];
}

const hitsOf = ({kind, hitCount}) =>
  kind.endsWith('bound') || hitCount > 0 ? plural(hitCount, 'hit') : kind.split(' ').pop();

function row(each, actions) {
  const details = [
    each.condition && `if ${each.condition}`,
    each.hitCondition && `hits ${each.hitCondition}`,
    each.logMessage && `log “${each.logMessage}”`,
    each.message,
  ].filter(Boolean);
  return el(
    'li',
    {className: 'row', title: [each.file, ...details].filter(Boolean).join('\n'), dataset: {id: each.id}},
    actions
      ? el('input', {
          type: 'checkbox',
          checked: each.enabled,
          ariaLabel: `${each.words} is on`,
          onchange: (event) => actions.enableBreakpoint(each.id, event.target.checked),
        })
      : null,
    el('span', {className: 'dot', dataset: {breakpoint: each.kind}}),
    el(
      'span',
      {className: 'grow'},
      el('span', {className: 'name'}, each.words),
      details.length ? el('span', {className: 'detail'}, details.join(' · ')) : null,
    ),
    el('span', {className: 'where', title: each.kind}, hitsOf(each)),
    actions
      ? el('button', {
          type: 'button',
          className: 'remove',
          ariaLabel: `Remove ${each.words}`,
          title: 'Remove',
          onclick: () => actions.removeBreakpoint(each.id),
        }, '×')
      : null,
  );
}
