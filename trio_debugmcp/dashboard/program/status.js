// The headline: what the program is doing, and why; the same is announced to screen readers.

import {byId, el, setData, setText} from '../view/dom.js';
import {BY_ITSELF, endedBy} from '../story/ending.js';
import {nameOf, ringInWords} from './deadlock.js';
import {shareInWords} from './processor.js';
import {stopNow} from '../past/moment.js';
import {baseName, caughtWords, exceptionInShort, isWord, oneLine, place, whyPaused} from '../view/words.js';

const QUIET_MILLISECONDS = 800;

export function createStatus(store) {
  const state = byId('state');
  const where = byId('where');
  const facts = byId('facts');
  const announcer = byId('announcer');

  let timer = 0;
  let drawnFacts = '';
  /** Steps that follow each other quickly are not spoken one by one: where they come to rest is. */
  function announce(sentence, phase) {
    clearTimeout(timer);
    const atOnce = phase === undefined || document.body.dataset.reason === 'exception';
    timer = window.setTimeout(() => setText(announcer, sentence), atOnce ? 0 : QUIET_MILLISECONDS);
  }

  store.watch(['session', 'active', 'last', 'link', 'now', 'processor'], ({session, active, last, link, now: look, processor}) => {
    const now = active && session ? session : null;
    const seen = now?.state === 'Running' ? look : null;
    setData(document.body, 'state', now ? now.state.toLowerCase() : last ? 'ended' : 'none');
    setData(document.body, 'reason', now?.exception ? 'exception' : seen?.deadlocks.length ? 'deadlock' : '');
    const headline = now ? headlineOf(now, seen) : endedOrIdle(store.state);
    setText(state, headline);
    where.replaceChildren(...(now ? whereabouts(now, seen) : lastWords(store.state)));
    const told = now ? factsOf(now, processor) : [];
    if (JSON.stringify(told) !== drawnFacts) facts.replaceChildren(...told.map(factNode));
    drawnFacts = JSON.stringify(told);
    const tabTitle = `${now ? titleOf(now) : headline} · trio_debugmcp`;
    if (document.title !== tabTitle) document.title = tabTitle;
    const message = now?.exception?.message && !isWord(now.exception.message) ? ` ${now.exception.message}` : '';
    const whereSaid = now?.state === 'Running' ? '' : where.textContent; // for what threads wait is not spoken each second
    if (link.status === 'open' && (now || isOver(store.state))) announce(`${headline}. ${whereSaid}${message}`, now?.state);
  });
  // The timeline may come after the session, and says which stop it is.
  store.watch(['session', 'active', 'events'], (now) => {
    const number = stopNow(now);
    setText(byId('stop-number'), number ? `stop ${number}` : '');
    byId('stop-number').hidden = number === 0;
  });
  // Who ended it may be known later than that it has ended.
  store.watch(['events', 'endedHere'], (now) => !now.active && now.last && setText(where, lastWords(now).join('')));
}

function headlineOf({state, exception, pauseReason}, seen) {
  if (seen?.deadlocks.length) return `Dead-locked: ${seen.deadlocks.map(ringInWords).join('; ')}`;
  if (state !== 'Paused') return {Starting: 'Starting…', Terminating: 'Ending…'}[state] ?? state;
  return exception ? `Paused: ${exceptionInShort(exception)}` : `Paused ${whyPaused(pauseReason)}`;
}

/** Whether it is known that there is no session, and how the last one ended. @param {{active: boolean | null, last: any}} state */
export const isOver = ({active, last}) => active === false && last !== undefined;

function endedOrIdle({active, last, link}) {
  if (last) return last.exitCode === null ? 'Session ended' : `Program ended with exit code ${last.exitCode}`;
  if (link.status === 'connecting') return 'Connecting…';
  if (link.status !== 'open') return ' ';
  return isOver({active, last}) ? 'No debug session' : 'Reading…';
}

const titleOf = ({state, currentLocation}) => (state === 'Paused' ? `${state} ${place(currentLocation)}` : state);

function whereabouts({state, currentLocation, exception, handling}, seen) {
  if (seen?.deadlocks.length) return ['Each of these threads waits for the next.'];
  if (seen && allWait(seen)) return [waitingWords(seen.threads)];
  if (state !== 'Paused') return [];
  const parts = [];
  if (currentLocation) {
    parts.push(el('strong', {title: currentLocation.file ?? ''}, place(currentLocation)));
    if (currentLocation.functionName) parts.push(' in ', el('code', {}, currentLocation.functionName));
  }
  parts.push(caughtWords(exception), handling ? ` · while ${oneLine(handling)} is handled` : '');
  return parts;
}

/** Whether no thread runs: then no pause comes, either. @param {import('./now.js').Look} look */
export const allWait = ({threads}) => threads.length > 0 && threads.every(({state}) => state === 'Waiting');

/** @param {import('./now.js').ThreadNow[]} threads */
function waitingWords(threads) {
  const [first] = threads;
  const what = first.waitsFor ? ` for ${first.waitsFor}` : '';
  return threads.length === 1 ? `${nameOf(first)} waits${what}` : `Every thread waits: ${nameOf(first)}${what}, and ${threads.length - 1} more`;
}

function lastWords({last, events, endedHere}) {
  if (!last) return [];
  const place = last.exception && last.at ? `${last.exception}, ${last.at}` : last.exception;
  const by = endedBy(last.reason, events, endedHere);
  const isSaid = by === BY_ITSELF && last.exitCode !== null; // the headline has the exit code
  return [[last.processName, place, isSaid ? null : by].filter(Boolean).join(' · ')];
}

function factsOf(session, processor) {
  const command = [baseName(session.executablePath ?? session.processName), ...session.commandLineArgs].join(' ');
  const facts = {
    Program: [command, session.executablePath],
    Process: [session.processId],
    Uses: [shareInWords(processor, session), 'Of one processor, over the last second'],
    Runtime: [session.runtimeVersion ?? onlyOne(session.language)],
    Parent: [session.parentSessionId],
    Debugger: [`${session.engine === 'own' ? 'own engine' : session.adapter}, ${session.launchMode === 'Attach' ? 'attached' : 'launched'}`],
  };
  return Object.entries(facts).filter(([, [value]]) => value);
}

/** What an adapter is for, where that is one language: of several it is not known which the program is in. @param {string} languages */
const onlyOne = (languages) => (languages.includes(', ') ? null : languages);

/** @param {[string, any[]]} fact */
const factNode = ([name, [value, title]]) => el('div', {title: title ?? ''}, el('dt', {}, name), el('dd', {}, String(value)));
