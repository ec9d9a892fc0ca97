// The keys of a picture of spans.

/** @typedef {import('./span_picture.js').SpanPicture} SpanPicture */

/** @type {Record<string, (picture: SpanPicture) => void>} */
const KEYS = {
  ArrowDown: (picture) => picture.moveRow(1),
  ArrowUp: (picture) => picture.moveRow(-1),
  PageDown: (picture) => picture.moveRow(10),
  PageUp: (picture) => picture.moveRow(-10),
  ArrowRight: (picture) => picture.moveSpan(1),
  ArrowLeft: (picture) => picture.moveSpan(-1),
  Home: (picture) => picture.moveSpan(-Infinity),
  End: (picture) => picture.moveSpan(Infinity),
  Enter: (picture) => picture.choose(),
  ' ': (picture) => picture.choose(),
  '+': (picture) => picture.zoom(0.5),
  w: (picture) => picture.zoom(0.5),
  '-': (picture) => picture.zoom(2),
  s: (picture) => picture.zoom(2),
  a: (picture) => picture.pan(-0.25),
  d: (picture) => picture.pan(0.25),
  f: (picture) => picture.zoomToFocus(),
  0: (picture) => picture.fit(),
};

/** @param {SpanPicture} picture @param {KeyboardEvent} event */
export function pressed(picture, event) {
  const act = KEYS[event.key === '=' ? '+' : event.key]; // the key of the plus sign, without Shift
  if (!act || event.altKey || event.ctrlKey || event.metaKey || (event.shiftKey && event.key.startsWith('Arrow'))) return;
  act(picture);
  event.preventDefault();
  event.stopPropagation(); // ← and → go through time elsewhere
}
