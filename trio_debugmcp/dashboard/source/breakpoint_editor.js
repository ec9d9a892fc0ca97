// The editor of one breakpoint: its condition, its hit condition, its message. What the server refuses is shown at the
// field that it is about, and what was typed is kept until it is saved or thrown away.

import {field, openDialog} from '../view/dialog.js';
import {el} from '../view/dom.js';
import {baseName} from '../view/words.js';

/** What was typed and not saved, by breakpoint or place: of those fields only in which it was. */
const drafts = new Map();

/** The fields as the server calls them. */
const PARAMETERS = {condition: 'condition', hitCondition: 'hit_condition', logMessage: 'log_message'};
const NAMES = Object.keys(PARAMETERS);

/** @typedef {{id?: string, file?: string | null, line?: number | null, functionName?: string | null,
 *   condition?: string | null, hitCondition?: string | null, logMessage?: string | null}} Edited */

/**
 * Edit a breakpoint; without an `id`, set one at a place.
 *
 * @param {Edited} breakpoint
 * @param {{call: (name: string, args: object) => Promise<any>, refresh: () => any, breakpoint: (id: string) => Edited | undefined}} server
 */
export function editBreakpoint(breakpoint, {call, refresh, breakpoint: asItIs}) {
  const {id, file, line} = breakpoint;
  const place = breakpoint.functionName ?? `${baseName(file)}:${line}`;
  const key = id ?? `${file}:${line}`;
  const kept = drafts.get(key);
  /** What was shown, of which the person has changed some. */
  let shown = termsOf(breakpoint);
  const given = {...shown, ...kept};
  const fields = {
    condition: text('Stop only if', given.condition, 'An expression of the program’s language, such as count > 3.', true),
    hitCondition: text('Only at these hits', given.hitCondition, '3 · >= 3 · % 3: the third, from the third on, every third.'),
    logMessage: text('Write, and do not stop', given.logMessage, 'As in an f-string: order {number} costs {price:.2f}.', true),
  };
  let saved = false;
  const note = el('p', {className: 'hint', role: 'status'}, kept ? 'What you had typed is still here.' : '');
  const form = el(
    'form',
    {onsubmit: save},
    note,
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

  /** What the person has changed. */
  const changes = () => differing(values(), shown);

  function keep() {
    const typed = changes();
    if (!saved && Object.keys(typed).length > 0) drafts.set(key, typed);
    else drafts.delete(key);
  }

  /** Take over what another client has changed since it was shown, and say so: then nothing is undone unawares. */
  function isNews(now) {
    const news = differing(now, shown);
    const typed = changes();
    const sentences = Object.entries(news).map(([name, value]) => {
      if (!(name in typed)) fields[name].input.value = value ?? '';
      const label = fields[name].node.querySelector('label')?.textContent;
      return `“${label}” is now ${value === null ? 'empty' : `“${value}”`}${name in typed ? ': saving replaces it by yours' : ''}.`;
    });
    shown = now;
    if (sentences.length > 0) note.textContent = `It was changed meanwhile. ${sentences.join(' ')} Save again if that is meant.`;
    return sentences.length > 0;
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
    const now = id ? termsOf(asItIs(id) ?? shown) : shown;
    if (isNews(now)) return;
    // The tool takes away what is left out: what was not changed here is sent as it is.
    const wanted = values();
    const texts = Object.fromEntries(NAMES.map((name) => [PARAMETERS[name], wanted[name]]));
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
      refusedField(error).refuse(error.message);
      return false;
    } finally {
      form.ariaBusy = null;
    }
  }

  const refusedField = ({details}) => fields[NAMES.find((name) => PARAMETERS[name] === details?.parameter) ?? 'condition'];
}

/** @param {Edited} breakpoint */
const termsOf = (breakpoint) => Object.fromEntries(NAMES.map((name) => [name, breakpoint[name] ?? null]));

/** What is not the same in another. @param {Record<string, string | null>} terms @param {Record<string, string | null>} other */
const differing = (terms, other) => Object.fromEntries(Object.entries(terms).filter(([name, value]) => value !== other[name]));

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
