// Values as text for a person.

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false,
});

const FINE_CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hour12: false,
});

const SHORT = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 1});

/** @param {string | null | undefined} iso */
export const clock = (iso) => (iso ? CLOCK.format(new Date(iso)) : '');

/** @param {string | null | undefined} iso */
export const clockWithMilliseconds = (iso) => (iso ? FINE_CLOCK.format(new Date(iso)) : '');

/** @param {string | null | undefined} path */
export const baseName = (path) => (path ?? '').split(/[\\/]/).pop() ?? '';

/** Format a place, as in `shop.py:16`. */
export const place = (location) =>
  location?.file ? `${baseName(location.file)}:${location.line ?? '?'}` : location?.moduleName ?? 'no source';

/**
 * Cut a place into the file's name, which may be cut on the screen, and the line, which may not.
 *
 * @param {{file?: string | null, line?: number | null, moduleName?: string | null} | null} location
 */
export function placeParts(location) {
  const words = place(location);
  const colon = location?.file ? words.lastIndexOf(':') : -1;
  return colon < 0 ? [words, ''] : [words.slice(0, colon), words.slice(colon)];
}

export function duration(seconds) {
  if (seconds < 0.001) return '< 1 ms';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** @param {number} bytes */
export const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** A count in at most five characters. @param {number} count */
export const shortCount = (count) => SHORT.format(count);

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

/**
 * An exception in the headline: with its message, if that is one word, as the key of a KeyError, which says nothing alone.
 *
 * @param {{type: string, message?: string | null}} exception
 */
export const exceptionInShort = ({type, message}) => (isWord(message) ? `${type}: ${message}` : type);

/** An exception with its message. @param {{type: string, message?: string | null}} exception */
export const exceptionWhole = ({type, message}) => (message === null || message === '' ? type : `${type}: ${message}`);

/** Who will catch an exception, as far as that is known. @param {any} exception */
export function caughtWords(exception) {
  const by = exception?.caughtBy;
  if (!by) return '';
  const where = by.inCCode || !by.file ? '' : ` ${place(by)}`;
  return ` · caught by ${by.function}${where}${by.isUserCode || by.inCCode ? '' : ' (library)'}`;
}

/** @param {string | null | undefined} message */
export const isWord = (message) => /^\S{1,40}$/.test(message ?? '');

/** Show line breaks, which a row of one line would not. @param {string} text */
export const oneLine = (text) => text.replace(/\r\n|\n|\r/g, '⏎');

/** Format any value as one line of JSON-like text, cut for a line on the screen. */
export function brief(value, limit = 160) {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Why a source cannot be shown, for a person: the server refers to what it knows of the program. */
export function sourceProblem(message) {
  if (/is not referenced in any loaded debug symbols|No active debug session/.test(message)) {
    return 'This file is of an earlier session: the server shows only files of the program that it debugs now.';
  }
  if (/but not found on disk/.test(message)) return 'This file is not there any more.';
  return message;
}
