// The headline: what the program is doing, and why; the same is announced to screen readers.

import {byId, el, setText} from '../dom.js';
import {baseName, place, whyPaused} from '../words.js';

export function createStatus(store, actions) {
  const state = byId('state');
  const where = byId('where');
  const facts = byId('facts');
  const announcer = byId('announcer');

  store.watch(['session', 'active', 'last', 'link'], ({session, active, last, link}) => {
    const now = active && session ? session : null;
    document.body.dataset.state = now ? now.state.toLowerCase() : last ? 'ended' : 'none';
    document.body.dataset.reason = now?.exception ? 'exception' : '';
    const headline = now ? headlineOf(now) : endedOrIdle(last, link);
    setText(state, headline);
    where.replaceChildren(...(now ? whereabouts(now, actions) : lastWords(last)));
    facts.replaceChildren(...(now ? factsOf(now) : []));
    document.title = `${now ? titleOf(now) : headline} · trio_debugmcp`;
    if (link.status === 'open') setText(announcer, `${headline}. ${where.textContent}`);
  });
}

function headlineOf({state, exception, pauseReason}) {
  if (state !== 'Paused') return {Starting: 'Starting…', Terminating: 'Ending…'}[state] ?? state;
  return exception ? `Paused: ${exception.type}` : `Paused ${whyPaused(pauseReason)}`;
}

function endedOrIdle(last, link) {
  if (last) return last.exitCode === null ? 'Session ended' : `Program ended with exit code ${last.exitCode}`;
  return link.status === 'open' ? 'No debug session' : ' ';
}

const titleOf = ({state, currentLocation}) => (state === 'Paused' ? `${state} ${place(currentLocation)}` : state);

function whereabouts({state, exception, currentLocation}, actions) {
  if (state !== 'Paused') return [];
  const parts = [];
  if (exception?.message) parts.push(el('span', {className: 'message'}, exception.message), ' ');
  if (currentLocation) {
    parts.push(el('strong', {title: currentLocation.file ?? ''}, place(currentLocation)));
    if (currentLocation.functionName) parts.push(' in ', el('code', {}, currentLocation.functionName));
  }
  return parts;
}

function lastWords(last) {
  if (!last) return [];
  return [[last.processName, last.reason].filter(Boolean).join(' · ')];
}

function factsOf(session) {
  const command = [baseName(session.executablePath ?? session.processName), ...session.commandLineArgs].join(' ');
  const facts = {
    Program: [command, session.executablePath],
    Process: [session.processId],
    Runtime: [session.runtimeVersion ?? session.language],
    Parent: [session.parentSessionId],
    Adapter: [`${session.adapter}, ${session.launchMode === 'Attach' ? 'attached' : 'launched'}`],
  };
  return Object.entries(facts)
    .filter(([, [value]]) => value)
    .map(([name, [value, title]]) =>
      el('div', {title: title ?? ''}, el('dt', {}, name), el('dd', {}, String(value))),
    );
}
