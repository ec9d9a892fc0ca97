// Building DOM trees. Data reaches the page as text nodes and properties only, never as markup.

/** Create an element: `el('p', {className: 'note', dataset: {id: 1}, ariaLabel: 'x'}, 'text', child)`. */
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === 'dataset') Object.assign(node.dataset, value);
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Create an SVG element; its properties are attributes. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Replace the content of `view`; the keyboard focus stays on the row or control with the same key or label. */
export function redraw(view, nodes) {
  const focused = view.contains(document.activeElement) ? keyOf(document.activeElement) : null;
  view.replaceChildren(...nodes);
  if (focused === null) return;
  [...view.querySelectorAll('[data-key], [aria-label]')].find((node) => keyOf(node) === focused)?.focus();
}

const keyOf = (node) => node.dataset.key ?? node.ariaLabel;

export const byId = (id) => document.getElementById(id);

/** Set a text only when it differs, so that screen readers and selections are left alone. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const isTyping = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
