// The icons of the buttons, drawn on a grid of 20.

import {svg} from './dom.js';

const PATHS = {
  continue: 'M4 4v12 M8 4.5v11l8-5.5z',
  pause: 'M7 4.5v11 M13 4.5v11',
  over: 'M3 10a7 7 0 0 1 13-2 M16.5 3.5V8H12 M10 15.2v.1',
  in: 'M10 2.5v8.5 M6 7.5l4 4 4-4 M10 16v.1',
  out: 'M10 11.5V3 M6 6.5l4-4 4 4 M10 16v.1',
  restart: 'M15.5 6.5A6.5 6.5 0 1 0 16.5 11 M16 2.5v4.3h-4.3',
  stop: 'M5 5h10v10H5z',
  copy: 'M7 7V3.5h9.5V13H13 M3.5 7H13v9.5H3.5z',
};

export const icon = (name) => svg('svg', {viewBox: '0 0 20 20', 'aria-hidden': 'true'}, svg('path', {d: PATHS[name]}));
