// What was written to the program's input, among its output: from the calls of all clients, as the timeline has them.

/** @typedef {{seq: number, stream: string, text: string, time: string}} Entry */

const END = '(end of input)\n';
const CUT = '… (+';

/**
 * Return the events since the last time that a program was started while none was there: the output is of no other.
 *
 * @param {any[]} events
 */
function ofThisProgram(events) {
  const there = new Set();
  let from = 0;
  let hole = false;
  events.forEach(({type, payload, eventId}, index) => {
    hole ||= eventId > events[index - 1]?.eventId + 1;
    if (type === 'sessionStarted') {
      // The server forgets its events when a program replaces another: the end of that one may never have come here.
      if (hole && !payload.parentSessionId) there.clear();
      hole = false;
      if (there.size === 0) from = index;
      there.add(payload.sessionId);
    } else if (type === 'sessionEnded') there.delete(payload.sessionId);
  });
  return events.slice(from);
}

/** Whether there may be other inputs by an event. */
export const changesInputs = ({type, payload}) => type === 'sessionStarted' || payload.tool === 'process_write_input';

/**
 * Return the inputs of this program among the events, oldest first. The timeline has only the beginning of a long one; `own` are the
 * whole texts that this page has sent.
 *
 * @param {any[]} events
 * @param {string[]} own
 * @returns {{text: string, time: string}[]}
 */
export function inputsOf(events, own = []) {
  return ofThisProgram(events)
    .filter(({type, payload}) => type === 'toolCalled' && payload.tool === 'process_write_input' && !payload.error)
    .map(({timestamp, payload: {arguments: {data = '', close_after: closes}, milliseconds = 0}}) => {
      const begin = String(data).split(CUT)[0];
      const text = String(data).includes(CUT) ? own.find((each) => each.startsWith(begin)) ?? `${data}\n` : String(data);
      return {
        text: `${text}${closes ? END : ''}`,
        time: new Date(Date.parse(timestamp) - milliseconds).toISOString(),
      };
    });
}

/**
 * Return output with what was written to the program in between, where it was by time.
 *
 * @param {Entry[]} entries
 * @param {{text: string, time: string}[]} inputs
 * @returns {Entry[]}
 */
function withInputs(entries, inputs) {
  const all = [...entries];
  for (const {text, time} of inputs) {
    const at = all.findIndex((entry) => Date.parse(entry.time) > Date.parse(time));
    const index = at < 0 ? all.length : at;
    const before = all[index - 1]?.seq ?? (all[0]?.seq ?? 1) - 1;
    // Between the numbers of two pieces: the next piece has the next whole one.
    all.splice(index, 0, {seq: before + (Math.floor(before) + 1 - before) / 2, stream: 'input', text, time});
  }
  return all;
}

/** A store whose output has the inputs in between. */
export function echoing(store) {
  return {
    get state() {
      return store.state;
    },
    watch(keys, draw) {
      let drawn = store.state.inputs;
      store.watch([...keys, 'inputs'], (state) => {
        // One that belongs between what is drawn: it is drawn anew, from nothing.
        if (drawn !== state.inputs) draw({...state, output: {...state.output, entries: []}});
        drawn = state.inputs;
        draw({...state, output: {...state.output, entries: withInputs(state.output.entries, state.inputs)}});
      });
    },
  };
}
