// The questions of agents: the oldest first, with its choices, a field for another answer, and how many more wait.

import {el, setText} from '../view/dom.js';
import {saidAsNodes} from '../view/said.js';
import {clock} from '../view/words.js';

const MARK = '(?) ';

/** For so long a press is for the question that stood there before. */
const SWAPPED_SECONDS = 1;

/**
 * @param {import('../store.js').Store} store
 * @param {import('./people.js').People} people
 * @param {HTMLElement} strip
 */
export function createQuestions(store, people, strip) {
  const who = el('p', {className: 'who'});
  const text = el('div', {className: 'question', id: 'question'});
  const choices = el('div', {className: 'choices', role: 'group', 'aria-labelledby': 'question'});
  const field = el('input', {className: 'typed', maxLength: 2000, autocomplete: 'off', 'aria-labelledby': 'question'});
  const send = el('button', {className: 'button main'}, 'Answer');
  const dismiss = el('button', {type: 'button', className: 'button'}, 'Dismiss');
  const form = el('form', {className: 'reply'}, choices, field, send, dismiss);
  const swapped = el('p', {className: 'note', hidden: true});
  // `alert`: an agent waits, and not for long. It takes no focus away from what the person types.
  const card = el('section', {className: 'inquiry', ariaLabel: 'A question of an agent', hidden: true},
    el('div', {role: 'alert'}, who, swapped, text), form);
  strip.prepend(card);
  /** @type {import('./people.js').Question | null} */
  let shown = null;
  /** What was typed and not sent, by question: the page may lose the connection, and find its questions again. */
  const drafts = new Map();
  let endedAt = -Infinity;
  let blocked = false;

  function done(answer) {
    if (shown === null || blocked) return;
    field.value = '';
    if (answer === null) people.dismiss(shown.id);
    else people.answer(shown.id, answer);
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const answer = field.value.trim();
    if (answer) done(answer);
    else field.focus();
  });
  dismiss.addEventListener('click', () => done(null));

  /** What is pressed now was meant for the question before. @param {boolean} is */
  function block(is) {
    blocked = is;
    for (const button of form.querySelectorAll('button')) button.ariaDisabled = is ? 'true' : null;
  }

  /** Put a question in the place of the one before. @param {import('./people.js').Question} question */
  function swap(question, typed) {
    const focused = card.contains(document.activeElement);
    shown = question;
    field.value = drafts.get(keyOf(question)) ?? '';
    field.placeholder = question.choices.length ? 'Or another answer…' : 'Your answer…';
    choices.replaceChildren(...question.choices.map((choice) =>
      el('button', {type: 'button', className: 'button', onclick: () => done(choice)}, choice)));
    choices.hidden = question.choices.length === 0;
    const soon = SWAPPED_SECONDS * 1000 - (performance.now() - endedAt);
    swapped.hidden = soon <= 0;
    const words = `The question before has ended: this is another one.${typed ? ` You had typed: “${typed}”` : ''}`;
    setText(swapped, soon > 0 ? words : '');
    block(soon > 0);
    if (soon > 0) setTimeout(() => shown === question && block(false), soon);
    if (focused) field.focus();
  }

  store.watch(['people', 'me'], ({people: {questions}, me}) => {
    const [first] = questions;
    card.hidden = first === undefined;
    const typed = field.value.trim();
    const isOther = first === undefined || shown === null || keyOf(first) !== keyOf(shown);
    if (shown !== null && isOther) {
      drafts.set(keyOf(shown), field.value);
      endedAt = performance.now();
      shown = null;
    }
    if (first === undefined) return;
    for (const key of drafts.keys()) if (!questions.some((each) => keyOf(each) === key)) drafts.delete(key);
    const more = questions.length > 1 ? ` · 1 of ${questions.length}` : '';
    setText(who, `${first.client ?? 'An agent'} asks, until ${clock(first.until)}${more}`);
    if (text.dataset.question !== first.question) {
      text.dataset.question = first.question;
      text.replaceChildren(...saidAsNodes(first.question));
    }
    form.hidden = me === null;
    if (isOther) swap(first, typed);
  });

  // Behind the panel that writes the title: the mark is put before whatever that has written.
  store.watch(['people', 'session', 'active', 'last', 'link'], ({people: {questions}, me, link}) => {
    const plain = document.title.replace(MARK, '');
    document.title = questions.length && me !== null && link.status === 'open' ? `${MARK}${plain}` : plain;
  });
}

/** Another server may have given the id to another question. @param {import('./people.js').Question} question */
const keyOf = ({id, question}) => `${id} ${question}`;
