// The source: the file of the shown place, highlighted, with the current line and the breakpoints in its gutter.

import {byId, el, setText} from './dom.js';
import {highlighted} from './highlight.js';
import {baseName, brief, plural} from './words.js';

const SHOWN_LINES = 4000;

/** Draws the source; `fetchSource(path)` returns a file's text. */
export function createSource(store, actions, fetchSource) {
  const [view, title, note] = [byId('source'), byId('source-title'), byId('source-note')];
  const gutterControls = () => store.state.role === 'control';
  let shown = {file: null, first: 1, lines: []};
  let wanted = null;

  async function draw({place, session}) {
    const file = place?.file ?? null;
    if (file === null) {
      wanted = null;
      show(null, [], 1);
      setText(title, 'Source');
      setText(note, session?.state === 'Paused' ? 'There is no source for this place.' : '');
      return;
    }
    const inside = place.line === null || shown.lines[place.line - shown.first] !== undefined;
    if (file !== shown.file || !inside) {
      wanted = file;
      const loaded = await load(file);
      if (wanted !== file || store.state.place?.file !== file) return;
      drawFile(file, loaded, store.state.place.line ?? 1);
    }
    mark(store.state);
    reveal(store.state.place.line);
  }

  async function load(file) {
    try {
      return {text: await fetchSource(file)};
    } catch (error) {
      return {problem: error.message};
    }
  }

  function drawFile(file, {text, problem}, line) {
    const lines = problem === undefined ? highlighted(text, file) : [];
    if (lines.length > 1 && lines.at(-1).length === 0) lines.pop();
    const first = lines.length <= SHOWN_LINES ? 1 : Math.max(1, line - SHOWN_LINES / 2);
    const last = Math.min(lines.length, first + SHOWN_LINES - 1);
    show(file, lines.slice(first - 1, last), first);
    setText(title, baseName(file));
    title.title = file;
    setText(note, problem ?? (last - first + 1 < lines.length ? `lines ${first} to ${last} of ${lines.length}` : ''));
  }

  function show(file, lines, first) {
    if (file === null && shown.file === null) return;
    const rows = lines.map((tokens, index) => lineRow(file, first + index, tokens));
    view.replaceChildren(...rows);
    shown = {file, first, lines: rows};
  }

  function lineRow(file, number, tokens) {
    const gutter = gutterControls()
      ? el('button', {
          type: 'button',
          tabIndex: -1,
          className: 'gutter',
          onclick: () => actions.toggleBreakpoint(file, number),
          onkeydown: (event) => walk(event, number),
        })
      : el('span', {className: 'gutter'});
    gutter.append(el('span', {className: 'dot'}), el('span', {className: 'number'}, String(number)));
    const code = el('code', {}, ...tokens.map(({kind, text}) => (kind ? coloured(kind, text) : text)));
    return el('li', {className: 'line', value: number}, gutter, code, el('span', {className: 'aside'}));
  }

  /** Move along the gutter, which is one tab stop, with the arrow keys. */
  function walk(event, number) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const next = step && shown.lines[number - shown.first + step]?.querySelector('.gutter');
    if (!next) return;
    event.preventDefault();
    event.currentTarget.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function mark(state) {
    const {session, stack, breakpoints, place, active} = state;
    const at = new Map();
    for (const each of breakpoints?.breakpoints ?? []) if (each.file === shown.file) at.set(each.line, each);
    const here = session?.currentLocation;
    const current = active && here?.file === shown.file ? here.line : null;
    const before = stack?.stale && stack.frames[0]?.location.file === shown.file ? stack.frames[0].location.line : null;
    shown.lines.forEach((row, index) => {
      const number = shown.first + index;
      const breakpoint = at.get(number);
      markBreakpoint(row.firstChild, number, breakpoint);
      row.classList.toggle('current', number === current);
      row.classList.toggle('was-current', current === null && number === before);
      row.classList.toggle('looked-at', number === place?.line && number !== current && number !== before);
      row.ariaCurrent = number === current ? 'step' : null;
      const words = number === current ? valuesIn(row.children[1].textContent, state) : [];
      setText(row.lastChild, [...words, ...(breakpoint ? wordsOf(breakpoint) : [])].join(' · '));
    });
    const tabbable = shown.lines[(current ?? place?.line ?? 1) - shown.first]?.firstChild;
    if (tabbable && gutterControls() && !view.querySelector('.gutter:focus')) {
      view.querySelector('.gutter[tabindex="0"]')?.setAttribute('tabindex', '-1');
      tabbable.tabIndex = 0;
    }
  }

  function markBreakpoint(gutter, number, breakpoint) {
    const kind = breakpoint ? `${breakpoint.type} ${breakpoint.state}`.toLowerCase() : '';
    gutter.dataset.breakpoint = kind;
    if (gutterControls()) {
      gutter.ariaPressed = String(Boolean(breakpoint));
      gutter.ariaLabel = `Breakpoint on line ${number}`;
      gutter.title = breakpoint ? `Remove ${breakpoint.id}` : `Set a breakpoint on line ${number}`;
    } else if (breakpoint) {
      gutter.role = 'img';
      gutter.ariaLabel = `Line ${number}, ${kind}`;
    } else {
      gutter.removeAttribute('role');
      gutter.removeAttribute('aria-label');
    }
  }

  function reveal(line) {
    const row = shown.lines[line - shown.first];
    if (!row) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    const margin = view.clientHeight / 6;
    if (top - margin < view.scrollTop || bottom + margin > view.scrollTop + view.clientHeight) {
      view.scrollTop = top - view.clientHeight / 2.5;
    }
  }

  store.watch(['role'], () => {
    shown = {file: null, first: 1, lines: []}; // the gutter is made of other elements for another role
    view.replaceChildren();
  });
  store.watch(['place', 'session', 'role'], draw);
  store.watch(['breakpoints', 'stack', 'active'], mark);
}

const coloured = (kind, text) => el('span', {className: `t-${kind}`}, text);

function wordsOf({condition, hitCondition, logMessage, hitCount}) {
  const words = [];
  if (condition) words.push(`if ${condition}`);
  if (hitCondition) words.push(`hits ${hitCondition}`);
  if (logMessage) words.push(`log “${logMessage}”`);
  if (hitCount) words.push(plural(hitCount, 'hit'));
  return words;
}

/** Return what is shown at the current line: the exception, or the values of the locals that the line names. */
function valuesIn(code, {session, stack}) {
  if (session.exception) return [`${session.exception.type}: ${session.exception.message ?? ''}`];
  if (!stack?.locals || stack.stale) return [];
  const named = new Set(code.match(/[\p{L}_]\w*/gu));
  return stack.locals.filter(({name}) => named.has(name)).map(({name, value}) => `${name} = ${brief(value, 40)}`);
}
