// The questions of agents: the oldest first, with its choices, a field for another answer, and how many more wait.

import {el, setText} from '../dom.js';
import {clock} from '../words.js';

const MARK = '(?) ';

/**
 * @param {import('../store.js').Store} store
 * @param {import('../people.js').People} people
 * @param {HTMLElement} strip
 */
export function createQuestions(store, people, strip) {
  const who = el('p', {className: 'who'});
  const text = el('p', {className: 'question', id: 'question'});
  const choices = el('div', {className: 'choices', role: 'group', 'aria-labelledby': 'question'});
  const field = el('input', {className: 'typed', maxLength: 2000, autocomplete: 'off', 'aria-labelledby': 'question'});
  const send = el('button', {className: 'button main'}, 'Answer');
  const dismiss = el('button', {type: 'button', className: 'button'}, 'Dismiss');
  const form = el('form', {className: 'reply'}, choices, field, send, dismiss);
  // `alert`: an agent waits, and not for long. It takes no focus away from what the person types.
  const card = el('section', {className: 'inquiry', ariaLabel: 'A question of an agent', hidden: true},
    el('div', {role: 'alert'}, who, text), form);
  strip.prepend(card);
  /** @type {string | null} */
  let shown = null;

  const done = (answer) => shown && (answer === null ? people.dismiss(shown) : people.answer(shown, answer));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const answer = field.value.trim();
    if (answer) done(answer);
    else field.focus();
  });
  dismiss.addEventListener('click', () => done(null));

  store.watch(['people', 'me'], ({people: {questions}, me}) => {
    const [first] = questions;
    card.hidden = first === undefined;
    if (first === undefined) {
      shown = null;
      return;
    }
    const more = questions.length > 1 ? ` · 1 of ${questions.length}` : '';
    setText(who, `${first.client ?? 'An agent'} asks, until ${clock(first.until)}${more}`);
    setText(text, first.question);
    form.hidden = me === null;
    if (shown === first.id) return;
    const focused = card.contains(document.activeElement);
    shown = first.id;
    field.value = '';
    field.placeholder = first.choices.length ? 'Or another answer…' : 'Your answer…';
    choices.replaceChildren(...first.choices.map((choice) =>
      el('button', {type: 'button', className: 'button', onclick: () => done(choice)}, choice)));
    choices.hidden = first.choices.length === 0;
    if (focused) field.focus();
  });

  // Behind the panel that writes the title: the mark is put before whatever that has written.
  store.watch(['people', 'session', 'active', 'last', 'link'], ({people: {questions}, me, link}) => {
    const plain = document.title.replace(MARK, '');
    document.title = questions.length && me !== null && link.status === 'open' ? `${MARK}${plain}` : plain;
  });
}
