// What a picture of spans shows: rows of spans over an axis. Pure.

/**
 * A part of a row. `kind` is how it looks; `says` is that in words; `moment` what it leads to.
 *
 * @typedef {{from: number, to: number, kind: string, text: string, says: string, moment?: any}} Span
 *
 * `background` stands behind the row's own spans, from `begin` to `end`: many rows share one. Both ascend, and no span reaches
 * into the next of its list.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {number} level
 * @property {Span[]} spans
 * @property {Span[]} [background]
 * @property {number} [begin]
 * @property {number} [end]
 * @property {string} says
 * @property {any} [moment]
 * @property {Fold} [fold]
 *
 * Rows below it that can be folded away: choosing its head does that.
 *
 * @typedef {{id: string, closed: boolean}} Fold
 *
 * @typedef {object} Drawing
 * @property {Row[]} rows
 * @property {number} from
 * @property {number} to
 * @property {(value: number, step: number) => string} tick  What stands at a place of the axis; `step` is how far the next one is.
 * @property {number[]} [cuts]  Where something was left out of the axis.
 */

/** The index of the first span that ends after a place; their number if none does. @param {Span[]} spans @param {number} place */
export function firstAfter(spans, place) {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].to < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The span of a row that is nearest to a place, no further than `slack` from it.
 *
 * @param {Row} row
 * @param {number} place
 * @param {number} slack
 * @returns {Span | null}
 */
export function spanAt(row, place, slack) {
  const own = nearest(row.spans, place, slack);
  if (own) return own;
  const {begin = -Infinity, end = Infinity, background = []} = row;
  return place < begin || place > end ? null : nearest(background, place, 0);
}

/** @param {Span[]} spans @param {number} place @param {number} slack */
function nearest(spans, place, slack) {
  const first = firstAfter(spans, place - slack);
  /** @type {Span | null} */
  let best = null;
  let distance = slack;
  for (let index = first; index < spans.length && spans[index].from <= place + slack; index += 1) {
    const {from, to} = spans[index];
    const far = Math.max(0, from - place, place - to);
    if (far > distance) continue;
    best = spans[index];
    distance = far;
  }
  return best;
}

/** The round step at which some `count` marks stand on so much of an axis. @param {number} length @param {number} count */
export function stepOf(length, count) {
  const rough = length / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= rough) ?? rough;
}

/**
 * The part of an axis that is seen after the axis has grown: all of it if all was seen, its end if the end was.
 *
 * @param {{from: number, to: number}} seen
 * @param {{from: number, to: number}} before
 * @param {{from: number, to: number}} now
 */
export function grown(seen, before, now) {
  const all = seen.from <= before.from && seen.to >= before.to;
  if (all) return {from: now.from, to: now.to};
  if (seen.to < before.to) return seen;
  const length = seen.to - seen.from;
  return {from: Math.max(now.from, now.to - length), to: now.to};
}

/**
 * Zoom by a factor about a place, within the axis and no deeper than a millionth of it.
 *
 * @param {{from: number, to: number}} seen
 * @param {{from: number, to: number}} whole
 * @param {number} factor
 * @param {number} place
 */
export function zoomed(seen, whole, factor, place) {
  const most = whole.to - whole.from;
  const length = Math.min(most, Math.max(most / 1e6, (seen.to - seen.from) * factor));
  const portion = (place - seen.from) / (seen.to - seen.from || 1);
  return within({from: place - portion * length, to: place + (1 - portion) * length}, whole);
}

/** Move a part of the axis so far that it is within the whole. @param {{from: number, to: number}} seen @param {{from: number, to: number}} whole */
export function within(seen, whole) {
  const length = Math.min(seen.to - seen.from, whole.to - whole.from);
  const from = Math.max(whole.from, Math.min(seen.from, whole.to - length));
  return {from, to: from + length};
}

/**
 * Where what had the focus is in other rows: its row has the same name, and is as near as can be to where it was.
 *
 * @param {Span | null} span
 * @param {number} row
 * @param {Row[]} before
 * @param {Row[]} rows
 */
export function stillAt(span, row, before, rows) {
  const {name} = before[row];
  const found = rows[row]?.name === name ? row : rows.findIndex((each) => each.name === name);
  if (found < 0) return null;
  const isSame = (/** @type {Span} */ each) => each.kind === span?.kind && (each.moment ? each.moment === span.moment : each.from === span.from);
  return {row: found, span: (span && rows[found].spans.find(isSame)) ?? null};
}
