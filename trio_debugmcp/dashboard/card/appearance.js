// The card looks as its host does: theme, colours and fonts; and the host learns how much room it takes.

const VARIABLE = /^--(color|font|border|shadow)-[a-z\d-]+$/;

/**
 * Take on what the host says of its looks; a change of them has only what differs.
 *
 * @param {any} context
 */
export function dress({theme, styles, safeAreaInsets}) {
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (VARIABLE.test(name) && typeof value === 'string') root.style.setProperty(name, value);
  }
  if (safeAreaInsets) {
    const {top, right, bottom, left} = safeAreaInsets;
    document.body.style.padding = [top, right, bottom, left].map((each) => `${Number(each) || 0}px`).join(' ');
  }
}

/**
 * Fit the card to what it shows: report its size whenever it changes, and make parts that scroll reachable by keyboard.
 * Call what this returns after drawing: of a card that is out of sight browsers do not observe the size, and it would
 * stay as low as it was.
 *
 * @param {(size: {width: number, height: number}) => void} report
 */
export function fitter(report) {
  let last = '';
  const fit = () => {
    const {width, height} = document.documentElement.getBoundingClientRect();
    const size = {width: Math.ceil(width), height: Math.ceil(height)};
    if (JSON.stringify(size) !== last) report(size);
    last = JSON.stringify(size);
    for (const part of document.querySelectorAll('.scrolls')) {
      if (part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight) part.setAttribute('tabindex', '0');
      else part.removeAttribute('tabindex');
    }
  };
  new ResizeObserver(fit).observe(document.documentElement);
  return fit;
}
