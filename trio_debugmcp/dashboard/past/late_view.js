// What a page that is opened after the end of a session shows: the last stop, as a page that was there all the time still
// has it, with the texts of the files as they ran; of a program that has crashed without a stop, where that was.

import {isAnswer, ToolError} from '../connection/mcp.js';
import {frameOf, lastStop, shownFrame} from './moment.js';

const MOST_BYTES = 10_000_000;

/** What the server says of a file that it does not know. */
const UNSEEN = new Set(['NO_SESSION', 'INVALID_PATH']);

const NO_VALUES = 'Its values are not known: the program did not stop there.';

export class LateView {
  /** The stop that is shown, whose texts are asked for. */
  stop = 0;

  /**
   * @param {import('../live_side.js').LiveSide} live
   * @param {(name: string, args: object) => Promise<any>} call
   */
  constructor(live, call) {
    this.live = live;
    this.call = call;
  }

  /**
   * Show the last stop, or else the traceback. `location` is where the exception was raised that ended the program.
   *
   * @param {{location: any, frames: any[], at: string | null}} end
   */
  show = async (end) => {
    const number = lastStop(this.live.state.events)?.payload.stop;
    if (!number) return this.#crashed(end); // nothing was kept of it
    const stop = await this.#asked({stop: number});
    const {active, stack, last} = this.live.state;
    if (!stop || active || stack?.frames.length || !last) return; // another session has begun meanwhile
    this.stop = number;
    const {threadId, frames, capturedAt, locals, changed, totalFrames} = stop.stop;
    this.live.update({
      last: {...last, processName: last.processName ?? stop.stop.processName ?? null},
      stack: {threadId, frames, total: totalFrames, locals, capturedAt, stale: true},
      threads: {threads: stop.stop.threads, capturedAt, stale: true},
      frames: {...frameOf(stop.stop, 0), threadId, list: frames},
      changed: new Map(Object.entries(changed ?? {})),
      place: placeOf(stop.stop, end.location),
    });
  };

  /** Show the traceback, and the source of the first of its frames that the server has. @param {{frames: any[], at: string | null}} end */
  async #crashed(end) {
    const list = end.frames;
    let problem = 'It never stopped, so that no stop was kept to go back to.';
    let index = -1;
    for (const [at, {location}] of list.entries()) {
      try {
        await this.text(location.file);
        index = at;
        break;
      } catch (error) {
        if (!isAnswer(error)) throw error;
        const unseen = error instanceof ToolError && UNSEEN.has(error.code);
        if (at === 0) problem = `The source of ${end.at} cannot be shown${unseen ? ': the debugger has not seen this file.' : `. ${error.message}`}`;
      }
    }
    const {active, stack, last} = this.live.state;
    if (active || stack?.frames.length || !last) return; // another session has begun meanwhile
    const whole = {...last, problem: index === 0 ? '' : problem};
    if (list.length === 0) return this.live.update({last: whole});
    const capturedAt = this.live.state.events.findLast(({type}) => type === 'sessionEnded')?.timestamp ?? null;
    this.live.update({
      last: whole,
      stack: {threadId: null, frames: list, total: list.length, locals: null, capturedAt, stale: true},
      frames: {threadId: null, index: Math.max(0, index), list, locals: null, following: true, hint: NO_VALUES},
      place: index < 0 ? null : {...list[index].location, version: null, note: index > 0 ? problem : ''},
    });
  }

  /**
   * Return the text of a file of the program that has ended, and a note if that is not what ran.
   *
   * @param {string} file
   * @returns {Promise<{text: string, note: string}>}
   */
  text = async (file) => {
    const {lines, changed} = await this.call('source_get', {file, max_result_bytes: MOST_BYTES});
    const note = changed ? 'The file has changed since the program ran.' : '';
    return {text: lines.map(({text}) => text).join('\n'), note};
  };

  /** @param {object} args */
  async #asked(args) {
    try {
      return await this.call('stop_get', args);
    } catch (error) {
      if (isAnswer(error)) return null;
      throw error;
    }
  }
}

/** The place of a stop, or of the exception if that was in the same file. @param {any} stop @param {any} raisedAt */
function placeOf({frames, sources}, raisedAt) {
  const {file, line} = shownFrame(frames)?.location ?? {};
  if (!file) return null;
  const version = sources?.find((source) => source.file === file)?.version ?? null;
  return {file, line: raisedAt?.file === file ? raisedAt.line : line, version};
}
