// One tab stop for many controls: arrows, Home, End and Page keys move among them.

const PAGE = 10;

/** @type {Record<string, (index: number, last: number) => number>} */
const VERTICAL = {
  ArrowDown: (index) => index + 1,
  ArrowUp: (index) => index - 1,
  PageDown: (index) => index + PAGE,
  PageUp: (index) => index - PAGE,
  Home: () => 0,
  End: (_, last) => last,
};

const HORIZONTAL = {
  ArrowRight: VERTICAL.ArrowDown,
  ArrowLeft: VERTICAL.ArrowUp,
  Home: VERTICAL.Home,
  End: VERTICAL.End,
};

/**
 * Return the index to which a key leads, or null if it is none of these.
 *
 * @param {string} key
 * @param {number} index
 * @param {number} last
 * @param {{horizontal?: boolean}} [options]
 */
export function stepOf(key, index, last, {horizontal = false} = {}) {
  const step = (horizontal ? HORIZONTAL : VERTICAL)[key];
  return step ? Math.max(0, Math.min(last, step(index, last))) : null;
}

/**
 * Let the keys move the focus among the controls of `view` that `selector` finds, now and later.
 *
 * @param {HTMLElement} view
 * @param {string} selector
 * @param {{horizontal?: boolean}} [options]
 * @returns {() => void} To be called when the controls are others: one of them is the tab stop.
 */
export function rove(view, selector, options = {}) {
  const controls = () => /** @type {HTMLElement[]} */ ([...view.querySelectorAll(selector)]);
  view.addEventListener('focusin', ({target}) => {
    if (target instanceof HTMLElement && target.matches(selector)) setTabStop(controls(), target);
  });
  view.addEventListener('keydown', (event) => {
    if (!(event.target instanceof HTMLElement) || !event.target.matches(selector)) return;
    const all = controls();
    const next = stepOf(event.key, all.indexOf(event.target), all.length - 1, options);
    if (next === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    all[next].focus();
  });
  return () => {
    const all = controls();
    const stops = all.filter((each) => each.tabIndex === 0);
    if (all.length > 0 && stops.length !== 1) setTabStop(all, stops[0] ?? all[0]);
  };
}

/** @param {HTMLElement[]} all @param {HTMLElement} chosen */
function setTabStop(all, chosen) {
  for (const each of all) each.tabIndex = each === chosen ? 0 : -1;
}
