// Numbers of several series with axes: values under the pointer, zoom by a drag, and the same by keys.

import {Colours} from '../pictures/picture_colours.js';
import {uPlot} from '../vendor/uplot.js';
import {el, setText} from '../view/dom.js';
import {alignedOf} from './plot_data.js';

/** @typedef {import('./plot_data.js').Series} Series */

/** @type {any} */
const Plotter = uPlot;

const HEIGHT = 190;

/** How each series is drawn: not by its colour alone. */
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4], [1, 4]];
export const MOST_SERIES = DASHES.length;

/** The distances of two marks at the axis of places, which are whole numbers. */
const STEPS = Array.from({length: 10}, (_, power) => [1, 2, 5].map((first) => first * 10 ** power)).flat();

/**
 * What a plot is of. `unit`: what a place is, such as a stop; `here`: the place that is shown; `go` leads to one.
 *
 * @typedef {{label: string, unit: string, here?: number, go?: (x: number) => void}} PlotOptions
 */

/**
 * A plot, to be put into the page; it ends when it is taken out.
 *
 * @param {Series[]} series  Six at most.
 * @param {PlotOptions} options
 */
export const plot = (series, options) => new Plot(series, options).node;

class Plot {
  #series;
  #options;
  #data;
  #at;
  /** @type {any} */
  #drawn = null;
  #downAt = 0;
  #colours;

  #place = el('span', {className: 'note'});
  #drawing = el('div', {className: 'plot-drawing'});
  /** The elements that say the value of each series at the place that is looked at. @type {HTMLElement[]} */
  #values;

  /** @param {Series[]} series @param {PlotOptions} options */
  constructor(series, options) {
    this.#series = series;
    this.#options = {here: NaN, ...options};
    this.#data = alignedOf(series);
    const {xs} = this.#data;
    const here = xs.indexOf(this.#options.here);
    this.#at = here < 0 ? xs.length - 1 : here;
    this.#values = series.map(() => el('b'));
    this.node = this.#made();
    this.#colours = new Colours(this.node, () => this.#drawn?.redraw(false));
    this.#followWidth();
    this.#say(this.#at);
  }

  #made() {
    const {label, go} = this.#options;
    const keys = this.#series.map(({name}, index) =>
      el('span', {className: `key key-${index}`}, el('i'), el('span', {className: 'name'}, name), this.#values[index]));
    const node = el('div', {
      className: 'plot', tabIndex: 0, role: 'slider', ariaLabel: `${label}. Arrows go through it, + and − zoom, 0 shows all${go ? ', Enter leads there' : ''}`,
      ariaValueMin: '1', ariaValueMax: String(this.#data.xs.length),
    }, this.#drawing, el('div', {className: 'plot-legend', ariaHidden: 'true'}, this.#place, ...keys));
    node.addEventListener('keydown', (event) => this.#pressed(event));
    this.#drawing.addEventListener('pointerdown', (event) => (this.#downAt = event.clientX));
    this.#drawing.addEventListener('click', (event) => {
      const isDrag = Math.abs(event.clientX - this.#downAt) >= 4;
      if (!isDrag && this.#drawn?.over.contains(event.target)) go?.(this.#data.xs[this.#at]);
    });
    return node;
  }

  /** Draw once there is room, and anew as wide as it is. */
  #followWidth() {
    const watch = new ResizeObserver(() => {
      const width = this.node.clientWidth;
      if (!this.node.isConnected) {
        watch.disconnect();
        this.#colours.end();
        this.#drawn?.destroy();
      } else if (width > 0 && this.#drawn) this.#drawn.setSize({width, height: HEIGHT});
      else if (width > 0) this.#drawn = this.#plotter(width);
    });
    watch.observe(this.node);
  }

  /** @param {number} width */
  #plotter(width) {
    const colour = (/** @type {string} */ property) => () => this.#colours.of(property);
    const {xs, rows, tick} = this.#data;
    const rule = {stroke: colour('--line'), width: 1};
    const axis = {stroke: colour('--quiet'), grid: rule, ticks: {...rule, size: 4}, font: '11px sans-serif'};
    const lines = this.#series.map(({name}, index) => ({
      label: name, stroke: colour(`--plot-${index}`), width: 1.8, dash: DASHES[index], spanGaps: true,
      points: {show: xs.length < 80, size: 5, fill: colour('--panel')},
    }));
    return new Plotter({
      width, height: HEIGHT, legend: {show: false}, cursor: {y: false, drag: {x: true, y: false}}, scales: {x: {time: false}},
      series: [{}, ...lines],
      axes: [{...axis, size: 26, incrs: STEPS}, {...axis, size: sizeOf, values: (_u, splits) => splits.map(tick)}],
      hooks: {
        setCursor: [({cursor}) => typeof cursor.idx === 'number' && this.#say(cursor.idx)],
        draw: [(drawn) => this.#markHere(drawn)],
      },
    }, [xs, ...rows], this.#drawing);
  }

  /** A line at the place that is shown. @param {any} drawn */
  #markHere(drawn) {
    const {here} = this.#options;
    const {min, max} = drawn.scales.x;
    if (!this.#data.xs.includes(here) || here < min || here > max) return;
    drawn.ctx.fillStyle = this.#colours.of('--paused-line');
    drawn.ctx.fillRect(Math.round(drawn.valToPos(here, 'x', true)) - 1, drawn.bbox.top, 2 * devicePixelRatio, drawn.bbox.height);
  }

  /** Show the values at a place. @param {number} index */
  #say(index) {
    const {xs, words} = this.#data;
    this.#at = Math.max(0, Math.min(xs.length - 1, index));
    const where = `${this.#options.unit} ${xs[this.#at]}`;
    const values = words.map((texts) => texts[this.#at]);
    setText(this.#place, where);
    this.#values.forEach((element, each) => setText(element, values[each] ?? '–'));
    this.node.ariaValueNow = String(this.#at + 1);
    this.node.ariaValueText = `${where}: ${this.#series.map(({name}, each) => `${name} ${values[each] ?? 'not read'}`).join(', ')}`;
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (!this.#drawn || event.altKey || event.ctrlKey || event.metaKey) return;
    const {xs} = this.#data;
    const last = xs.length - 1;
    /** @type {Record<string, number>} */
    const places = {ArrowRight: this.#at + 1, ArrowLeft: this.#at - 1, PageDown: this.#at + 10, PageUp: this.#at - 10, Home: 0, End: last};
    /** @type {Record<string, number>} */
    const factors = {'+': 0.5, '=': 0.5, '-': 2};
    if (event.key in places) this.#point(places[event.key]);
    else if (event.key in factors) this.#zoom(factors[event.key]);
    else if (event.key === '0') this.#show(xs[this.#at], xs[0], xs[last]);
    else if (event.key === 'Enter') this.#options.go?.(xs[this.#at]);
    else return;
    event.preventDefault();
  }

  /** Look at a place, which comes into sight. @param {number} index */
  #point(index) {
    const {xs} = this.#data;
    const x = xs[Math.max(0, Math.min(xs.length - 1, index))];
    const {min, max} = this.#drawn.scales.x;
    const half = (max - min) / 2;
    if (x < min || x > max) this.#show(x, x - half, x + half);
    else this.#show(x, min, max);
  }

  /** @param {number} factor  Of what is in sight, around the place that is looked at. */
  #zoom(factor) {
    const {xs} = this.#data;
    const x = xs[this.#at];
    const {min, max} = this.#drawn.scales.x;
    const half = Math.max(1, ((max - min) * factor) / 2);
    this.#show(x, Math.max(xs[0], x - half), Math.min(xs[xs.length - 1], x + half));
  }

  /** Draw what is between two places, with the cursor at a third: it would stay where it is on the screen. */
  #show(/** @type {number} */ x, /** @type {number} */ min, /** @type {number} */ max) {
    this.#drawn.batch(() => this.#drawn.setScale('x', {min, max}));
    this.#drawn.setCursor({left: this.#drawn.valToPos(x, 'x'), top: 10});
    this.#say(this.#data.xs.indexOf(x));
  }
}

/** The room that the longest of the texts at an axis needs. @param {any} _u @param {string[] | null} texts */
const sizeOf = (_u, texts) => 18 + 6.5 * Math.max(2, ...(texts ?? []).map((text) => text.length));
