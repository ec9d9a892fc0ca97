// The agent's calls: those in flight with a running clock, then the others by stop, the latest first.

import {createAnswers} from './answer.js';
import {copy} from '../view/clipboard.js';
import {byId, el, setText} from '../view/dom.js';
import {asMarkdown, entryAsMarkdown} from './markdown.js';
import {readable} from '../view/readable.js';
import {saidAsNodes} from '../view/said.js';
import {rove} from '../view/roving.js';
import {ServerClock} from '../connection/server_clock.js';
import {folded, runInWords} from './folding.js';
import {matches, Story} from './story.js';
import {clock, duration, plural} from '../view/words.js';
import {ageOf, createWaiting} from './waiting.js';

/** @typedef {import('./calls.js').Entry} Entry @typedef {import('./story.js').Chapter} Chapter */

const SHOWN_ENTRIES = 200;
const MORE_ENTRIES = 500;
const TICK_SECONDS = 1;
const LOST = 'What came of it is in none of the events that are kept.';

/** @param {import('../store.js').Store} store @param {(uri: string) => Promise<any>} readJson */
export function createStory(store, actions, readJson) {
  const answerOf = createAnswers(readJson);
  const [list, note] = [byId('story'), byId('story-note')];
  const showWaiting = createWaiting();
  const clockOfServer = new ServerClock();
  const filter = byId('story-filter', HTMLInputElement);
  /** @type {Map<string, {node: HTMLElement, signature: string}>} */
  let drawn = new Map();
  const opened = new Set();
  let shownEntries = SHOWN_ENTRIES;
  const story = new Story();
  let chapters = /** @type {Chapter[]} */ ([]);
  const settle = rove(list, '[data-row]');

  byId('story-tools').append(
    copyButton('Copy the whole story as Markdown, for a bug report', () => asMarkdown(chapters)),
  );
  filter.addEventListener('input', draw);

  function draw() {
    const all = chapters.flatMap(({entries}) => entries);
    const wanted = filter.value.trim();
    const found = wanted ? all.filter((entry) => matches(entry, wanted)) : all;
    const shown = new Set(found.slice(-shownEntries));
    setText(note, wanted ? `${found.length} of ${plural(all.length, 'call')}` : all.length ? plural(all.length, 'call') : '');
    const before = drawn;
    drawn = new Map();
    /** @type {(key: string, signature: string, make: () => HTMLElement) => HTMLElement} */
    const kept = (key, signature, make) => {
      const known = before.get(key);
      const one = known && known.signature === signature ? known : {node: make(), signature};
      drawn.set(key, one);
      return one.node;
    };
    /** @type {HTMLElement[]} */
    const nodes = [];
    let left = shown.size;
    /** @param {Chapter} chapter */
    const tell = (chapter) => {
      const rows = chapter.entries.filter((entry) => shown.has(entry)).reverse();
      if (chapter.event && (rows.length > 0 || (chapter === chapters.at(-1) && !wanted))) {
        nodes.push(kept(chapter.key, chapter.title, () => heading(chapter, actions)));
      }
      for (const entry of rows) nodes.push(kept(entry.key, signatureOf(entry), () => row(entry)));
    };
    const parts = wanted ? chapters.toReversed() : folded(chapters); // what is searched for is shown by itself
    for (const part of parts) {
      if (left <= 0 && nodes.length > 0) break;
      left -= part.entries.filter((entry) => shown.has(entry)).length;
      if (!('chapters' in part)) tell(part);
      else {
        const isOpen = opened.has(part.key);
        nodes.push(kept(part.key, `${part.entries.length} ${isOpen}`, () => runRow(part)));
        if (isOpen) part.chapters.toReversed().forEach(tell);
      }
    }
    const hidden = found.length - shown.size;
    if (hidden > 0) nodes.push(kept('more', String(hidden), () => more(hidden)));
    const missing = missingOf(store.state);
    if (missing) nodes.push(kept('missing', missing, () => el('li', {className: 'earlier note'}, missing)));
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute('data-row') : null;
    place(list, nodes);
    if (focused && !list.contains(document.activeElement)) drawn.get(focused)?.node.querySelector('button')?.focus();
    settle();
    tick();
  }

  const signatureOf = (entry) => [entry.seconds, entry.lost, entry.result, entry.what, entry.place?.line, opened.has(entry.key)].join('\n');

  /** @param {Entry} entry */
  function row(entry) {
    const open = opened.has(entry.key);
    return el(
      'li',
      {className: 'call', dataset: {person: entry.person, failed: entry.failed, running: entry.seconds === null && !entry.lost}},
      el(
        'button',
        {type: 'button', className: 'brief', ariaExpanded: String(open), tabIndex: -1, dataset: {row: entry.key}, onclick: () => toggled(entry.key)},
        el('span', {className: 'what'}, el('span', {className: 'name'}, entry.title), ' ', el('span', {className: 'words'}, entry.words)),
        el('span', {className: 'who'}, entry.who),
        el('span', {className: 'took', title: entry.lost ? LOST : null}, entry.seconds !== null ? duration(entry.seconds) : entry.lost ? 'end unknown' : ''),
        entry.say ? el('span', {className: 'say'}, saidAsNodes(entry.say).map(({textContent}) => textContent).join(' ')) : null,
        entry.what ? resultOf(entry.what, entry.where) : entry.result ? resultOf(entry.result) : null,
      ),
      open ? whole(entry, actions, answerOf(entry)) : null,
    );
  }

  /** A row for many calls of one kind. @param {import('./folding.js').Run} run */
  function runRow(run) {
    const {title, words, took, result} = runInWords(run);
    const brief = {type: 'button', className: 'brief', ariaExpanded: String(opened.has(run.key)), tabIndex: -1, dataset: {row: run.key}};
    return el(
      'li',
      {className: 'call run-of-calls', dataset: {person: run.entries[0].person}},
      el(
        'button',
        {...brief, title: 'Show each of them', onclick: () => toggled(run.key)},
        el('span', {className: 'what'}, el('span', {className: 'name'}, title), ' ', el('span', {className: 'words'}, words)),
        el('span', {className: 'who'}, run.entries[0].who),
        el('span', {className: 'took'}, took),
        result ? resultOf(result) : null,
      ),
    );
  }

  /** @param {string} key */
  function toggled(key) {
    if (!opened.delete(key)) opened.add(key);
    draw();
    if (opened.has(key)) drawn.get(key)?.node.scrollIntoView({block: 'nearest'});
  }

  const more = (hidden) => el(
    'li',
    {className: 'earlier'},
    el('button', {
      type: 'button', className: 'small', dataset: {row: 'more'}, tabIndex: -1,
      onclick: () => { shownEntries += MORE_ENTRIES; draw(); },
    }, `${plural(hidden, 'earlier call')}: show ${Math.min(hidden, MORE_ENTRIES)} more`),
  );

  /** Show how long the calls in flight have been: their clocks run without events. */
  function tick() {
    const running = store.state.link.status === 'open' ? story.inFlight : [];
    const seconds = clockOfServer.seconds();
    showWaiting(running, seconds);
    for (const each of list.querySelectorAll('[data-running="true"] .took')) {
      const entry = running.find(({key}) => key === each.parentElement?.dataset.row);
      setText(each, entry ? ageOf(entry, seconds) : 'not over');
    }
  }

  store.watch(['events', 'gaps', 'link'], ({events, gaps}) => {
    clockOfServer.look(events);
    chapters = story.tell(events, gaps);
    draw();
  });
  setInterval(() => story.inFlight.length > 0 && tick(), TICK_SECONDS * 1000);
}

/** What came of a call; where it was is quieter, as the next heading has it. @param {string} what @param {string} [where] */
const resultOf = (what, where = '') =>
  el('span', {className: 'result'}, what, where ? el('span', {className: 'at'}, ` · ${where}`) : null);

/** Say what of the story is not here. @param {{gaps: any[], forgotten: number}} state */
function missingOf({gaps, forgotten}) {
  if (gaps.length > 0) return 'Calls before these are not loaded yet.';
  return forgotten > 0 ? `Calls in ${plural(forgotten, 'earlier event')} are no longer kept.` : '';
}

/** A title as there is room for it: its colour says that it is a stop, whose number stays in one piece. @param {string} title */
const inShort = (title) =>
  title.replace(/^Stopped (\w)/, (_, letter) => letter.toUpperCase()).replace(/stop (\d+)$/, 'stop\u00a0$1');

/** @param {Chapter} chapter */
function heading({key, title, event}, actions) {
  return el(
    'li',
    {className: `chapter ${event.type}`},
    el('button', {type: 'button', className: 'brief', tabIndex: -1, dataset: {row: key}, title: 'Show it', onclick: () => actions.showEvent(event)},
      el('span', {className: 'what'}, inShort(title)),
      el('span', {className: 'took'}, clock(event.timestamp))),
  );
}

/** All that is known of an entry. @param {Entry} entry @param {HTMLElement | null} answer */
function whole(entry, actions, answer) {
  const {facts, result, failed, event, place: there} = entry;
  const rows = [...facts, ...(result ? [[failed ? 'failed' : 'result', result]] : [])];
  return el(
    'div',
    {className: 'entry'},
    entry.say ? el('div', {className: 'said'}, ...saidAsNodes(entry.say)) : null,
    el('dl', {}, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, readable(value))])),
    el('p', {className: 'note'}, [entry.who, entry.person ? 'a person' : null, clock(event.timestamp), `event ${event.eventId}`].filter(Boolean).join(' · ')),
    el(
      'p',
      {className: 'links'},
      there ? el('button', {type: 'button', className: 'small', onclick: () => actions.showPlace(there.file, there.line)}, 'Source') : null,
      el('button', {type: 'button', className: 'small', onclick: () => actions.showEvent(event)}, 'Timeline'),
      copyButton('Copy this call as Markdown', () => entryAsMarkdown(entry)),
    ),
    answer,
  );
}

/** Make these the children of `view`, and move only those that are elsewhere: the rest keeps focus and selection. */
function place(view, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...view.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (view.children[index] !== node) view.insertBefore(node, view.children[index] ?? null);
  });
}

/** @param {string} title @param {() => string} text */
function copyButton(title, text) {
  const button = el('button', {type: 'button', className: 'small', title}, 'Copy');
  button.addEventListener('click', () => copy(text(), button));
  return button;
}
