// The source: the file of the shown place, highlighted, with the current line and the breakpoints in its gutter.

import {byId, el, setText} from '../view/dom.js';
import {ColouredLines} from './highlight.js';
import {mostOf, ranNode, shareOf} from './hit_bars.js';
import {lineValues} from './line_values.js';
import {piecesOf, RIGHT_TO_LEFT, visible} from '../view/signs.js';
import {Rows} from '../view/rows.js';
import {baseName, oneLine, plural} from '../view/words.js';

/** The height of a line, which a finger has to meet on a phone. */
const LINE_PIXELS = matchMedia('(max-width: 699px), (pointer: coarse)').matches ? 24 : 20;

/** On a phone a line stands in the upper third of the screen, above the values. */
const PHONE = matchMedia('(max-width: 699px)');
const fixed = () => (PHONE.matches ? 0.15 : null);

/** Characters of a line that are shown: a bundled file may be one line of a million. */
const MOST_SHOWN = 2000;

/** @typedef {{length: number, text: string}} Line */

/** Draws the source; `fetchSource(path)` returns a file's text. */
export function createSource(store, actions, fetchSource) {
  const [view, title, note] = [byId('source'), byId('source-title'), byId('source-note')];
  const gutterControls = () => store.state.role === 'control';
  view.style.setProperty('--line-height', `${LINE_PIXELS}px`);
  const rows = new Rows(view, {height: LINE_PIXELS, make: lineRow, mark: markRow, fixed});
  /**
   * `ran`: of a recorded run, how often each line did; `most`: the one that did the most often.
   * @type {{file: string | null, version: string | null, lines: Line[], ran: Map<number, number> | null, most: number}}
   */
  let shown = {file: null, version: null, lines: [], ran: null, most: 0};
  let coloured = new ColouredLines([], '');
  /**
   * What the marks are made of.
   * @type {{breakpoints: Map<number, any>, values: Map<number, string[]>, current: number | null, before: number | null, path: Map<number, any[]>, most: number}}
   */
  let marks = {breakpoints: new Map(), values: new Map(), current: null, before: null, path: new Map(), most: 0};
  /** The line that was found last. */
  let found = 0;
  /** @type {string | null} */
  let wanted = null;
  /** @type {any} */
  let revealed = null;
  /** The line whose gutter the tab key leads to; after the arrow keys have moved along it, where they led. */
  let walked = 0;

  async function draw({place, session}) {
    const {file, version} = {file: null, version: null, ...place};
    if (file === null) {
      wanted = null;
      if (shown.file !== null) show(null, null, []);
      setText(title, 'Source');
      setText(note, session?.state === 'Paused' ? 'There is no source for this place.' : '');
      return;
    }
    if (file !== shown.file || version !== shown.version) {
      const own = `${version} ${file}`;
      wanted = own;
      const loaded = await load(file, version);
      const {place: still} = store.state;
      if (wanted !== own || still?.file !== file || (still?.version ?? null) !== version) return;
      setText(title, baseName(file));
      title.title = file;
      setText(note, loaded.problem || (store.state.place.note ?? ''));
      try {
        show(file, version, loaded.lines, loaded.ran);
      } catch (error) {
        setText(note, `This file cannot be drawn: ${error.message}`); // an empty pane would look like an empty file
        return;
      }
    }
    mark(store.state);
    if (store.state.place === revealed) return; // the person may have scrolled from there
    revealed = store.state.place;
    if (revealed.line !== null) rows.reveal(revealed.line - 1);
  }

  /** @param {string} file @param {string | null} version @returns {Promise<{lines: Line[], problem: string, ran: Map<number, number> | null}>} */
  async function load(file, version) {
    try {
      const found = await fetchSource(file, version);
      const {text, note: problem = '', ran = null} = typeof found === 'string' ? {text: found} : found;
      return {lines: linesOf(text), problem, ran};
    } catch (error) {
      return {lines: [], problem: error.message, ran: null};
    }
  }

  /** @param {string | null} file @param {string | null} version @param {Line[]} lines @param {Map<number, number> | null} [ran] */
  function show(file, version, lines, ran = null) {
    shown = {file, version, lines, ran, most: mostOf(ran?.values() ?? [])};
    coloured = new ColouredLines(lines.map(({text}) => text), file ?? '');
    view.dataset.counted = String(ran !== null);
    revealed = null;
    walked = found = 0;
    const longest = lines.reduce((most, {length}) => Math.max(most, Math.min(length, MOST_SHOWN)), 0);
    view.style.setProperty('--longest', String(longest));
    rows.reset(lines.length);
  }

  /** @param {number} index */
  function lineRow(index) {
    const {length} = shown.lines[index];
    const number = index + 1;
    const gutter = gutterControls()
      ? el('button', {
          type: 'button',
          className: 'gutter',
          onclick: () => actions.toggleBreakpoint(shown.file, number),
          onkeydown: (event) => walk(event, number),
        })
      : el('span', {className: 'gutter'});
    gutter.append(el('span', {className: 'dot'}), el('span', {className: 'number'}, String(number)));
    const ran = shown.ran ? ranNode(shown.ran.get(number) ?? 0, shown.most) : null;
    const code = el('code');
    for (const {kind, text} of coloured.at(index)) code.append(...(kind ? [inColour(kind, text)] : withMarks(text)));
    const cut = length > MOST_SHOWN ? el('span', {className: 'cut'}, `… ${MOST_SHOWN} of ${length} characters`) : null;
    return el('li', {className: 'line', value: number}, gutter, ran, code, cut, el('span', {className: 'aside'}));
  }

  /** Move along the gutter, which is one tab stop. */
  function walk(event, number) {
    const page = Math.max(1, Math.floor(view.clientHeight / LINE_PIXELS) - 1);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -number, End: rows.count};
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    walked = Math.min(rows.count, Math.max(1, number + step));
    const gutter = /** @type {HTMLElement | null} */ (rows.reached(walked - 1).querySelector('.gutter'));
    rows.kept = walked - 1;
    rows.update();
    gutter?.focus({preventScroll: true});
  }

  function mark(state) {
    const {session, stack, breakpoints, place, active, past, path} = state;
    const there = (breakpoints?.breakpoints ?? []).filter((each) => each.file === shown.file);
    const here = session?.currentLocation;
    const current = active && !past && here?.file === shown.file ? here.line : null;
    const before = stack?.stale && stack.frames[0]?.location.file === shown.file ? stack.frames[0].location.line : null;
    const values = lineValues(shown.lines, shown.file, state);
    const onPath = past?.moment ? path.filter((each) => each.file === shown.file) : [];
    marks = {breakpoints: new Map(there.map((each) => [each.line, each])), values, current, before, path: Map.groupBy(onPath, ({line}) => line), most: mostOf(there.map(({hitCount}) => hitCount ?? 0))};
    const focused = rows.indexOf(document.activeElement);
    if (focused < 0 && walked !== 0 && current !== null) walked = 0; // the program has moved: begin where it is
    rows.kept = (focused >= 0 ? focused + 1 : walked || current || place?.line || 1) - 1;
    rows.draw();
    rows.update();
  }

  /** Bring a row up to date; what has not changed is not touched. @param {HTMLElement} row @param {number} index */
  function markRow(row, index) {
    const {current, before} = marks;
    const past = Boolean(store.state.past);
    const number = index + 1;
    const breakpoint = marks.breakpoints.get(number);
    const lookedAt = number === store.state.place?.line && number !== current && number !== before;
    const values = marks.values.get(number) ?? [];
    const why = (marks.path.get(number) ?? []).map(({at}) => at); // of the lines that led to what was asked about
    const aside = [...why, ...values, ...(breakpoint ? wordsOf(breakpoint, past) : [])];
    const place = number === current ? 'current' : number === before && current === null ? 'was-current' : '';
    const gutter = /** @type {HTMLElement} */ (row.firstElementChild);
    const tabIndex = index === rows.kept ? 0 : -1;
    if (gutterControls() && gutter.tabIndex !== tabIndex) gutter.tabIndex = tabIndex;
    const kind = breakpoint ? `${breakpoint.type} ${breakpoint.state}`.toLowerCase() : '';
    const looks = `${kind} ${breakpoint?.id} ${place} ${lookedAt} ${number === found} ${why.length > 0}`;
    if (row.dataset.looks !== looks) {
      row.dataset.looks = looks;
      row.dataset.why = String(why.length > 0);
      row.className = ['line', place, lookedAt ? 'looked-at' : '', number === found ? 'found' : ''].join(' ').trim();
      row.ariaCurrent = place === 'current' ? 'step' : null;
      markBreakpoint(gutter, number, breakpoint, kind);
    }
    const bar = String(past ? 0 : shareOf(breakpoint?.hitCount ?? 0, marks.most));
    if (row.dataset.bar !== bar) {
      row.dataset.bar = bar;
      gutter.style.setProperty('--bar', bar);
    }
    setAside(/** @type {HTMLElement} */ (row.lastChild), aside.map(oneLine));
  }

  function markBreakpoint(gutter, number, breakpoint, kind) {
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

  store.watch(['role'], () => show(null, null, [])); // the gutter is made of other elements for another role
  store.watch(['place', 'session', 'role'], draw);
  store.watch(['breakpoints', 'stack', 'frames', 'active', 'path'], mark);

  return {
    /** The lines that have a word. @param {string} word  in lower case */
    search: (word) => shown.lines.flatMap(({text}, index) => (text.toLowerCase().includes(word) ? [index] : [])),
    /** Bring a line that was found into view. @param {number} index */
    show(index) {
      found = index + 1;
      rows.reveal(index);
      rows.update();
    },
  };
}

/** Split a file into lines, each with its true length. @returns {Line[]} */
function linesOf(text) {
  const texts = text.split('\n');
  if (texts.length > 1 && texts.at(-1) === '') texts.pop();
  return texts.map((line) => ({length: line.length, text: line.slice(0, MOST_SHOWN)}));
}

const inColour = (kind, text) => el('span', {className: `t-${kind}`}, ...withMarks(text));

/** Put parts behind a line; what is written from right to left turns around nothing but itself. @param {HTMLElement} node @param {string[]} parts */
function setAside(node, parts) {
  const text = parts.join(' · ');
  if (!RIGHT_TO_LEFT.test(text)) return setText(node, text);
  if (node.textContent === visible(text)) return;
  node.replaceChildren(...parts.flatMap((part, index) => [index > 0 ? ' · ' : '', el('bdi', {}, part)]));
}

/** A text in which what is not seen, or looks like another, is marked. @param {string} text */
const withMarks = (text) =>
  piecesOf(text).map((piece) => (piece.kind ? el('span', {className: piece.kind, title: piece.title}, piece.text) : piece.text));

/** What a line says of its breakpoint; in the past without the hits, which are those of now. */
function wordsOf({condition, hitCondition, logMessage, hitCount}, past) {
  const words = [];
  if (condition) words.push(`if ${condition}`);
  if (hitCondition) words.push(`hits ${hitCondition}`);
  if (logMessage) words.push(`log “${logMessage}”`);
  if (hitCount && !past) words.push(plural(hitCount, 'hit'));
  return words;
}
