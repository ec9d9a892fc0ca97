// Painting rows of spans on a canvas: only what can be seen, and of spans that are narrower than a pixel one.

import {firstAfter, stepOf} from './drawing.js';
import {visible} from '../view/signs.js';

export const ROW = 18;
export const AXIS_HEIGHT = 18;

/** Each kind's colour, and that of the text on it. @type {Record<string, [string, string]>} */
export const KINDS = {
  running: ['--picture-running', '--picture-ink'],
  paused: ['--picture-paused', '--picture-ink'],
  waiting: ['--picture-waiting', '--picture-ink'],
  stop: ['--paused', '--panel'],
  call: ['--picture-call', '--picture-ink'],
  person: ['--picture-person', '--picture-ink'],
  failed: ['--picture-failed', '--picture-ink'],
  idle: ['--picture-idle', '--quiet'],
  flame0: ['--picture-flame-0', '--picture-ink'],
  flame1: ['--picture-flame-1', '--picture-ink'],
  flame2: ['--picture-flame-2', '--picture-ink'],
};

/** Narrower spans have no text. */
const TEXT_PIXELS = 26;
const TICK_PIXELS = 110;
const LONGEST_TEXT = 300;

/**
 * @typedef {object} Sight  What of a drawing is seen, and where.
 * @property {number} from  Of the axis.
 * @property {number} to
 * @property {number} top  How far it is scrolled, in pixels.
 * @property {number} width
 * @property {number} height
 * @property {number} names  The width of the column of names.
 * @property {{row: number, span: import('./drawing.js').Span | null} | null} at  What has the focus.
 * @property {boolean} focused
 * @property {number | null} pointer  Where the pointer is on the axis.
 */

export class Painter {
  /** @param {CanvasRenderingContext2D} context @param {import('./picture_colours.js').Colours} colours */
  constructor(context, colours) {
    this.context = context;
    this.colours = colours;
  }

  /** @param {import('./drawing.js').Drawing} drawing @param {Sight} sight */
  paint(drawing, sight) {
    const {context} = this;
    const {width, height, top, names} = sight;
    this.#family = getComputedStyle(context.canvas).fontFamily;
    context.clearRect(0, 0, width, height);
    const first = Math.floor(top / ROW);
    const last = Math.min(drawing.rows.length, Math.ceil((top + height) / ROW));
    context.textBaseline = 'middle';
    const {ticks, step} = this.#grid(sight);
    for (let index = first; index < last; index += 1) this.#row(drawing.rows[index], index, sight);
    this.#axis(drawing, sight, ticks, step);
    context.fillStyle = this.colours.of('--line');
    context.fillRect(names - 1, 0, 1, height);
  }

  #family = 'sans-serif';

  /** @param {import('./drawing.js').Row} row @param {number} index @param {Sight} sight */
  #row(row, index, sight) {
    const {context, colours} = this;
    const {width, top, names, at, focused} = sight;
    const y = AXIS_HEIGHT + index * ROW - top;
    if (at?.row === index) {
      context.fillStyle = colours.of('--chosen');
      context.fillRect(0, y, width, ROW);
    }
    context.save();
    context.beginPath();
    context.rect(names, y, width - names, ROW);
    context.clip();
    const {background = [], begin = -Infinity, end = Infinity} = row;
    this.#spans(background, y + (row.level ? 5 : 2), row.level ? ROW - 10 : ROW - 4, sight, begin, end);
    this.#spans(row.spans, y + 2, ROW - 4, sight, -Infinity, Infinity);
    if (at?.row === index && at.span) this.#outline(at.span, y, sight, focused);
    context.restore();
    context.save();
    context.beginPath();
    context.rect(0, y, names - 4, ROW);
    context.clip();
    context.font = `${row.level ? 400 : 600} 11px ${this.#family}`;
    context.fillStyle = colours.of(row.level ? '--quiet' : '--text');
    const sign = row.fold ? `${row.fold.closed ? '▸' : '▾'} ` : '';
    context.fillText(sign + visible(row.name).slice(0, LONGEST_TEXT), 10 + row.level * 12, y + ROW / 2 + 0.5);
    context.restore();
  }

  /**
   * @param {import('./drawing.js').Span[]} spans
   * @param {number} y
   * @param {number} height
   * @param {Sight} sight
   * @param {number} begin
   * @param {number} end
   */
  #spans(spans, y, height, sight, begin, end) {
    const {from, to, width, names} = sight;
    const {context} = this;
    const scale = (width - names) / (to - from || 1);
    /** Where the last narrow span of each kind was painted. @type {Record<string, number>} */
    const narrow = {};
    for (let index = firstAfter(spans, Math.max(from, begin)); index < spans.length; index += 1) {
      const span = spans[index];
      if (span.from > Math.min(to, end)) break;
      const left = Math.max(names - 2, names + (Math.max(span.from, begin) - from) * scale);
      const right = Math.min(width + 2, names + (Math.min(span.to, end) - from) * scale);
      const pixel = Math.round(left);
      if (right - left < 1 && narrow[span.kind] === pixel) continue;
      if (right - left < 1) narrow[span.kind] = pixel;
      const [fill, ink] = KINDS[span.kind] ?? KINDS.idle;
      context.fillStyle = this.colours.of(fill);
      const wide = Math.max(span.kind === 'stop' ? 3 : 1, right - left - (right - left > 4 ? 1 : 0));
      context.fillRect(span.kind === 'stop' ? left - 1.5 : left, y, wide, height);
      if (wide > TEXT_PIXELS && span.text && height >= 12) this.#text(span.text, left, y, wide, height, ink);
    }
  }

  /** @param {string} text @param {number} left @param {number} y @param {number} wide @param {number} height @param {string} ink */
  #text(text, left, y, wide, height, ink) {
    const {context} = this;
    context.font = `11px ${this.#family}`;
    context.fillStyle = this.colours.of(ink);
    const fits = Math.floor((wide - 8) / 5.6);
    const shown = visible(text.slice(0, LONGEST_TEXT));
    context.fillText(shown.length > fits ? `${shown.slice(0, Math.max(1, fits - 1))}…` : shown, left + 4, y + height / 2 + 0.5);
  }

  /** @param {import('./drawing.js').Span} span @param {number} y @param {Sight} sight @param {boolean} focused */
  #outline(span, y, {from, to, width, names}, focused) {
    const scale = (width - names) / (to - from || 1);
    const left = names + (span.from - from) * scale;
    this.context.strokeStyle = this.colours.of(focused ? '--accent' : '--text');
    this.context.lineWidth = focused ? 2 : 1;
    this.context.strokeRect(left - 1.5, y + 1, Math.max(4, (span.to - span.from) * scale + 2), ROW - 2);
  }

  /** Lines behind the rows, where the axis has its marks. @param {Sight} sight */
  #grid({from, to, width, height, names}) {
    const scale = (width - names) / (to - from || 1);
    const step = stepOf(to - from, (width - names) / TICK_PIXELS);
    const ticks = [];
    this.context.fillStyle = this.colours.of('--line');
    for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
      const x = names + (value - from) * scale;
      ticks.push({value, x});
      this.context.fillRect(Math.round(x), AXIS_HEIGHT - 4, 1, height);
    }
    return {ticks, step};
  }

  /** @param {import('./drawing.js').Drawing} drawing @param {Sight} sight @param {{value: number, x: number}[]} ticks @param {number} step */
  #axis(drawing, {from, to, width, height, names, pointer}, ticks, step) {
    const {context, colours} = this;
    const scale = (width - names) / (to - from || 1);
    context.fillStyle = colours.of('--panel');
    context.fillRect(0, 0, width, AXIS_HEIGHT);
    context.font = `10px ${this.#family}`;
    context.fillStyle = colours.of('--quiet');
    for (const {value, x} of ticks) if (x < width - 40) context.fillText(drawing.tick(value, step), x + 3, AXIS_HEIGHT / 2);
    context.strokeStyle = colours.of('--edge');
    context.lineWidth = 1;
    for (const at of drawing.cuts ?? []) {
      if (at < from || at > to) continue;
      const x = Math.round(names + (at - from) * scale) + 0.5;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(x, AXIS_HEIGHT);
      context.lineTo(x, height);
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = colours.of('--line');
    context.fillRect(0, AXIS_HEIGHT - 1, width, 1);
    if (pointer === null || pointer < from || pointer > to) return;
    context.fillStyle = colours.of('--text');
    context.fillRect(Math.round(names + (pointer - from) * scale), 0, 1, height);
  }
}
