// The editor of one breakpoint: its condition, its hit condition, its message. What the server refuses is shown at the
// field that it is about, and what was typed is kept until it is saved or thrown away.

import {field, openDialog} from './dialog.js';
import {el} from './dom.js';
import {baseName} from './words.js';

/** What was typed and not saved, by breakpoint or place. */
const drafts = new Map();

/** @typedef {{id?: string, file?: string | null, line?: number | null, functionName?: string | null,
 *   condition?: string | null, hitCondition?: string | null, logMessage?: string | null}} Edited */

/**
 * Edit a breakpoint; without an `id`, set one at a place.
 *
 * @param {Edited} breakpoint
 * @param {{call: (name: string, args: object) => Promise<any>, refresh: () => any}} server
 */
export function editBreakpoint(breakpoint, {call, refresh}) {
  const {id, file, line} = breakpoint;
  const place = breakpoint.functionName ?? `${baseName(file)}:${line}`;
  const key = id ?? `${file}:${line}`;
  const kept = drafts.get(key);
  const given = kept ?? breakpoint;
  const fields = {
    condition: text('Stop only if', given.condition, 'An expression of the program’s language, such as count > 3.', true),
    hitCondition: text('Only at these hits', given.hitCondition, '3 · >= 3 · % 3: the third, from the third on, every third.'),
    logMessage: text('Write, and do not stop', given.logMessage, 'As in an f-string: order {number} costs {price:.2f}.', true),
  };
  let saved = false;
  const form = el(
    'form',
    {onsubmit: save},
    kept ? el('p', {className: 'hint', role: 'status'}, 'What you had typed is still here.') : null,
    ...Object.values(fields).map(({node}) => node),
    el(
      'footer',
      {},
      kept ? el('button', {type: 'button', className: 'button', onclick: discard}, 'Throw away') : null,
      id ? el('button', {type: 'button', className: 'button danger', onclick: remove}, 'Remove') : null,
      el('button', {type: 'submit', className: 'button main'}, id ? 'Save' : 'Set breakpoint'),
    ),
  );
  const dialog = openDialog({title: `${id ? 'Breakpoint' : 'New breakpoint'} at ${place}`, onclose: keep}, form);
  fields.condition.input.focus();

  const values = () => ({
    condition: fields.condition.input.value.trim() || null,
    hitCondition: fields.hitCondition.input.value.trim() || null,
    logMessage: fields.logMessage.input.value || null,
  });

  function keep() {
    const now = values();
    const changed = Object.keys(now).some((name) => now[name] !== (breakpoint[name] ?? null));
    if (!saved && changed) drafts.set(key, now);
    else drafts.delete(key);
  }

  function discard() {
    saved = true;
    dialog.close();
  }

  async function remove() {
    if (await sent('breakpoint_remove', {id})) discard();
  }

  /** @param {SubmitEvent} event */
  async function save(event) {
    event.preventDefault();
    const {condition, hitCondition, logMessage} = values();
    const texts = {condition, hit_condition: hitCondition, log_message: logMessage};
    const done = id ? await sent('breakpoint_edit', {id, ...texts}) : await sent('breakpoint_set', {file, line, ...texts});
    if (done) discard();
  }

  async function sent(tool, args) {
    for (const each of Object.values(fields)) each.refuse('');
    form.ariaBusy = 'true';
    try {
      await call(tool, args);
      await refresh();
      return true;
    } catch (error) {
      refusedField(error.message).refuse(error.message);
      return false;
    } finally {
      form.ariaBusy = null;
    }
  }

  const refusedField = (message) =>
    /hit condition/i.test(message) ? fields.hitCondition : /log message/i.test(message) ? fields.logMessage : fields.condition;
}

/** @param {string} label @param {string | null | undefined} value @param {string} hint @param {boolean} [long] */
function text(label, value, hint, long = false) {
  const properties = {value: value ?? '', autocomplete: 'off', spellcheck: false, className: 'typed'};
  if (!long) return field(label, el('input', properties), hint);
  const input = el('textarea', {...properties, rows: 1});
  // One line unless it needs more: Enter saves, as in a field of one line.
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    input.form?.requestSubmit();
  });
  return field(label, input, hint);
}
