// Who ended a session, as far as the calls on the timeline tell.

import {PAGE_NAME} from '../connection/mcp.js';
import {isPerson} from './calls.js';

/** Why a session has ended that no client has ended. */
export const BY_ITSELF = 'the program ended';

export const BY_A_CLIENT = 'a client has ended the session';

/**
 * Return why a session ended, with the name of who has ended it, if a client has. `here`: by a button of this page.
 *
 * @param {string} reason
 * @param {any[]} events
 * @param {boolean} here
 */
export function endedBy(reason, events, here) {
  if (reason !== BY_A_CLIENT) return reason;
  const begun = events.findLastIndex(({type, payload}) => type === 'sessionStarted' && (payload.parentSessionId ?? null) === null);
  const call = events.findLast(({type, payload}, index) =>
    index > begun && (type === 'toolStarted' || type === 'toolCalled') && payload.tool === 'debug_disconnect' && !payload.error);
  const {client = null} = call?.payload ?? {};
  if (client === null) return reason;
  if (!isPerson(call.payload)) return `${client} ended the session`;
  return here && client === PAGE_NAME ? 'you ended the session' : `a person (${client}) ended the session`;
}
