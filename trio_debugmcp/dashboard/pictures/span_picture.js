// A picture of spans on rows: zoomed, moved and read by pointer and by keys, and the same as a list. It is drawn once per
// frame at most, and only while it is in sight.

import {el, setText} from '../view/dom.js';
import {grown, spanAt, stillAt, within, zoomed} from './drawing.js';
import {AXIS_HEIGHT, Painter, ROW} from './paint_spans.js';
import {Colours} from './picture_colours.js';
import {pressed} from './span_keys.js';
import {SpanList} from './span_list.js';
import {SpanPointer} from './span_pointer.js';

let count = 0;

/** @typedef {import('./drawing.js').Span} Span @typedef {import('./drawing.js').Drawing} Drawing @typedef {import('./drawing.js').Row} Row */

export class SpanPicture {
  /** @type {Drawing} */
  drawing = {rows: [], from: 0, to: 1, tick: String};
  seen = {from: 0, to: 1};
  /** @type {{row: number, span: Span | null} | null} */
  #at = null;
  /** @type {number | null} */
  #pointer = null;
  size = {width: 0, height: 0, top: 0};
  #frame = 0;

  /**
   * @param {{label: string, empty: string, onChoose: (line: {row: Row, span: Span | null}) => void, onSight?: () => void,
   *   newestLast?: boolean}} options  `newestLast`: a view at the last row stays at the last row.
   */
  constructor({label, empty, onChoose, onSight = () => undefined, newestLast = false}) {
    count += 1;
    this.onChoose = onChoose;
    this.newestLast = newestLast;
    this.option = el('div', {id: `span-${count}`, role: 'option', className: 'unseen', ariaSelected: 'true'}, label);
    this.canvas = el('canvas', {ariaHidden: 'true'});
    this.tip = el('div', {className: 'picture-tip', ariaHidden: 'true', hidden: true});
    this.view = el('div', {
      className: 'spans', tabIndex: 0, role: 'listbox', ariaLabel: `${label}. Arrows move, + and − zoom, f fills the width with a part, 0 shows all`,
      'aria-activedescendant': this.option.id,
    }, this.option, el('div', {className: 'spacer'}, this.canvas));
    this.list = new SpanList(label, onChoose);
    this.asList = el('button', {type: 'button', className: 'small', ariaPressed: 'false', onclick: () => this.#toggleList()}, 'List');
    const tool = (words, title, onclick) => el('button', {type: 'button', className: 'small', ariaLabel: title, title, onclick}, words);
    const [out, closer] = [tool('−', 'Zoom out', () => this.zoom(2)), tool('+', 'Zoom in', () => this.zoom(0.5))];
    this.tools = el('span', {className: 'tools'}, out, closer, tool('All', 'Show all', () => this.fit()), this.asList);
    this.nothing = el('p', {className: 'nothing'}, empty);
    this.node = el('div', {className: 'span-picture'}, this.nothing, this.view, this.list.node, this.tip);
    const colours = new Colours(this.node, () => this.#drawSoon());
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    this.painter = new Painter(context, colours);
    this.#listen();
    new IntersectionObserver(([{isIntersecting}]) => {
      this.inSight = isIntersecting;
      if (isIntersecting) onSight();
      this.#drawSoon();
    }).observe(this.node);
    this.show(this.drawing);
  }

  /** Whether anybody can see it: otherwise changes need not be drawn. */
  inSight = false;

  /** Show another drawing; what is seen of it stays where it was. @param {Drawing} drawing */
  show(drawing) {
    const before = this.drawing.rows;
    const {height, top} = this.size;
    const atEnd = before.length === 0 || top + height >= before.length * ROW + AXIS_HEIGHT - 2;
    this.seen = grown(this.seen, this.drawing, drawing);
    this.drawing = drawing;
    const isEmpty = drawing.rows.length === 0;
    const isList = this.asList.ariaPressed === 'true';
    this.nothing.hidden = !isEmpty;
    this.view.hidden = isEmpty || isList;
    this.list.node.hidden = isEmpty || !isList;
    this.view.style.setProperty('--rows-height', `${drawing.rows.length * ROW}px`);
    if (this.newestLast && atEnd) this.view.scrollTop = drawing.rows.length * ROW;
    this.#at = this.#at && stillAt(this.#at.span, this.#at.row, before, drawing.rows);
    if (isList) this.list.show(drawing);
    this.#say();
  }

  /** Show all of the axis. */
  fit() {
    this.see({from: this.drawing.from, to: this.drawing.to});
  }

  /** Show what has the focus as wide as can be. */
  zoomToFocus() {
    if (this.#at?.span) this.zoomTo(this.#at.span);
  }

  /** Show a part of the axis as wide as can be; all of it, if that is shown already. @param {{from: number, to: number}} part */
  zoomTo({from, to}) {
    const part = within({from, to}, this.drawing);
    if (part.from === this.seen.from && part.to === this.seen.to) this.fit();
    else this.see(part);
  }

  #toggleList() {
    this.asList.ariaPressed = String(this.asList.ariaPressed !== 'true');
    this.show(this.drawing);
  }

  #listen() {
    const {view} = this;
    new ResizeObserver(() => this.#measure()).observe(view);
    view.addEventListener('scroll', () => this.#measure(), {passive: true});
    new SpanPointer(this).listen();
    view.addEventListener('keydown', (event) => pressed(this, event));
    view.addEventListener('focus', () => this.#say());
    view.addEventListener('blur', () => this.#drawSoon());
  }

  #measure() {
    const {clientWidth: width, clientHeight: height, scrollTop: top} = this.view;
    this.size = {width, height, top};
    this.view.style.setProperty('--view-height', `${height}px`);
    this.#drawSoon();
  }

  get names() {
    return Math.max(70, Math.min(190, this.size.width * 0.2));
  }

  /** The place on the axis of a pixel of the view. @param {number} x */
  placeOf(x) {
    const {from, to} = this.seen;
    return from + ((x - this.names) / (this.size.width - this.names || 1)) * (to - from);
  }

  see(/** @type {{from: number, to: number}} */ seen) {
    this.seen = seen;
    this.#drawSoon();
  }

  /** @param {number} factor @param {number} [place] */
  zoom(factor, place) {
    const {from, to} = this.seen;
    const span = this.#at?.span;
    const middle = span && span.to >= from && span.from <= to ? (span.from + span.to) / 2 : (from + to) / 2;
    this.see(zoomed(this.seen, this.drawing, factor, place ?? middle));
  }

  /** Move by a portion of what is seen. @param {number} portion */
  pan(portion) {
    const {from, to} = this.seen;
    const far = (to - from) * portion;
    this.see(within({from: from + far, to: to + far}, this.drawing));
  }

  #drawSoon() {
    if (!this.inSight) return;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const {width, height, top} = this.size;
    if (this.view.hidden || width === 0 || height === 0) return;
    const ratio = devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) [this.canvas.width, this.canvas.height] = [wide, high];
    this.painter.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const focused = document.activeElement === this.view;
    this.painter.paint(this.drawing, {...this.seen, top, width, height, names: this.names, at: this.#at, focused, pointer: this.#pointer});
  }

  /** Choose what is there. @param {number} row @param {Span | null} span */
  take(row, span) {
    this.#at = {row, span};
    this.#say();
    this.choose();
  }

  /** Draw a line at a place of the axis; null for none. @param {number | null} place */
  point(place) {
    this.#pointer = place;
    this.#drawSoon();
  }

  choose() {
    const row = this.#at && this.drawing.rows[this.#at.row];
    if (this.#at && row) this.onChoose({row, span: this.#at.span});
  }

  /** @param {number} step */
  moveRow(step) {
    const row = Math.max(0, Math.min(this.drawing.rows.length - 1, (this.#at?.row ?? (step > 0 ? -1 : 0)) + step));
    const before = this.#at?.span;
    const middle = before ? (before.from + before.to) / 2 : (this.seen.from + this.seen.to) / 2;
    this.#at = {row, span: before ? spanAt({...this.drawing.rows[row], background: []}, middle, Infinity) : null};
    this.#reveal();
  }

  /** @param {number} step */
  moveSpan(step) {
    const row = this.#at?.row ?? 0;
    const {spans} = this.drawing.rows[row] ?? {spans: []};
    const from = this.#at?.span ? spans.indexOf(this.#at.span) : step > 0 ? -1 : spans.length;
    const next = Math.max(0, Math.min(spans.length - 1, from + step));
    this.#at = {row, span: spans[next] ?? null};
    this.#reveal();
  }

  /** Bring what has the focus into sight, and say it. */
  #reveal() {
    const {row, span} = /** @type {{row: number, span: Span | null}} */ (this.#at);
    const [top, room] = [this.size.top, this.size.height - AXIS_HEIGHT];
    if (row * ROW < top) this.view.scrollTop = row * ROW;
    else if ((row + 1) * ROW > top + room) this.view.scrollTop = (row + 1) * ROW - room;
    const {from, to} = this.seen;
    if (span && (span.to < from || span.from > to)) {
      const middle = (span.from + span.to) / 2;
      this.seen = within({from: middle - (to - from) / 2, to: middle + (to - from) / 2}, this.drawing);
    }
    this.#say();
  }

  #say() {
    const row = this.#at && this.drawing.rows[this.#at.row];
    if (this.#at && row) {
      const {span} = this.#at;
      setText(this.option, span ? `${row.name}: ${span.says}` : row.says);
      const all = span ? row.spans : this.drawing.rows;
      this.option.ariaPosInSet = String((span ? row.spans.indexOf(span) : this.#at.row) + 1);
      this.option.ariaSetSize = String(all.length);
    }
    this.#drawSoon();
  }
}
