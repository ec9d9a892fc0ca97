// Values as text for a person.

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false,
});

export const clock = (iso) => (iso ? CLOCK.format(new Date(iso)) : '');

export const baseName = (path) => (path ?? '').split(/[\\/]/).pop();

/** Format a place, as in `shop.py:16`. */
export const place = (location) =>
  location?.file ? `${baseName(location.file)}:${location.line ?? '?'}` : location?.moduleName ?? 'no source';

export function duration(seconds) {
  if (seconds < 0.001) return '< 1 ms';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;

const REASONS = {
  Entry: 'at the program’s entry',
  Breakpoint: 'at a breakpoint',
  Step: 'after a step',
  Exception: 'at an exception',
  Pause: 'on request',
  FunctionBreakpoint: 'at a function breakpoint',
  DataBreakpoint: 'because data changed',
  Goto: 'after a jump',
  Restart: 'after a restart',
};

export const whyPaused = (reason) => REASONS[reason] ?? '';

/** Format any value as one line of JSON-like text, cut for a line on the screen. */
export function brief(value, limit = 160) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
