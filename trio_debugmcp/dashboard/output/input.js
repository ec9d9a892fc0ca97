// A field for the program's input, below its output. No adapter says that a program waits for a line: the field opens by
// its button, and by itself when a program runs whose last words did not end their line, as a prompt does.

import {byId, el, setText} from '../view/dom.js';
import {Continued} from '../view/continued.js';
import {changesInputs, inputsOf} from './inputs.js';

const PROMPT_SECONDS = 1;

export function createInput(store, call) {
  const field = el('input', {className: 'typed', ariaLabel: 'Input for the program', placeholder: 'Input for the program…', autocomplete: 'off', spellcheck: false});
  const send = el('button', {className: 'button'}, 'Send');
  const end = el('button', {type: 'button', className: 'button', title: 'Close the input: the program reads its end'}, 'End of input');
  const hint = el('p', {className: 'hint', role: 'status'});
  const form = el('form', {className: 'input', hidden: true}, field, send, end, hint);
  const toggle = el('button', {type: 'button', className: 'small', ariaExpanded: 'false', title: 'Write to the program’s input'}, 'Input');
  byId('output').after(form);
  byId('output-note').after(toggle);
  /** @type {string[]} */
  const own = [];
  let open = false;
  let key = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function write(data, closes = false) {
    try {
      if (data) own.push(data);
      await call('process_write_input', {data, ...(closes ? {close_after: true} : {})});
      field.value = '';
      if (closes) show(false);
    } catch (error) {
      store.update({notice: error.message});
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    write(`${field.value}\n`); // an empty line is an answer, too
  });
  end.addEventListener('click', () => write(field.value, true));
  toggle.addEventListener('click', () => {
    show(!open);
    if (open) field.focus();
  });

  function show(wanted) {
    open = wanted;
    form.hidden = !open || toggle.hidden;
    toggle.ariaExpanded = String(!form.hidden);
  }

  const continued = new Continued();
  store.watch(['events'], ({events, inputs}) => {
    const fresh = continued.next(events);
    if (fresh > 0 && !events.slice(fresh).some(changesInputs)) return;
    const now = inputsOf(events, own);
    if (now.length !== inputs.length || now.at(-1)?.time !== inputs.at(-1)?.time) store.update({inputs: now});
  });

  store.watch(['output', 'session', 'active', 'role', 'link'], ({output, session, active, role, link}) => {
    const current = active ? `${session?.processId}` : '';
    const possible = role === 'control' && link.status === 'open' && active && session?.launchMode === 'Launch';
    toggle.hidden = !possible;
    if (current !== key) open = false;
    key = current;
    const last = output.entries.at(-1);
    const prompt = possible && session.state === 'Running' && last !== undefined && last.stream === 'stdout' && !last.text.endsWith('\n');
    clearTimeout(timer);
    if (prompt && !open) timer = setTimeout(() => show(true), PROMPT_SECONDS * 1000);
    setText(hint, prompt ? 'The program may be waiting for a line.' : '');
    hint.hidden = !prompt;
    show(open);
  });
}
