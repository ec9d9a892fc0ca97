// Copies the call stack that is shown, all of it, as text.

import {copy} from '../view/clipboard.js';
import {byId, el} from '../view/dom.js';
import {icon} from '../view/icons.js';

const PAGE_FRAMES = 1000;

export function createCopyStack(store, call) {
  const button = el('button', {
    type: 'button',
    className: 'pane-button',
    ariaLabel: 'Copy the call stack',
    title: 'Copy the call stack',
    hidden: true,
    onclick: async () => copy(textOf(await frames()), button),
  }, icon('copy'));
  byId('stack-note').after(el('span', {className: 'tools'}, button));
  store.watch(['frames'], ({frames: {list}}) => {
    button.hidden = list.length === 0;
  });

  /** All frames; those that are shown where the program runs again, or the server is gone. */
  async function frames() {
    const {frames: {list, threadId}, stack} = store.state;
    if (stack?.stale !== false) return list;
    try {
      /** @type {any[]} */
      const found = [];
      for (;;) {
        const page = await call('stacktrace_get', {thread_id: threadId, start: found.length, count: PAGE_FRAMES});
        found.push(...page.frames);
        if (page.frames.length === 0 || found.length >= page.total) return found;
      }
    } catch {
      return list;
    }
  }
}

const textOf = (frames) =>
  frames.map(({name, location: {file, line}}) => `${name} ${file ? `${file}:${line ?? '?'}` : '(no source)'}`).join('\n');
