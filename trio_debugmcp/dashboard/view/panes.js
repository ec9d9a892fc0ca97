// Panels that fold, fill the page, and can be made larger: by pointer and by keyboard, remembered for this browser.

import {byId, el} from './dom.js';

const KEY = 'trio-debugmcp.panes';
const STEP_PIXELS = 16;
const LEAP_PIXELS = 96;

/** @typedef {{sizes: Record<string, number>, folded: string[]}} Kept */

/**
 * What can be moved: `size` is a custom property that css/panes.css uses. `grows`: where its panel is seen from the bar.
 */
const BARS = [
  {size: 'left', label: 'Width of the left column', of: '.column.left', grows: 'before', across: true, least: 150},
  {size: 'right', label: 'Width of the right column', of: '.column.right', grows: 'after', across: true, least: 200},
  {size: 'output', label: 'Height of the output', of: '.panel.output', grows: 'after', across: false, least: 60},
  {size: 'run', label: 'Height of the run', of: '.panel.run', grows: 'after', across: false, least: 120},
  {size: 'story', label: 'Height of what the agent does', of: '.panel.story', grows: 'before', across: false, least: 90},
];

/** Panels that are one line at first. */
const FOLDED = ['clients'];

/** What is left for the rest of the page. */
const REST_PIXELS = 260;

export function createPanes() {
  const main = byId('main');
  const kept = stored();
  const reset = el('button', {type: 'button', className: 'chip', id: 'reset-panes', title: 'Panels as they were at first', onclick: forget}, 'Reset panels');
  byId('theme').before(reset);
  const panels = /** @type {HTMLElement[]} */ ([...main.querySelectorAll('.panel')]);
  for (const panel of panels) addButtons(panel);
  const bars = BARS.map((bar) => ({...bar, node: separator(bar)}));
  main.append(...bars.map(({node}) => node));
  apply();
  const observer = new ResizeObserver(() => requestAnimationFrame(place));
  for (const each of [main, ...main.querySelectorAll('.column, .panel')]) observer.observe(each);

  /** @param {HTMLElement} panel */
  function addButtons(panel) {
    const header = panel.querySelector('header');
    const title = header?.querySelector('h2');
    if (!header || !title) return;
    const name = nameOf(panel);
    const fold = el('button', {type: 'button', className: 'pane-button fold', onclick: () => toggle(panel)});
    fold.setAttribute('aria-labelledby', title.id);
    fold.setAttribute('aria-expanded', 'true');
    const fill = el('button', {
      type: 'button',
      className: 'pane-button fill',
      title: 'Fill the page, or leave it',
      ariaPressed: 'false',
      dataset: {pane: name},
      onclick: () => maximize(panel.dataset.maximized === undefined ? panel : null),
    });
    fill.setAttribute('aria-label', `Fill the page with ${title.textContent}`);
    header.prepend(fold);
    header.append(fill);
    header.addEventListener('dblclick', (event) => {
      const onButton = /** @type {HTMLElement} */ (event.target).closest('button, input, label');
      if (!onButton) maximize(panel.dataset.maximized === undefined ? panel : null);
    });
  }

  /** @param {HTMLElement} panel */
  function toggle(panel) {
    const name = nameOf(panel);
    kept.folded = kept.folded.includes(name) ? kept.folded.filter((each) => each !== name) : [...kept.folded, name];
    apply();
    keep();
  }

  /** @param {HTMLElement | null} panel */
  function maximize(panel) {
    for (const each of panels) {
      const is = each === panel;
      if (is) each.dataset.maximized = '';
      else delete each.dataset.maximized;
      const button = each.querySelector('.fill');
      if (button) button.ariaPressed = String(is);
    }
    main.classList.toggle('filled', panel !== null);
    place();
  }

  function apply() {
    for (const panel of panels) {
      const folded = kept.folded.includes(nameOf(panel));
      if (folded) panel.dataset.folded = '';
      else delete panel.dataset.folded;
      const button = panel.querySelector('.fold');
      if (button) button.ariaExpanded = String(!folded);
    }
    for (const {size} of BARS) {
      if (kept.sizes[size]) main.style.setProperty(`--${size}`, `${kept.sizes[size]}px`);
      else main.style.removeProperty(`--${size}`);
    }
    main.dataset.sized = Object.keys(kept.sizes).join(' ');
    reset.hidden = isAsAtFirst(kept.folded) && Object.keys(kept.sizes).length === 0;
    place();
  }

  function keep() {
    localStorage.setItem(KEY, JSON.stringify(kept));
  }

  function forget() {
    kept.sizes = {};
    kept.folded = [...FOLDED];
    maximize(null);
    apply();
    localStorage.removeItem(KEY);
    byId('main').querySelector('button')?.focus();
  }

  /** @param {typeof BARS[number]} bar */
  function separator(bar) {
    const node = el('div', {className: `bar-handle ${bar.across ? 'across' : 'along'}`, role: 'separator', tabIndex: 0, ariaLabel: bar.label,
      ariaOrientation: bar.across ? 'vertical' : 'horizontal', title: `${bar.label}: drag, or arrow keys; a double click resets it`});
    node.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      node.focus();
      node.setPointerCapture(event.pointerId);
      const [start, from] = [bar.across ? event.clientX : event.clientY, sizeOf(bar)];
      const move = (/** @type {PointerEvent} */ each) => {
        const moved = (bar.across ? each.clientX : each.clientY) - start;
        resize(bar, from + (bar.grows === 'before' ? moved : -moved));
      };
      node.addEventListener('pointermove', move);
      const end = () => (node.removeEventListener('pointermove', move), keep());
      node.addEventListener('lostpointercapture', end, {once: true});
    });
    node.addEventListener('keydown', (event) => {
      const by = event.shiftKey ? LEAP_PIXELS : STEP_PIXELS;
      const steps = bar.across ? {ArrowRight: by, ArrowLeft: -by} : {ArrowDown: by, ArrowUp: -by};
      const step = steps[event.key];
      if (step !== undefined) resize(bar, sizeOf(bar) + (bar.grows === 'before' ? step : -step));
      else if (event.key === 'Home') resize(bar, bar.least);
      else if (event.key === 'End') resize(bar, mostOf(bar));
      else return;
      event.preventDefault();
      event.stopPropagation(); // the arrows are for this bar, not for the page's history
      keep();
    });
    node.addEventListener('dblclick', () => {
      delete kept.sizes[bar.size];
      apply();
      keep();
    });
    return node;
  }

  /** @param {{of: string}} bar @returns {HTMLElement} */
  function panelOf(bar) {
    return /** @type {HTMLElement} */ (main.querySelector(bar.of));
  }

  function sizeOf(bar) {
    const box = panelOf(bar).getBoundingClientRect();
    return Math.round(bar.across ? box.width : box.height);
  }

  /** The most that leaves room for what is beside it. */
  function mostOf(bar) {
    if (!bar.across) return Math.round((panelOf(bar).parentElement?.clientHeight ?? 0) - REST_PIXELS / 2);
    const other = BARS.find((each) => each.across && each.size !== bar.size);
    return Math.round(main.clientWidth - (other ? sizeOf(other) : 0) - REST_PIXELS);
  }

  function resize(bar, size) {
    kept.sizes[bar.size] = Math.round(Math.max(bar.least, Math.min(mostOf(bar), size)));
    apply();
  }

  /** Put each bar over the gap beside its panel; nothing of the layout depends on where they are. */
  function place() {
    const origin = main.getBoundingClientRect();
    for (const {node, ...bar} of bars) {
      const panel = panelOf(bar);
      const box = panel.getBoundingClientRect();
      node.hidden = box.width === 0 || panel.dataset.folded !== undefined || main.classList.contains('filled');
      const style = bar.across
        ? {left: (bar.grows === 'before' ? box.right : box.left - 8) - origin.left, top: box.top - origin.top, width: 8, height: box.height}
        : {left: box.left - origin.left, top: (bar.grows === 'before' ? box.bottom : box.top - 8) - origin.top, width: box.width, height: 8};
      for (const [name, pixels] of Object.entries(style)) node.style.setProperty(name, `${pixels}px`);
      node.ariaValueNow = String(sizeOf(bar));
      node.ariaValueMin = String(bar.least);
      node.ariaValueMax = String(Math.max(bar.least, mostOf(bar)));
    }
  }
}

/** @param {HTMLElement} panel */
const nameOf = (panel) => (panel.getAttribute('aria-labelledby') ?? '').replace(/-title$/, '');

/** @param {string[]} folded */
const isAsAtFirst = (folded) => folded.length === FOLDED.length && FOLDED.every((name) => folded.includes(name));

/** @returns {Kept} */
function stored() {
  try {
    const {sizes = {}, folded = FOLDED} = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const known = Object.entries(sizes).filter(([, size]) => typeof size === 'number' && size > 0);
    return {sizes: Object.fromEntries(known), folded: Array.isArray(folded) ? folded.map(String) : [...FOLDED]};
  } catch {
    return {sizes: {}, folded: [...FOLDED]};
  }
}
