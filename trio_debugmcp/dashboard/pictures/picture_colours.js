// The page's own colours for a canvas, in the theme that is shown; a browser that forces colours has its own for them.

const THEME = matchMedia('(prefers-color-scheme: dark)');
const FORCED = matchMedia('(forced-colors: active)');

/** Counts the times that the colours have changed. */
let turn = 0;
/** @type {Set<() => void>} */
const waiting = new Set();

function changed() {
  turn += 1;
  for (const draw of waiting) draw();
}

for (const query of [THEME, FORCED]) query.addEventListener('change', changed);
new MutationObserver(changed).observe(document.documentElement, {attributes: true, attributeFilter: ['data-theme']});

export class Colours {
  #probe = document.createElement('i');
  /** @type {Map<string, string>} */
  #known = new Map();
  #turn = -1;
  #onChange;

  /**
   * @param {HTMLElement} view  Where the colours are to be those of.
   * @param {() => void} [onChange]  Draws anew; it is called until `end`.
   */
  constructor(view, onChange) {
    this.#onChange = onChange;
    this.#probe.className = 'picture-colour';
    this.#probe.hidden = true;
    view.append(this.#probe);
    if (onChange) waiting.add(onChange);
  }

  /** The colour that a custom property is now, as a canvas takes it. @param {string} property */
  of(property) {
    if (this.#turn !== turn) {
      this.#known.clear();
      this.#turn = turn;
    }
    let colour = this.#known.get(property);
    if (colour === undefined) {
      this.#probe.style.setProperty('color', `var(${property})`);
      colour = getComputedStyle(this.#probe).color;
      this.#known.set(property, colour);
    }
    return colour;
  }

  /** The view is not shown any more. */
  end() {
    if (this.#onChange) waiting.delete(this.#onChange);
  }
}
