// The agent's story as Markdown, for a bug report.

import {clock, duration} from '../view/words.js';

/** @typedef {import('./calls.js').Entry} Entry @typedef {import('./story.js').Chapter} Chapter */

/** Fence a text as code that cannot end early, whatever is in it. @param {string} text */
export function code(text) {
  const runs = text.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map(({length}) => length)) + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${space}${text.replaceAll(/\s*\n\s*/g, ' ')}${space}${fence}`;
}

/** @param {Entry} entry */
export function entryAsMarkdown({who, title, facts, say, result, failed, seconds, lost}) {
  const called = code(`${title}(${facts.map(([name, value]) => `${name}=${value}`).join(', ')})`);
  const took = seconds !== null ? duration(seconds) : lost ? 'its end is not kept' : 'not over yet';
  const outcome = result ? `\n  ${failed ? 'failed' : '→'} ${code(result)}` : '';
  const why = say ? `\n  “${say.replaceAll(/\s*\n\s*/g, ' ')}”` : '';
  return `- ${called} by ${who}, ${took}${why}${outcome}`;
}

/** @param {Chapter[]} chapters */
export function asMarkdown(chapters) {
  const told = chapters.filter(({entries}) => entries.length > 0);
  const parts = told.map(({title, event, entries}) => {
    const heading = title ? [`### ${title.replaceAll(/[\\`*_<>#[\]]/g, '\\$&')} (${clock(event.timestamp)})\n`] : [];
    return [...heading, ...entries.map(entryAsMarkdown)].join('\n');
  });
  return `${parts.join('\n\n')}\n`;
}
