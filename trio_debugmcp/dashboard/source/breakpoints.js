// All breakpoints, of every kind, with how often they were hit; a page in control edits them.

import {editBreakpoint} from './breakpoint_editor.js';
import {confirmed} from '../view/dialog.js';
import {byId, el, redraw, setData} from '../view/dom.js';
import {baseName, plural} from '../view/words.js';

export function createBreakpoints(store, actions) {
  const list = byId('breakpoints');
  const tools = el('div', {className: 'all'});
  list.after(tools);

  store.watch(['breakpoints', 'role'], ({breakpoints, role}) => {
    const rows = breakpoints === null ? [] : allOf(breakpoints);
    setData(list, 'empty', breakpoints === null ? 'Not known yet.' : 'None set.');
    redraw(list, rows.map((each) => row(each, role === 'control' ? actions : null)));
    redraw(tools, role === 'control' && rows.length > 0 ? buttonsFor(rows, actions) : []);
  });
}

/** Every breakpoint as a row shows it: `words` and `kind`. */
export function allOf({breakpoints, functionBreakpoints, dataBreakpoints, exceptionBreakpoints}) {
  const onLines = breakpoints.map((each) => ({
    ...each,
    words: each.address ?? `${baseName(each.file)}:${each.line}`,
    kind: `${each.type} ${each.state}`.toLowerCase(),
    editable: true,
  }));
  const others = [...functionBreakpoints, ...dataBreakpoints].map((each) => ({
    ...each,
    words: each.functionName ?? each.expression ?? each.id,
    kind: `breakpoint ${each.state}`.toLowerCase(),
    editable: 'condition' in each,
  }));
  const exceptions = exceptionBreakpoints.map((each) => ({
    ...each,
    words: each.exceptionType === '*' ? 'any exception' : each.exceptionType,
    when: `${chances(each)}${each.file ? `, in ${baseName(each.file)}` : ''}`,
    kind: `exception ${each.enabled ? (each.verified ? 'bound' : 'pending') : 'disabled'}`,
    editable: false,
  }));
  return [...onLines, ...others, ...exceptions];
}

const chances = ({breakOnFirstChance, breakOnSecondChance}) =>
  breakOnFirstChance ? 'where it is raised' : breakOnSecondChance ? 'when nothing catches it' : 'when it leaves the user’s code';

function buttonsFor(rows, actions) {
  const on = rows.some(({enabled}) => enabled);
  const word = on ? 'All off' : 'All on';
  return [
    el('button', {
      type: 'button',
      className: 'small',
      dataset: {key: 'breakpoints-all'},
      title: `Switch ${rows.length === 1 ? 'the breakpoint' : `all ${rows.length} breakpoints`} ${on ? `off; ${rows.length === 1 ? 'it is' : 'they are'} kept` : 'on'}`,
      onclick: () => actions.enableBreakpoints(rows.filter((each) => each.enabled === on).map(({id}) => id), !on),
    }, word),
    el('button', {
      type: 'button',
      className: 'small',
      dataset: {key: 'breakpoints-none'},
      ariaLabel: 'Remove all breakpoints',
      onclick: () => removeAll(rows.length, actions),
    }, 'Remove all…'),
  ];
}

async function removeAll(count, actions) {
  const sentence = 'Those that agents have set, too. This cannot be undone; “All off” keeps them.';
  if (await confirmed(`Remove ${plural(count, 'breakpoint')}?`, sentence, 'Remove all')) actions.removeBreakpoint('*');
}

const hitsOf = ({kind, hitCount}) =>
  kind.endsWith('bound') || hitCount > 0 ? plural(hitCount, 'hit') : kind.split(' ').pop();

function row(each, actions) {
  const details = [
    each.when,
    each.condition && `if ${each.condition}`,
    each.hitCondition && `hits ${each.hitCondition}`,
    each.logMessage && `log “${each.logMessage}”`,
    each.message,
  ].filter(Boolean);
  const words = [
    el('span', {className: 'name'}, each.words),
    details.length ? el('span', {className: 'detail'}, details.join(' · ')) : null,
  ];
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
    actions && each.editable
      ? el(
          'button',
          {
            type: 'button',
            className: 'grow plain',
            dataset: {key: `edit-${each.id}`},
            onclick: () => editBreakpoint(each, actions),
          },
          el('span', {className: 'unseen'}, 'Edit '),
          ...words,
        )
      : el('span', {className: 'grow'}, ...words),
    each.file && each.line
      ? el('button', {
          type: 'button',
          className: 'remove look',
          ariaLabel: `Show ${each.words} in the source`,
          title: 'Show in the source',
          onclick: () => actions.showPlace(each.file, each.line),
        }, '→')
      : null,
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
