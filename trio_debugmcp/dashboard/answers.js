// What the page makes of the answers of tools, which are data: the parts that it shows otherwise than they come.

import {BY_A_CLIENT, BY_ITSELF} from './story/ending.js';
import {exceptionWhole, place} from './view/words.js';

const DISCONNECTED = 'disconnected';

/**
 * Return the variables of an answer of variables_get, with the number of all there are.
 *
 * @param {{variables: any[], total: number}} answer
 * @returns {any[] & {total: number}}
 */
export const variablesOf = ({variables, total}) => Object.assign(variables, {total});

/**
 * Return what an evaluation has come to, with its type where the value does not show it; statements have no value.
 *
 * @returns {any}
 */
export const evaluated = ({value, type, showsType, printed = ''}) =>
  ({value: value ?? undefined, type: showsType ? null : type, printed, executed: value === null});

/** Return how the last session ended, or null if there was none. */
export function endOf({state, reason, exitCode, endReason, exception, location, frames}) {
  if (state !== 'Disconnected' || !reason) return null;
  const why = endReason === DISCONNECTED ? BY_A_CLIENT : endReason ?? BY_ITSELF;
  return {exitCode, reason: why, exception: exception && exceptionWhole(exception), location, frames, at: location && whereIs(location)};
}

const whereIs = (location) => `${place(location)}${location.functionName ? ` in ${location.functionName}` : ''}`;
