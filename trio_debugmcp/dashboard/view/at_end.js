// A list whose end is what matters: it stays in sight when the list becomes lower or narrower.

/** How far from its end a list may be that is at its end: heights are not whole pixels. */
const NEAR_PIXELS = 8;

/** Keep a view at its end when it is resized, unless the person has scrolled from there. @param {HTMLElement} view */
export function keepAtEnd(view) {
  let atEnd = true;
  let size = sizeOf(view);
  view.addEventListener('scroll', () => {
    // An event of before a resize comes after it, and before the observer: it says nothing about the person.
    if (size === sizeOf(view)) atEnd = view.scrollTop + view.clientHeight > view.scrollHeight - NEAR_PIXELS;
    size = sizeOf(view);
  }, {passive: true});
  new ResizeObserver(() => {
    size = sizeOf(view);
    if (atEnd) view.scrollTo({top: view.scrollHeight});
  }).observe(view);
}

/** @param {HTMLElement} view */
const sizeOf = ({clientWidth, clientHeight}) => `${clientWidth} ${clientHeight}`;
