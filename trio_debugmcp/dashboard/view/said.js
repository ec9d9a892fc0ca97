// What agents write to people is Markdown, as they write it: paragraphs, lists, code, bold and emphasis become elements with
// text in them. There are no links, images or markup; what is not of these stays as it was written.

import {el} from './dom.js';

const INLINE = /(?<code>`+)(?<inner>[^`](?:.*?[^`])?)\k<code>(?!`)|\*\*(?<bold>\S(?:.*?\S)?)\*\*|(?<![\w*])[*_](?<soft>[^\s*_](?:[^*_]*[^\s*_])?)[*_](?![\w*])/gu;
const ITEM = /^\s{0,3}(?:[-*+]|(?<number>\d{1,3})[.)])\s+(?<words>.*)$/;
const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;

/** Return a text with its code, bold and emphasis as elements. @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const {inner, bold, soft} = /** @type {Record<string, string>} */ (match.groups);
    nodes.push(text.slice(end, match.index));
    if (inner !== undefined) nodes.push(el('code', {}, inner.replace(/^ (.*) $/, '$1')));
    else nodes.push(bold !== undefined ? el('strong', {}, ...inline(bold)) : el('em', {}, soft));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== '');
}

/** Return lines as a paragraph, in which each line stays one. @param {string[]} lines */
const paragraph = (lines) => el('p', {}, ...lines.flatMap((line, index) => [...(index ? [el('br')] : []), ...inline(line)]));

/**
 * Return what an agent has written as elements.
 *
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function saidAsNodes(text) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  /** @type {string[]} */
  let lines = [];
  const flush = () => {
    if (lines.length) blocks.push(paragraph(lines));
    lines = [];
  };
  const all = text.split('\n');
  for (let index = 0; index < all.length; index += 1) {
    const line = all[index];
    const [, fence] = FENCE.exec(line) ?? [];
    const item = ITEM.exec(line)?.groups;
    const [, heading] = HEADING.exec(line) ?? [];
    if (fence) {
      flush();
      const after = all.findIndex((each, at) => at > index && each.trim().startsWith(fence));
      const last = after < 0 ? all.length : after;
      blocks.push(el('pre', {}, all.slice(index + 1, last).join('\n')));
      index = last;
    } else if (item) {
      flush();
      const name = item.number === undefined ? 'ul' : 'ol';
      const before = blocks.at(-1);
      const list = before?.localName === name && ITEM.test(all[index - 1] ?? '') ? before : el(name, item.number ? {start: Number(item.number)} : {});
      if (list !== before) blocks.push(list);
      list.append(el('li', {}, ...inline(item.words)));
    } else if (heading) {
      flush();
      blocks.push(el('p', {}, el('strong', {}, ...inline(heading))));
    } else if (line.trim() === '') flush();
    else lines.push(line);
  }
  flush();
  return blocks;
}
