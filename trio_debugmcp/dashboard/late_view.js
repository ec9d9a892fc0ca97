// What a page that is opened after the end of a session shows: the last stop, as a page that was there all the time still
// has it, with the texts of the files as they ran.

import {ConnectionLost, McpError, ToolError} from './mcp.js';
import {frameOf, lastStop, shownFrame} from './moment.js';

export class LateView {
  /** The stop that is shown, whose texts are asked for. */
  stop = 0;

  /**
   * @param {import('./live_side.js').LiveSide} live
   * @param {(name: string, args: object) => Promise<any>} call
   */
  constructor(live, call) {
    this.live = live;
    this.call = call;
  }

  /** Show the last stop; `at` is where the exception was raised that ended the program. @param {{at: string | null}} last */
  show = async ({at}) => {
    const number = lastStop(this.live.state.events)?.payload.stop;
    if (!number) return; // it has never stopped: nothing was kept of it
    const stop = await this.#asked({stop: number, full: true});
    const {active, stack, last} = this.live.state;
    if (!stop || active || stack || !last) return; // another session has begun meanwhile
    this.stop = number;
    const {threadId, frames, capturedAt, locals, changed, totalFrames} = stop.stop;
    this.live.update({
      last: {...last, processName: last.processName ?? stop.stop.processName ?? null},
      stack: {threadId, frames, total: totalFrames, locals, capturedAt, stale: true},
      threads: {threads: stop.stop.threads, capturedAt, stale: true},
      frames: {...frameOf(stop.stop, 0), threadId, list: frames},
      changed: new Map(Object.entries(changed ?? {})),
      place: placeOf(stop.stop, at),
    });
  };

  /** @param {object} args */
  async #asked(args) {
    try {
      return await this.call('stop_get', args);
    } catch (error) {
      if (error instanceof ToolError || error instanceof McpError || error instanceof ConnectionLost) return null;
      throw error;
    }
  }
}

/** The place of a stop, or of the exception if that was in the same file. @param {any} stop @param {string | null} at */
function placeOf({frames, sources}, at) {
  const {file, line} = shownFrame(frames)?.location ?? {};
  if (!file) return null;
  const [, name, number] = /^(.*?):(\d+)(?: in .*)?$/s.exec(at ?? '') ?? [];
  const raised = name && (file === name || file.endsWith(`/${name}`));
  const version = sources?.find((source) => source.file === file)?.version ?? null;
  return {file, line: raised ? Number(number) : line, version};
}
