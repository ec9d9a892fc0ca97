// The bar over the page while it shows a stop of the past, and the buttons and keys that lead there and back.

import {byId, el, isTyping, setData, setText} from '../view/dom.js';
import {ownerOf} from '../program/processes.js';
import {saidOf} from '../runs/run_answers.js';
import {caughtWords, clockWithMilliseconds, duration, oneLine, place, plural, whyPaused} from '../view/words.js';

/** Where the arrow keys mean something else. */
const USES_ARROWS = [
  'input, select, textarea, summary, dialog, [contenteditable]',
  '[role=listbox], [role=toolbar], [role=menu], [role=tree], [role=radiogroup], [role=separator], [role=tablist], [role=grid]',
  '.code, .console, .track, .story',
].join(', ');

const DAY_SECONDS = 86_400;

/** @param {import('../store.js').Store} store @param {import('./travel.js').Travel} history */
export function createPast(store, history) {
  const bar = byId('past');
  const words = el('p', {className: 'words'});
  const detail = el('p', {className: 'where'});
  const earlier = button('‹', 'Earlier stop', 'ArrowLeft', () => history.previous());
  const later = button('›', 'Later stop', 'ArrowRight', () => history.next());
  const now = el(
    'button',
    {type: 'button', className: 'button main', title: 'Back to now (Esc)', 'aria-keyshortcuts': 'Escape', onclick: () => history.now()},
    'Now',
  );
  const moves = el('span', {className: 'moves'},
    textButton('In', 'Into the first call that this line made', () => history.moments.move('in')),
    textButton('Out', 'To the line that has called', () => history.moments.move('out')));
  bar.replaceChildren(
    el('span', {className: 'tag'}, 'Past'),
    earlier,
    later,
    moves,
    el('div', {className: 'what'}, words, detail),
    now,
  );
  const back = button('‹', 'Back to the stop before', 'ArrowLeft', () => history.previous());
  byId('past-tools').replaceChildren(back);
  const announcer = byId('past-announcer');

  function draw({past}) {
    setData(document.body, 'past', String(Boolean(past)));
    bar.hidden = !past;
    const focused = bar.contains(document.activeElement) || document.activeElement === back;
    back.ariaDisabled = String(history.before === 0);
    back.title = past?.moment ? 'The line before (←)' : history.before ? `Back to stop ${history.before} (←)` : 'No earlier stop is kept';
    if (!past) {
      if (focused && document.activeElement !== back) back.focus();
      setText(announcer, '');
      return;
    }
    earlier.ariaDisabled = String(history.before === 0);
    earlier.title = past.moment ? 'The line before, of this function or its caller (←)'
      : history.before ? `Stop ${history.before} (←)` : 'No earlier stop is kept';
    later.ariaDisabled = String(Boolean(past.moment) && !history.after);
    later.title = past.moment ? 'The next line, of this function or its caller (→)' : history.after ? `Stop ${history.after} (→)` : 'Back to now (→)';
    moves.hidden = !past.moment;
    tell(past);
    setText(announcer, past.problem ?? `${words.textContent}. ${detail.textContent}`);
    if (document.activeElement === back) earlier.focus();
  }

  function tell(past) {
    if (past.moment) {
      setText(words, `${past.moment.at} of ${past.moment.run}`);
      detail.replaceChildren(...momentOf(past));
      return;
    }
    const of = `Stop ${past.stop} of ${Math.max(history.last, past.stop)}`;
    setText(words, past.problem ? of : [of, clockWithMilliseconds(past.capturedAt), ago(past.capturedAt)].join(' · '));
    detail.replaceChildren(...(past.problem ? [past.problem] : whereabouts(past, store.state)));
  }

  store.watch(['past', 'events', 'keptStops', 'session', 'sessions', 'active'], draw);
  setInterval(() => store.state.past?.capturedAt && tell(store.state.past), 1000);

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
    const target = /** @type {Element} */ (event.target);
    const free = event.shiftKey || !target.closest(USES_ARROWS);
    if (event.key === 'ArrowLeft' && free) history.previous();
    else if (event.key === 'ArrowRight' && free && history.away) history.next();
    else return;
    event.preventDefault();
  });
}

function whereabouts(past, state) {
  const {location, reason, exception, handling} = past;
  const why = exception ? `${exception.type}${exception.message ? `: ${exception.message}` : ''}` : whyPaused(reason);
  const owner = ownerOf(past, state);
  return [
    el('strong', {title: location?.file ?? ''}, place(location)),
    ...(location?.functionName ? [' in ', el('code', {}, location.functionName)] : []),
    ` · ${why}${caughtWords(exception)}${handling ? ` · while ${oneLine(handling)} is handled` : ''}${owner && ` · ${owner}`}`,
    ...sourceNote(past),
    el('span', {className: 'acts'}, ' · Buttons act on now.'),
  ];
}

/** A moment of a recorded run: where it is, and what the line then did. */
function momentOf({location, moment}) {
  const said = saidOf(moment.line);
  return [
    el('strong', {title: location.file}, place(location)),
    ' in ', el('code', {}, location.functionName),
    said ? ` · then ${said}` : '',
    moment.has_more ? ' · further variables were not looked for' : '',
    el('span', {className: 'acts'}, ' · Recorded: the program is where it was. Buttons act on now.'),
  ];
}

/** Whether the text that is shown is the one that ran. */
function sourceNote({location, sources, edited}) {
  if (!location?.file) return [];
  const kept = sources.some(({file}) => file === location.file);
  const words = edited ? 'the file has changed since' : kept ? '' : 'its source is shown as it is now';
  return words ? [' · ', el('em', {}, words)] : [];
}

/** @param {string | null} iso */
function ago(iso) {
  if (!iso) return '';
  const seconds = Math.max(0, (Date.now() - Date.parse(iso)) / 1000);
  if (seconds > DAY_SECONDS) return new Date(iso).toLocaleDateString();
  if (seconds < 60) return `${plural(Math.floor(seconds), 'second')} ago`;
  return `${duration(Math.floor(seconds / 60) * 60).replace(' 0 s', '').replace(' 0 min', '')} ago`;
}

/** @param {string} text @param {string} title @param {() => void} run */
const textButton = (text, title, run) => el('button', {type: 'button', className: 'small', title, onclick: run}, text);

const button = (sign, label, keys, run) =>
  el(
    'button',
    {
      type: 'button',
      className: 'small walk',
      ariaLabel: label,
      'aria-keyshortcuts': keys,
      onclick: (event) => event.currentTarget.ariaDisabled === 'true' || run(),
    },
    sign,
  );
