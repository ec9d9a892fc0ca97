// The strip between a person and the agents: hold and hand back, a message, questions. An observer sees who holds.

import {byId, el, setText} from '../view/dom.js';
import {agentNames, agentsOf, secondsSince} from './people.js';
import {clock} from '../view/words.js';
import {createQuestions} from './questions.js';

/** How long it is said that a message was delivered: then it is old news, and the story still has it. */
const SENT_SECONDS = 30;

/**
 * @param {import('../store.js').Store} store
 * @param {import('./people.js').People} people
 */
export function createPeople(store, people) {
  const strip = byId('people');
  const sentence = el('p', {className: 'sentence', role: 'status'});
  const field = el('input', {className: 'typed', maxLength: 2000, autocomplete: 'off'});
  const to = el('select', {className: 'to', ariaLabel: 'To which agent'});
  const send = el('button', {className: 'button'}, 'Send');
  const hold = el('button', {type: 'button', className: 'button'});
  const form = el('form', {className: 'tell'}, to, field, send);
  const sent = el('p', {className: 'sent note', role: 'status'});
  strip.append(el('div', {className: 'wheel'}, sentence, form, hold), sent);
  createQuestions(store, people, strip);

  let seen = '';
  let timer = 0;
  /** Whether what became of a message has been read: it stands for a while from when nothing of it is open any more. */
  function isOver(words, {messages}) {
    const last = lastMessage(messages);
    const open = last?.to.some(({deliveredAt, left}) => !deliveredAt && !left);
    if (words === seen) return !open && timer === 0;
    clearTimeout(timer);
    const first = seen === '';
    seen = words;
    // When the page is opened: it was news before that.
    if (first && !open && last && secondsSince(last) > SENT_SECONDS) return true;
    timer = open ? 0 : window.setTimeout(() => {
      timer = 0;
      sent.hidden = true;
    }, SENT_SECONDS * 1000);
    return false;
  }

  const holds = () => store.state.me !== null && store.state.people.hold?.clientId === store.state.me;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return field.focus();
    if (await people.tell(text, to.value)) field.value = '';
  });
  hold.addEventListener('click', async () => {
    if (!holds()) return people.hold(store.state.people.hold !== null);
    if (await people.handBack(field.value.trim())) field.value = '';
  });

  store.watch(['people', 'me', 'role', 'active', 'link'], ({people: now, me, active, link}) => {
    const mine = holds();
    const agents = agentsOf(now);
    const control = me !== null;
    const usable = control && (agents.length > 0 || now.hold !== null);
    strip.hidden = link.status !== 'open' || !(usable || now.hold || now.questions.length);
    strip.dataset.hold = mine ? 'mine' : now.hold ? 'other' : 'none';
    setText(sentence, sentenceOf(now, mine));
    sentence.hidden = now.hold === null;
    form.hidden = !control || agents.length === 0;
    hold.hidden = !control || (now.hold === null && !active);
    setText(hold, mine ? 'Hand back' : now.hold ? 'Take over' : 'Hold');
    hold.title = mine
      ? 'Agents continue; what you wrote goes with it'
      : 'Step yourself: what agents do to the program waits until you hand back';
    hold.classList.toggle('main', mine);
    const label = `Message to ${agentNames(now)}`;
    field.placeholder = mine ? `${label}, or a sentence to hand back with` : `${label}…`;
    field.ariaLabel = label;
    recipients(to, agents);
    setText(sent, lastWords(now));
    sent.hidden = sent.textContent === '' || isOver(sent.textContent ?? '', now);
  });
}

/** @param {import('./people.js').Everybody} people */
function sentenceOf({hold, waiting}, mine) {
  if (hold === null) return '';
  const calls = waiting.map(({client, tool}) => `${client ?? 'a client'} waits in ${tool}`).join(', ');
  const who = mine ? 'You have held' : `Another person (${hold.client ?? 'unnamed'}) has held`;
  return `${who} the session since ${clock(hold.since)}${calls ? `; ${calls}` : '; agents wait when they act'}`;
}

/** Offer the agents to choose from, where there are several; the choice stays. */
function recipients(select, agents) {
  select.hidden = agents.length < 2;
  const wanted = [['', 'All agents'], ...agents.map(({id, name}) => [id, name ?? id])];
  if (wanted.map(String).join() === [...select.options].map(({value, text}) => `${value},${text}`).join()) return;
  const chosen = select.value;
  select.replaceChildren(...wanted.map(([value, text]) => el('option', {value}, text)));
  select.value = wanted.some(([value]) => value === chosen) ? chosen : '';
}

/** @param {import('./people.js').Message[]} messages */
const lastMessage = (messages) => messages.findLast(({kind, text}) => kind === 'message' || text);

/** What became of the last message: to whom it was delivered, and for whom it waits. */
function lastWords({messages}) {
  const last = lastMessage(messages);
  if (!last) return '';
  const fates = last.to.map(({client, deliveredAt, left}) =>
    deliveredAt
      ? `delivered to ${client} at ${clock(deliveredAt)}`
      : left ? `${client} left before it was read` : `waits for the next answer to ${client}`);
  const text = last.text.length > 60 ? `${last.text.slice(0, 60)}…` : last.text;
  return `“${text}” ${fates.join(', ')}`;
}
