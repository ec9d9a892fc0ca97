// Building DOM trees. Data reaches the page as text nodes and properties only, never as markup; signs that are not seen are
// marks in it.

import {visible} from './signs.js';

/**
 * Create an element: `el('p', {className: 'note', dataset: {id: 1}, ariaLabel: 'x'}, 'text', child)`.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === 'dataset') Object.assign(node.dataset, value);
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key in node) Object.assign(node, {[key]: value});
    else node.setAttribute(key, value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(typeof child === 'string' ? visible(child) : child);
  }
  return node;
}

/**
 * Create an SVG element; its properties are attributes.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return node;
}

/**
 * Replace the content of `view`; the keyboard focus stays on the row or control with the same key or label.
 *
 * @param {Element} view
 * @param {Node[]} nodes
 */
export function redraw(view, nodes) {
  const active = document.activeElement;
  const focused = active !== null && view.contains(active) ? keyOf(active) : null;
  view.replaceChildren(...nodes);
  if (focused === null) return;
  const rows = /** @type {NodeListOf<HTMLElement>} */ (view.querySelectorAll('[data-key], [aria-label]'));
  [...rows].find((node) => keyOf(node) === focused)?.focus();
}

/** @param {Element} node */
const keyOf = (node) => node.getAttribute('data-key') ?? node.ariaLabel;

/**
 * Return the element of index.html with this id; `kind` is what it has to be: `byId('zoom', HTMLInputElement)`.
 *
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {{new (): Kind}} [kind]
 * @returns {Kind}
 */
export function byId(id, kind = /** @type {any} */ (HTMLElement)) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`index.html has no ${kind.name} with the id ${id}`);
  return found;
}

/**
 * Set a text only when it differs, so that screen readers and selections are left alone.
 *
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  const shown = visible(text);
  if (node.textContent !== shown) node.textContent = shown;
}

/**
 * Set what the style sheets select by only when it differs: else the browser looks for what is styled by it.
 *
 * @param {HTMLElement} node
 * @param {string} name
 * @param {string} value
 */
export function setData(node, name, value) {
  if (node.dataset[name] !== value) node.dataset[name] = value;
}

const NOT_TEXT = ['checkbox', 'radio', 'range', 'button', 'submit', 'reset', 'color', 'file'];

/**
 * Whether keys are text there. A checkbox or a slider takes none of the page's keys, though it is an input.
 *
 * @param {EventTarget | null} target
 */
export function isTyping(target) {
  if (target instanceof HTMLInputElement) return !NOT_TEXT.includes(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || target instanceof HTMLTextAreaElement);
}
