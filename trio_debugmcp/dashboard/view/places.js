// A place as the end of a row: its line is shown whole, however long the file's name is.

import {el} from './dom.js';
import {placeParts} from './words.js';

/** @param {Parameters<typeof placeParts>[0]} location */
export function placeNode(location) {
  const [file, line] = placeParts(location);
  return el('span', {className: 'where'}, el('span', {className: 'file'}, file), el('span', {className: 'number'}, line));
}
