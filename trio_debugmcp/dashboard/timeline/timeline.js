// The timeline as a picture: a lane for each kind of event, the program's state as a band, time from left to right.
// It is drawn once per frame at most, and only the part that can be seen.

import {BAND, callBox, callLane, callSpans, gapArea, pathOf, silence, states, ticks} from './bands.js';
import {copy} from '../view/clipboard.js';
import {byId, el, setText, svg} from '../view/dom.js';
import {LANES, isBookkeeping, laneOf, secondsOf, wordsOf} from './events.js';
import {AXIS, clusters, HEIGHT, Marks, middle} from './marks.js';
import {stopOf} from '../past/moment.js';
import {factsOf, nameOf} from '../view/readable.js';
import {timeScale} from '../view/scale.js';
import {brief, clockWithMilliseconds, plural} from '../view/words.js';

/** @typedef {import('../connection/eventlog.js').TimelineEvent} TimelineEvent */

const MARGIN = 14;

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
  /** Where the events are that were drawn last. @type {{shown: TimelineEvent[], at: (index: number) => number}} */
  let drawn = {shown: [], at: () => 0};
  let headAt = 0;

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
    const shown = events.filter((event) => laneOf(event) >= 0 && !isBookkeeping(event));
    setText(byId('timeline-note'), noteOf(shown.length, gaps, forgotten));
    const atEnd = view.left + view.width > width - 20;
    const before = width;
    width = Math.max(60, view.width) * 2 ** Number(zoom.value);
    if (width !== before) picture.setAttribute('width', String(width));
    if (atEnd && !chosen) scrollTo(width - view.width);
    const [left, right] = [view.left - AROUND, view.left + view.width + AROUND];
    const scale = timeScale(shown.map(secondsOf));
    const pixels = (/** @type {number} */ portion) => MARGIN + portion * (width - 2 * MARGIN);
    const x = (/** @type {number} */ moment) => pixels(scale.x(moment));
    const at = (/** @type {number} */ index) => pixels(scale.at(index));
    const seen = (/** @type {{from: number, to: number}} */ {from, to}) => to >= left && from <= right;

    const bands = states(shown, (event) => x(secondsOf(event)), active && session ? session.state : null);
    layers.paused.setAttribute('d', pathOf(bands.paused, left, right, BAND.y, BAND.height));
    layers.running.setAttribute('d', pathOf(bands.running, left, right, BAND.y, BAND.height));
    const box = callBox(shown.length ? callLane(shown) : 0);
    layers.calls.setAttribute('d', pathOf(callSpans(shown, x), left, right, box.y, box.height));
    const unloaded = gaps.map((gap) => placed(gap, events, x));
    const silences = scale.breaks.map((each) => ({...each, from: x(each.from), to: x(each.to)}));
    const overlaps = (silent) => unloaded.some(({from, to}) => from < silent.to && to > silent.from);
    layers.axis.replaceChildren(
      ...silences.filter((each) => seen(each) && !overlaps(each)).flatMap(silence),
      ...unloaded.filter(seen).flatMap(gapArea),
      ...ticks(shown, at, left, right, width),
    );
    marks.draw(clusters(shown, at), left, right, chosen);
    drawn = {shown, at};
    drawHead(past?.stop ?? 0);
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
    const index = stop ? drawn.shown.findIndex((event) => stopOf(event) === stop) : -1;
    const x = drawn.at(index);
    layers.head.setAttribute('d', index < 0 ? '' : `M${x.toFixed(1)} ${AXIS}V${HEIGHT}`);
    const moved = index >= 0 && stop !== headAt;
    if (moved && (x < view.left || x > view.left + view.width)) scrollTo(x - view.width / 2);
    headAt = index < 0 ? 0 : stop;
  }

  /** The number of the stop that is nearest to a place in the window; 0 if there is none. @param {number} clientX */
  function stopAt(clientX) {
    const x = clientX - track.getBoundingClientRect().left + track.scrollLeft;
    let [nearest, distance] = [0, Number.POSITIVE_INFINITY];
    drawn.shown.forEach((event, index) => {
      const stop = stopOf(event);
      if (!stop || Math.abs(drawn.at(index) - x) >= distance) return;
      [nearest, distance] = [stop, Math.abs(drawn.at(index) - x)];
    });
    return nearest;
  }

  /** Zoom and keep the moment at `pixel` of the visible part where it is. */
  function zoomTo(value, pixel) {
    const portion = (view.left + pixel) / width;
    zoom.value = String(value);
    draw();
    scrollTo(portion * width - pixel);
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
  track.addEventListener('scroll', looked, {passive: true});

  store.watch(['events', 'gaps', 'event', 'active', 'session', 'past'], drawSoon);
  store.watch(['event'], ({event}) => drawDetail(byId('event'), event));
  return {stopAt};
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
