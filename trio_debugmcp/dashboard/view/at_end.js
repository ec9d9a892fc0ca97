// A list whose end is what matters: it stays in sight when the list becomes lower or narrower.

/** How far from its end a list may be that is at its end: heights are not whole pixels. */
const NEAR_PIXELS = 8;

/** Keep a view at its end when it is resized, unless the person has scrolled from there. @param {HTMLElement} view */
export function keepAtEnd(view) {
  let atEnd = true;
  view.addEventListener('scroll', () => {
    atEnd = view.scrollTop + view.clientHeight > view.scrollHeight - NEAR_PIXELS;
  }, {passive: true});
  new ResizeObserver(() => atEnd && view.scrollTo({top: view.scrollHeight})).observe(view);
}
