// The timeline as a picture: a lane for each kind of event, the program's state as a band, time from left to right.
// It is drawn once per frame at most, and only the part that can be seen.

import {BAND, callBox, CALL_LANE, gapArea, pathOf, silence, tick, ticks} from './bands.js';
import {copy} from '../view/clipboard.js';
import {byId, el, setText, svg} from '../view/dom.js';
import {Clusters, Course} from './course.js';
import {LANES, secondsOf, wordsOf} from './events.js';
import {AXIS, HEIGHT, Marks, middle, NEAR} from './marks.js';
import {stopOf} from '../past/moment.js';
import {factsOf, nameOf} from '../view/readable.js';
import {brief, clockWithMilliseconds, plural} from '../view/words.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */

const MARGIN = 14;

/** Pixels of a call that has a length. */
const LEAST_CALL = 4;

/** How far beyond what can be seen marks are drawn, for a scroll that comes before the next frame. */
const AROUND = 300;

export function createTimeline(store, actions) {
  const track = byId('timeline');
  const zoom = byId('zoom', HTMLInputElement);
  const layers = {
    lanes: svg('g'),
    axis: svg('g'),
    paused: svg('path', {class: 'band paused'}),
    running: svg('path', {class: 'band running'}),
    calls: svg('path', {class: 'call'}),
    head: svg('path', {class: 'head'}),
    marks: svg('g', {role: 'listbox', 'aria-label': 'Events, oldest first'}),
  };
  const picture = svg('svg', {height: HEIGHT}, ...Object.values(layers));
  const marks = new Marks(layers.marks, (event) => actions.showEvent(event));
  let width = 0;
  let frame = 0;
  /**
   * What can be seen of the track. It is read when it changes: in a draw, after all that a stop has changed, the
   * browser would lay out the whole page for it, and once more for what is drawn then.
   */
  const view = {left: 0, width: 0};
  const course = new Course();
  const clusters = new Clusters();
  /** Pixels of a second. */
  let unit = 1;
  /** What the axis looks like; it is made anew only where that changes. */
  let axisDrawn = '';
  let headAt = 0;
  const pixels = (/** @type {number} */ at) => MARGIN + at * unit;
  const placeOf = (/** @type {number} */ index) => pixels(course.scale.at(index));

  byId('lanes').replaceChildren(...LANES.map(({name}) => el('span', {}, name)));
  layers.lanes.append(
    ...LANES.map((_, lane) => svg('line', {class: 'lane', x1: 0, x2: '100%', y1: middle(lane), y2: middle(lane)})),
  );
  track.replaceChildren(picture);

  /** Draw in the next frame, however often something changes until then. */
  const drawSoon = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      draw();
    });
  };

  function draw() {
    const {events, event: chosen, active, session, gaps, forgotten, past} = store.state;
    course.take(events);
    setText(byId('timeline-note'), noteOf(course.count, gaps, forgotten));
    fit(!chosen);
    const seen = {left: view.left - AROUND, right: view.left + view.width + AROUND, pixels};
    const {bands, open, calls, scale} = course;
    const now = open && active && session ? {...open, to: scale.end} : null;
    for (const state of /** @type {const} */ (['paused', 'running'])) {
      const spans = now?.state === state ? [...bands[state], now] : bands[state];
      setPath(layers[state], pathOf(spans, seen, BAND));
    }
    setPath(layers.calls, pathOf(calls, seen, callBox(CALL_LANE), LEAST_CALL));
    drawAxis(gaps, events, seen);
    clusters.take(course, NEAR / unit);
    marks.draw(clusters, seen, chosen);
    drawHead(past?.stop ?? 0);
  }

  /** Choose the scale, and keep the end in sight if it is. @param {boolean} follows */
  function fit(follows) {
    const atEnd = view.left + view.width > width - 20;
    const [before, moment] = [width, (view.left - MARGIN) / unit];
    const {room, end} = course.scale;
    const whole = Math.max(60, view.width) * 2 ** Number(zoom.value);
    unit = (whole - 2 * MARGIN) / room;
    width = Math.max(60, view.width, pixels(end) + MARGIN); // zoomed, there is nothing behind the last event
    if (width !== before) picture.setAttribute('width', String(width));
    scrollTo(atEnd && follows ? width - view.width : view.left > 0 ? pixels(moment) : 0);
  }

  /** Draw silences, what is not loaded, and clock times. */
  function drawAxis(gaps, events, {left, right}) {
    const x = (/** @type {number} */ moment) => pixels(course.scale.x(moment));
    const isSeen = (/** @type {{from: number, to: number}} */ {from, to}) => to >= left && from <= right;
    const unloaded = gaps.map((gap) => placed(gap, events, x)).filter(isSeen);
    const overlaps = (silent) => unloaded.some(({from, to}) => from < silent.to && to > silent.from);
    const silences = course.scale.breaks.map((each) => ({...each, from: x(each.from), to: x(each.to)}))
      .filter((each) => isSeen(each) && !overlaps(each));
    const times = ticks(course.shown, placeOf, left, right, width, course.first);
    const looks = JSON.stringify([silences, unloaded, times]);
    if (looks === axisDrawn) return;
    axisDrawn = looks;
    layers.axis.replaceChildren(...silences.flatMap(silence), ...unloaded.flatMap(gapArea), ...times.map(tick));
  }

  /** @param {number} left */
  function scrollTo(left) {
    const wanted = Math.max(0, Math.min(left, width - view.width));
    if (Math.abs(wanted - view.left) < 1) return;
    track.scrollLeft = wanted;
    view.left = track.scrollLeft;
  }

  /** Draw the line at the stop of the past that the page shows, and bring it into sight. @param {number} stop */
  function drawHead(stop) {
    const index = stop ? course.shown.findIndex((event) => stopOf(event) === stop) : -1;
    const x = index < 0 ? 0 : placeOf(index);
    layers.head.setAttribute('d', index < 0 ? '' : `M${x.toFixed(1)} ${AXIS}V${HEIGHT}`);
    const moved = index >= 0 && stop !== headAt;
    if (moved && (x < view.left || x > view.left + view.width)) scrollTo(x - view.width / 2);
    headAt = index < 0 ? 0 : stop;
  }

  /** The number of the stop that is nearest to a place in the window; 0 if there is none. @param {number} clientX */
  function stopAt(clientX) {
    const x = clientX - track.getBoundingClientRect().left + track.scrollLeft;
    let [nearest, distance] = [0, Number.POSITIVE_INFINITY];
    course.shown.forEach((event, index) => {
      const stop = stopOf(event);
      if (!stop || Math.abs(placeOf(index) - x) >= distance) return;
      [nearest, distance] = [stop, Math.abs(placeOf(index) - x)];
    });
    return nearest;
  }

  /** Zoom and keep the moment at `pixel` of the visible part where it is. */
  function zoomTo(value, pixel) {
    const moment = (view.left + pixel - MARGIN) / unit;
    zoom.value = String(value);
    draw();
    scrollTo(pixels(moment) - pixel);
  }

  let last = zoom.value;
  zoom.addEventListener('input', () => {
    const value = zoom.value;
    zoom.value = last;
    zoomTo(value, view.width / 2);
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
  const looked = () => {
    [view.left, view.width] = [track.scrollLeft, track.clientWidth];
    drawSoon();
  };
  new ResizeObserver(looked).observe(track);
  track.addEventListener('focusin', ({target}) => marks.count(target));
  track.addEventListener('scroll', looked, {passive: true});

  store.watch(['events', 'gaps', 'event', 'active', 'session', 'past'], drawSoon);
  store.watch(['event'], ({event}) => drawDetail(byId('event'), event));
  return {stopAt};
}

/** @param {SVGPathElement} path @param {string} d */
function setPath(path, d) {
  if (path.getAttribute('d') !== d) path.setAttribute('d', d);
}

function noteOf(count, gaps, forgotten) {
  const missing = gaps.reduce((sum, {after, before}) => sum + before - after - 1, 0);
  const words = [plural(count, 'event')];
  if (missing) words.push(`${missing} not loaded yet`);
  if (forgotten) words.push(`${forgotten} earlier not kept`);
  return words.join(', ');
}

/** Return where a gap is, in pixels: from the last event before it to the first one after it. */
function placed({after, before}, events, x) {
  const next = events.findIndex(({eventId}) => eventId >= before);
  const to = x(secondsOf(events[next]));
  return {from: next > 0 ? x(secondsOf(events[next - 1])) : Math.min(0, to), to, missing: before - after - 1};
}

/** @param {TimelineEvent} event */
function copyButton(event) {
  const text = () => JSON.stringify({...event, seconds: undefined}, null, 2);
  const button = el('button', {type: 'button', className: 'small', title: 'Copy the event as JSON', onclick: () => copy(text(), button)}, 'Copy');
  return button;
}

function drawDetail(view, event) {
  view.hidden = event === null;
  if (event === null) return;
  const thread = event.threadId === null ? [] : [`thread ${event.threadId}`];
  const about = [`event ${event.eventId}`, nameOf(event.type), clockWithMilliseconds(event.timestamp), ...thread];
  view.replaceChildren(
    el('div', {className: 'top'}, el('p', {className: 'what'}, wordsOf(event)), copyButton(event)),
    el('p', {className: 'note'}, about.join(' · ')),
    el('dl', {}, ...factsOf(event).flatMap(({name, value, title}) => [el('dt', {}, name), el('dd', {title}, brief(value, 300))])),
    el('p', {className: 'note'}, 'Esc goes back to where the program is.'),
  );
}
