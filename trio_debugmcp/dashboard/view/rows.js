// Rows of one height in a view that scrolls. Only those that can be seen are in the document, so that there may be
// hundreds of thousands of them.
//
//     const rows = new Rows(list, {height: 20, make: (index) => el('li', {}, texts[index])});
//     rows.reset(texts.length);
//     rows.reveal(41);
//
// A row with the keyboard's focus stays in the document, wherever the view is scrolled. Each row says which of how many
// it is, as screen readers count what is there.

/** Rows above and below what can be seen, for a scroll that comes before the next frame. */
const AROUND = 30;

/** What a browser can lay out; rows beyond are not reached by scrolling. */
const MOST_PIXELS = 30_000_000;

/**
 * `fixed()` is the part of the view above each row that is revealed; null: one that can be seen stays where it is.
 *
 * @typedef {{height: number, make: (index: number) => HTMLElement, mark?: (row: HTMLElement, index: number) => void, fixed?: () => number | null}} Options
 */

/** The part of the view above a row that could not be seen. */
const ABOVE = 0.4;

export class Rows {
  /** @type {Map<number, HTMLElement>} */
  #drawn = new Map();
  #count = 0;
  #frame = 0;
  /**
   * How far the view is scrolled, and how high it is; 0 if that is not known. It is read when it changes: in the midst
   * of a draw the browser would lay out the whole page for it.
   */
  #top = 0;
  #height = 0;
  /** The row that was revealed last, and whether it can still be seen: the person may have scrolled from there. */
  #revealed = -1;
  #inSight = false;

  /** A row that is always in the document: the one to which the tab key leads. */
  kept = -1;

  /**
   * `make(index)` returns a row; `mark(row, index)` brings one that is there up to date, and has to be cheap.
   *
   * @param {HTMLElement} view
   * @param {Options} options
   */
  constructor(view, {height, make, mark = () => undefined, fixed = () => null}) {
    this.view = view;
    this.height = height;
    this.make = make;
    this.mark = mark;
    this.fixed = fixed;
    view.classList.add('virtual');
    view.addEventListener('scroll', () => this.#scrolled(), {passive: true});
    new ResizeObserver(() => this.#resized()).observe(view);
  }

  get count() {
    return this.#count;
  }

  /** Show other rows, from the first on. @param {number} count */
  reset(count) {
    for (const row of this.#drawn.values()) row.remove();
    this.#drawn.clear();
    this.#count = count;
    this.kept = this.#revealed = -1;
    this.view.style.setProperty('--rows-height', `${Math.min(count * this.height, MOST_PIXELS)}px`);
    this.#top = Number.NaN; // the person may have scrolled meanwhile
    this.#scrollTo(0);
    this.draw();
  }

  /** Mark all rows that are in the document again. */
  update() {
    for (const [index, row] of this.#drawn) this.mark(row, index);
  }

  /** Return a row that is in the document, or undefined. @param {number} index */
  row(index) {
    return this.#drawn.get(index);
  }

  /** Scroll so that a row can be seen, with some around it, if it cannot. @param {number} index */
  reveal(index) {
    if (index < 0 || index >= this.#count) return;
    this.#revealed = index;
    const [top, bottom] = [index * this.height, (index + 1) * this.height];
    const height = this.#seenHeight();
    const margin = height / 6;
    const fixed = this.fixed();
    const isSeen = top - margin >= this.#top && bottom + margin <= this.#top + height;
    if (fixed !== null || !isSeen) this.#scrollTo(Math.max(0, top - height * (fixed ?? ABOVE)));
    this.#inSight = true;
    this.draw();
  }

  /** Reveal a row and return it, to be given the focus. @param {number} index */
  reached(index) {
    this.reveal(index);
    return this.#row(index);
  }

  /** Return which row an element is in, or -1. @param {Element | null} element */
  indexOf(element) {
    for (const [index, row] of this.#drawn) if (element !== null && row.contains(element)) return index;
    return -1;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.#top / this.height) - AROUND);
    const last = Math.min(this.#count, Math.ceil((this.#top + this.#seenHeight()) / this.height) + AROUND);
    const focused = this.indexOf(document.activeElement);
    for (const [index, row] of this.#drawn) {
      if ((index < first || index >= last) && index !== focused && index !== this.kept) {
        row.remove();
        this.#drawn.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) this.#row(index);
    if (this.kept >= 0 && this.kept < this.#count) this.#row(this.kept);
  }

  #seenHeight() {
    return (this.#height ||= this.view.clientHeight);
  }

  /** @param {number} top */
  #scrollTo(top) {
    const most = Math.max(0, Math.min(this.#count * this.height, MOST_PIXELS) - this.#seenHeight());
    const wanted = Math.min(top, most); // as far as the view can be scrolled; to read that would be a layout
    if (wanted === this.#top) return;
    this.view.scrollTop = wanted;
    this.#top = wanted;
  }

  #look() {
    [this.#top, this.#height] = [this.view.scrollTop, this.view.clientHeight];
  }

  #isSeen() {
    const [top, bottom] = [this.#revealed * this.height, (this.#revealed + 1) * this.height];
    return this.#revealed >= 0 && top >= this.#top && bottom <= this.#top + this.#height;
  }

  #scrolled() {
    this.#look();
    if (this.#height > 0) this.#inSight = this.#isSeen();
    this.#drawSoon();
  }

  /**
   * What could be seen before can be seen after. A browser resizes before it reports the scrolling that comes of it, so
   * that `#inSight` is still what the person has had: not where a lower view, or one that was moved, has been left.
   */
  #resized() {
    this.#look();
    if (this.#height === 0) return; // folded, or another panel fills the page
    if (this.#inSight && !this.#isSeen()) this.reveal(this.#revealed);
    else this.draw();
  }

  /** @param {number} index */
  #row(index) {
    const known = this.#drawn.get(index);
    if (known) return known;
    const row = this.make(index);
    row.style.setProperty('--row-top', `${index * this.height}px`);
    row.ariaPosInSet = String(index + 1);
    row.ariaSetSize = String(this.#count);
    this.mark(row, index);
    this.#drawn.set(index, row);
    // In order, as they are read.
    /** @type {HTMLElement | null} */
    let after = null;
    let nearest = Infinity;
    for (const [other, node] of this.#drawn) if (other > index && other < nearest) [nearest, after] = [other, node];
    this.view.insertBefore(row, after);
    return row;
  }

  #drawSoon() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.draw();
    });
  }
}
