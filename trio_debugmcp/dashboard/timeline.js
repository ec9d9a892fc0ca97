// The timeline as a picture: a lane for each kind of event, the program's state as a band, time from left to right.

import {byId, el, setText, svg} from './dom.js';
import {LANES, isBookkeeping, laneOf, secondsOf, wordsOf} from './events.js';
import {timeScale} from './scale.js';
import {brief, clock, duration, plural} from './words.js';

const LANE = 18;
const AXIS = 16;
const MARGIN = 14;
const NEAR = 9;
const HEIGHT = AXIS + LANES.length * LANE;

export function createTimeline(store, actions) {
  const track = byId('timeline');
  const zoom = byId('zoom');
  let width = 0;

  byId('lanes').replaceChildren(...LANES.map(({name}) => el('span', {}, name)));

  const draw = () => drawPicture(store.state);

  function drawPicture({events, event: chosen, active, session}) {
    const shown = events.filter((event) => laneOf(event) >= 0 && !isBookkeeping(event));
    setText(byId('timeline-note'), plural(shown.length, 'event'));
    const atEnd = track.scrollLeft + track.clientWidth > track.scrollWidth - 20;
    width = Math.max(60, track.clientWidth) * 2 ** Number(zoom.value);
    const scale = timeScale(shown.map(secondsOf));
    const x = (moment) => MARGIN + scale.x(moment) * (width - 2 * MARGIN);
    const focused = track.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    const marks = clusters(shown, x).map((cluster) => mark(cluster, chosen, actions));
    const picture = svg(
      'svg',
      {width, height: HEIGHT, role: 'listbox', 'aria-label': 'Events, oldest first'},
      ...LANES.map((_, lane) => svg('line', {class: 'lane', x1: 0, x2: width, y1: middle(lane), y2: middle(lane)})),
      ...scale.breaks.flatMap((silence) => silenceMark(silence, x)),
      ...ticks(shown, x, width),
      ...stateBand(shown, x, active && session ? session.state : null),
      ...shown.flatMap((event) => callBar(event, x)),
      ...marks,
    );
    track.replaceChildren(picture);
    const tabbable = marks.find((each) => each.getAttribute('aria-selected') === 'true') ?? marks.at(-1);
    tabbable?.setAttribute('tabindex', '0');
    if (focused) marks.find((each) => each.dataset.id === focused)?.focus();
    if (atEnd && !chosen) track.scrollLeft = track.scrollWidth;
  }

  /** Zoom and keep the moment at `pixel` of the visible part where it is. */
  function zoomTo(value, pixel) {
    const portion = (track.scrollLeft + pixel) / width;
    zoom.value = value;
    draw();
    track.scrollLeft = portion * width - pixel;
  }

  let last = zoom.value;
  zoom.addEventListener('input', () => {
    const value = zoom.value;
    zoom.value = last;
    zoomTo(value, track.clientWidth / 2);
    last = zoom.value;
  });
  track.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomTo(Number(zoom.value) - Math.sign(event.deltaY) * 0.5, event.clientX - track.getBoundingClientRect().left);
      last = zoom.value;
    },
    {passive: false},
  );
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(track);
  track.addEventListener('keydown', (event) => walk(event, track));

  store.watch(['events', 'event', 'active', 'session'], draw);
  store.watch(['event'], ({event}) => drawDetail(byId('event'), event));
}

const middle = (lane) => AXIS + lane * LANE + LANE / 2;

/** Merge marks that would overlap into one with their number. */
function clusters(events, x) {
  const open = new Map();
  const all = [];
  for (const event of events) {
    const lane = laneOf(event);
    const at = x(secondsOf(event));
    const current = open.get(lane);
    if (current && at - current.x < NEAR) current.events.push(event);
    else {
      const cluster = {lane, x: at, events: [event]};
      open.set(lane, cluster);
      all.push(cluster);
    }
  }
  return all;
}

function mark({lane, x, events}, chosen, actions) {
  const event = events.find(({type}) => type === 'sessionEnded' || type === 'stopped') ?? events.at(-1);
  const heap = events.length > 1 ? `${plural(events.length, 'event')}, the last: ` : '';
  const words = heap + wordsOf(heap ? events.at(-1) : event);
  const selected = chosen !== null && events.some(({eventId}) => eventId === chosen.eventId);
  const node = svg(
    'g',
    {
      class: `mark ${event.type}${events.length > 1 ? ' many' : ''}`,
      role: 'option',
      tabindex: -1,
      'aria-selected': String(selected),
      'aria-label': `${clock(event.timestamp)} ${words}`,
      transform: `translate(${x.toFixed(1)} ${middle(lane)})`,
      'data-id': event.eventId,
      'data-type': event.type,
    },
    svg('title', {}, `${clock(event.timestamp)}  ${words}`),
    svg('rect', {class: 'hit', x: -7, y: -8, width: 14, height: 16}),
    shape(event),
  );
  // Choosing a merged mark again shows its events one by one, the latest first.
  const choose = () => {
    const index = chosen ? events.findIndex(({eventId}) => eventId === chosen.eventId) : -1;
    actions.showEvent(index > 0 ? events[index - 1] : events.at(-1));
  };
  node.addEventListener('click', choose);
  node.addEventListener('keydown', (pressed) => {
    if (pressed.key !== 'Enter' && pressed.key !== ' ') return;
    pressed.preventDefault();
    choose();
  });
  return node;
}

function shape({type, payload}) {
  switch (type) {
    case 'exception':
      return svg('path', {class: 'shape', d: 'M0 -6 L6 5 L-6 5 Z'});
    case 'output':
      return svg('rect', {class: `shape ${payload.stream}`, x: -1.5, y: -5, width: 3, height: 10, rx: 1});
    case 'stopped':
      return svg('path', {class: 'shape', d: 'M-4.5 -5 h3 v10 h-3 z M1.5 -5 h3 v10 h-3 z'});
    case 'continued':
      return svg('path', {class: 'shape', d: 'M-4 -5 L5 0 L-4 5 Z'});
    case 'sessionStarted':
    case 'sessionEnded':
      return svg('rect', {class: 'shape', x: -4.5, y: -4.5, width: 9, height: 9, rx: 1.5});
    case 'toolCalled':
      return svg('rect', {class: `shape${payload.error ? ' failed' : ''}`, x: -3, y: -5, width: 6, height: 10, rx: 3});
    case 'stepped':
      return svg('circle', {class: 'shape', r: 2.5});
    default:
      return svg('circle', {class: 'shape', r: 4.5});
  }
}

/** Draw the states paused and running as a band behind the program's lane. */
function stateBand(events, x, stateNow) {
  const bands = [];
  let open = null;
  const close = (moment) => {
    if (open === null) return;
    const [from, to] = [x(open.since), x(moment)];
    const [y, height] = [AXIS + 2, LANE - 4];
    bands.push(svg('rect', {class: `band ${open.state}`, x: from, y, width: Math.max(1, to - from), height, rx: 3}));
  };
  const STATES = {sessionStarted: 'running', stopped: 'paused', continued: 'running', stepped: 'running'};
  for (const event of events) {
    if (event.payload.parentSessionId || !(event.type in STATES || event.type === 'sessionEnded')) continue;
    close(secondsOf(event));
    open = event.type in STATES ? {state: STATES[event.type], since: secondsOf(event)} : null;
  }
  if (stateNow && events.length) close(secondsOf(events.at(-1)));
  return bands;
}

/** Draw a tool call as long as it took; its event comes when it is done. */
function callBar(event, x) {
  if (event.type !== 'toolCalled') return [];
  const end = secondsOf(event);
  const [from, to] = [x(end - event.payload.milliseconds / 1000), x(end)];
  if (to - from < 4) return [];
  const y = middle(laneOf(event)) - 2.5;
  return [svg('rect', {class: 'call', x: from, y, width: to - from, height: 5, rx: 2.5})];
}

function silenceMark({from, to, seconds}, x) {
  const [left, right] = [x(from) + 6, x(to) - 6];
  if (right - left < 6) return [];
  const area = svg('rect', {class: 'silence', x: left, y: AXIS, width: right - left, height: HEIGHT - AXIS});
  if (right - left <= 34) return [area];
  const place = {x: (left + right) / 2, y: HEIGHT - 4, 'text-anchor': 'middle'};
  return [area, svg('text', {class: 'tick', ...place}, `+${duration(seconds)}`)];
}

/** Draw clock times along the axis, where there is room for them. */
function ticks(events, x, width) {
  const marks = [];
  let free = 0;
  for (const event of events) {
    const at = x(secondsOf(event));
    if (at < free || at > width - 50) continue;
    marks.push(svg('text', {class: 'tick', x: at, y: 11}, clock(event.timestamp)));
    free = at + 150;
  }
  return marks;
}

function walk(event, track) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  const marks = [...track.querySelectorAll('.mark')];
  if (!step || marks.length === 0) return;
  event.preventDefault();
  const next = marks[marks.indexOf(document.activeElement) + step];
  if (!next) return;
  marks.forEach((each) => each.setAttribute('tabindex', each === next ? '0' : '-1'));
  next.focus();
}

function drawDetail(view, event) {
  view.hidden = event === null;
  if (event === null) return;
  const facts = Object.entries(event.payload).filter(([, value]) => value !== null && value !== undefined);
  const thread = event.threadId === null ? [] : [`thread ${event.threadId}`];
  view.replaceChildren(
    el('p', {className: 'what'}, wordsOf(event)),
    el('p', {className: 'note'}, [`#${event.eventId}`, event.type, clock(event.timestamp), ...thread].join(' · ')),
    el('dl', {}, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, brief(value, 300))])),
    el('p', {className: 'note'}, 'Esc goes back to where the program is.'),
  );
}
