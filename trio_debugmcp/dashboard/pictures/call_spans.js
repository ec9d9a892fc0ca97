// The calls of all clients, with their times, as pictures draw them. Pure.

import {isBookkeeping, secondsOf} from '../timeline/events.js';
import {isPerson} from '../story/calls.js';

/**
 * `to` is null while it is in flight. Times in seconds.
 *
 * @typedef {{client: string, tool: string, person: boolean, failed: boolean, from: number, to: number | null, result: string, event: any}} CallTime
 */

/** The calls among events, in the order in which they began. @param {any[]} events @returns {CallTime[]} */
export function callTimes(events) {
  /** @type {Map<number, CallTime>} */
  const inFlight = new Map();
  /** @type {CallTime[]} */
  const calls = [];
  for (const event of events) {
    const {type, payload} = event;
    if ((type !== 'toolStarted' && type !== 'toolCalled') || isBookkeeping(event)) continue;
    let call = inFlight.get(payload.call);
    if (!call) {
      const {client = null, tool} = payload;
      call = {client: client ?? 'someone', tool, person: isPerson(payload), failed: false, from: secondsOf(event), to: null, result: '', event};
      calls.push(call);
      if (type === 'toolStarted') inFlight.set(payload.call, call);
    }
    if (type !== 'toolCalled') continue;
    inFlight.delete(payload.call);
    const to = secondsOf(event);
    call.to = to;
    call.from = Math.min(call.from, to - payload.milliseconds / 1000);
    call.failed = Boolean(payload.error);
    call.result = payload.error || payload.result || '';
    call.event = event;
  }
  return calls.sort((one, other) => one.from - other.from);
}

/** @param {CallTime} call */
export const kindOf = ({failed, person}) => (failed ? 'failed' : person ? 'person' : 'call');
