// The pointer over a picture of spans: a box beside it says what is under it; the wheel zooms, a
// drag moves, a click chooses, and a double click fills the width with a part.

import {setText} from '../view/dom.js';
import {spanAt, within} from './drawing.js';
import {AXIS_HEIGHT, ROW} from './paint_spans.js';

/** How far from a span the pointer may be, in pixels. */
const SLACK = 4;
const DRAG_PIXELS = 4;

/** @typedef {import('./drawing.js').Span} Span */

export class SpanPointer {
  /** @param {import('./span_picture.js').SpanPicture} picture */
  constructor(picture) {
    this.picture = picture;
  }

  listen() {
    const {view} = this.picture;
    view.addEventListener('wheel', (event) => this.#wheeled(event), {passive: false});
    view.addEventListener('pointerdown', (event) => this.#dragged(event));
    view.addEventListener('pointermove', (event) => this.#pointed(event));
    view.addEventListener('pointerleave', () => this.#pointed(null));
    view.addEventListener('dblclick', (event) => {
      const span = this.#under(event)?.span;
      if (span) this.picture.zoomTo(span);
    });
  }

  /** @param {WheelEvent} event */
  #wheeled(event) {
    const across = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey) this.picture.zoom(1.25 ** Math.sign(event.deltaY), this.picture.placeOf(event.clientX - this.picture.view.getBoundingClientRect().left));
    else if (across) this.picture.pan(across / 600);
    else return;
    event.preventDefault();
  }

  /** @param {MouseEvent} event @returns {{row: number, span: Span | null, x: number, y: number} | null} */
  #under(event) {
    const box = this.picture.view.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor((y - AXIS_HEIGHT + this.picture.size.top) / ROW);
    const found = this.picture.drawing.rows[row];
    if (!found || y < AXIS_HEIGHT) return null;
    const slack = (SLACK * (this.picture.seen.to - this.picture.seen.from)) / (this.picture.size.width - this.picture.names || 1);
    return {row, span: x < this.picture.names ? null : spanAt(found, this.picture.placeOf(x), slack), x, y};
  }

  /** @param {PointerEvent | null} event */
  #pointed(event) {
    const under = event && this.#under(event);
    this.picture.tip.hidden = !under || event?.buttons !== 0;
    const x = event ? event.clientX - this.picture.view.getBoundingClientRect().left : -1;
    if (under) {
      const row = this.picture.drawing.rows[under.row];
      setText(this.picture.tip, under.span ? under.span.says : row.says);
      this.picture.tip.style.setProperty('--tip-x', `${Math.min(under.x + 12, Math.max(0, this.picture.size.width - 330))}px`);
      this.picture.tip.style.setProperty('--tip-y', `${under.y + 16}px`);
      this.picture.view.classList.toggle('leads', Boolean(under.span?.moment ?? row.moment ?? (under.span ? null : row.fold)));
    }
    this.picture.point(x > this.picture.names ? this.picture.placeOf(x) : null);
  }

  /** @param {PointerEvent} down */
  #dragged(down) {
    if (down.button !== 0 || down.pointerType === 'touch') {
      if (down.pointerType === 'touch') this.#chooseAt(down);
      return;
    }
    const seen = this.picture.seen;
    let moved = false;
    const move = (/** @type {PointerEvent} */ event) => {
      moved ||= Math.abs(event.clientX - down.clientX) > DRAG_PIXELS;
      if (!moved) return;
      const far = ((down.clientX - event.clientX) / (this.picture.size.width - this.picture.names || 1)) * (seen.to - seen.from);
      this.picture.see(within({from: seen.from + far, to: seen.to + far}, this.picture.drawing));
    };
    const done = (/** @type {PointerEvent} */ event) => {
      this.picture.view.removeEventListener('pointermove', move);
      if (!moved && event.type === 'pointerup') this.#chooseAt(event);
    };
    this.picture.view.setPointerCapture(down.pointerId);
    this.picture.view.addEventListener('pointermove', move);
    for (const end of ['pointerup', 'pointercancel']) this.picture.view.addEventListener(end, /** @type {EventListener} */ (done), {once: true});
  }

  /** @param {PointerEvent} event */
  #chooseAt(event) {
    const under = this.#under(event);
    if (under) this.picture.take(under.row, under.span);
  }
}
