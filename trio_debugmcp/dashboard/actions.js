// The actions of the page. Selecting what to look at works for every page; the others call tools that need control.

import {framesOf, variablesOf} from './answers.js';

const WATCHES = 'trio-debugmcp.watches';

export class Actions {
  #store;
  #turn = Promise.resolve();

  /** `call(name, args)` calls a tool; `refresh()` reads the resources again without waiting to be notified. */
  constructor(store, {call, refresh}) {
    this.#store = store;
    this.call = call;
    this.refresh = refresh;
    store.update({watches: storedWatches().map((expression) => ({expression}))});
  }

  resume = () => this.#run('debug_continue', {wait: false});
  step = (mode) => this.#run('debug_step', {mode, timeout: 2});
  pause = () => this.#run('debug_pause', {timeout: 5});
  restart = () => this.#run('debug_restart', {});
  stop = () => this.#run('debug_disconnect', {terminate: true});
  runTo = (file, line) => this.#run('debug_run_to', {file, line, timeout: 2});

  /** Set a breakpoint there, or remove the one that is there. */
  toggleBreakpoint = (file, line) => {
    const {breakpoints} = this.#store.state.breakpoints ?? {breakpoints: []};
    const existing = breakpoints.find((each) => each.file === file && each.line === line);
    return existing ? this.removeBreakpoint(existing.id) : this.#run('breakpoint_set', {file, line});
  };

  removeBreakpoint = (id) => this.#run('breakpoint_remove', {id});
  enableBreakpoint = (id, enabled) => this.#run('breakpoint_enable', {id, enabled});

  /** Show a frame: its place in the source, and its locals. */
  selectFrame = async (index) => {
    const {frames, stack, role} = this.#store.state;
    const frame = frames.list[index];
    if (!frame) return;
    const top = frames.threadId === stack?.threadId && index === 0;
    const selected = {...frames, index, following: top, locals: top ? stack.locals : null};
    this.#store.update({frames: selected, place: placeOf(frame.location), event: null});
    if (top || role !== 'control' || stack?.stale) return;
    const found = await this.#ask('variables_get', {scope: 'locals', frame_index: index, thread_id: frames.threadId});
    if (found && this.#store.state.frames === selected) {
      this.#store.update({frames: {...selected, locals: variablesOf(found)}});
    }
  };

  /** Show another thread's stack. */
  selectThread = async (threadId) => {
    const {stack} = this.#store.state;
    const list = threadId === stack?.threadId ? stack.frames : await this.#framesOf(threadId);
    if (!list) return;
    this.#store.update({frames: {threadId, index: 0, list, locals: null, following: false}});
    await this.selectFrame(0);
  };

  /** Fetch the children of a variable of the selected frame. */
  children = async (path) => {
    const {frames} = this.#store.state;
    const args = {path, frame_index: frames.index, thread_id: frames.threadId};
    const found = await this.#ask('variables_get', args);
    return found ? variablesOf(found, path) : [];
  };

  showPlace = (file, line) => this.#store.update({place: {file, line}, event: null});

  /** Show an event of the timeline: its text, and the place in the source where it happened. */
  showEvent = (event) => {
    const {file, line} = event.payload?.location ?? event.payload ?? {};
    this.#store.update({event, ...(file ? {place: {file, line}} : {})});
  };

  addWatch = (expression) => {
    const {watches} = this.#store.state;
    if (!watches.some((each) => each.expression === expression)) this.#keep([...watches, {expression}]);
    return this.evaluateWatches();
  };

  removeWatch = (expression) =>
    this.#keep(this.#store.state.watches.filter((each) => each.expression !== expression));

  /** Evaluate each watch in the top frame of this stop, one after the other: they run in the program. */
  evaluateWatches = async () => {
    const {stack} = this.#store.state;
    for (const {expression} of this.#store.state.watches) {
      if (this.#store.state.stack?.stale !== false) return;
      const result = await this.#evaluated(expression);
      this.#store.update({
        watches: this.#store.state.watches.map((each) =>
          each.expression === expression ? watched(each, result, stack.capturedAt) : each,
        ),
      });
    }
  };

  dismissNotice = () => this.#store.update({notice: null});

  async #framesOf(threadId) {
    const {threads, stack, session} = this.#store.state;
    const known = [...(threads?.threads ?? []), ...(stack?.frames ?? [])].map(({location}) => location?.file);
    const found = await this.#ask('stacktrace_get', {thread_id: threadId, count: 50});
    return found && framesOf(found, [...known, session?.executablePath]);
  }

  async #evaluated(expression) {
    try {
      return await this.call('evaluate', {expression});
    } catch (error) {
      return {error: error.message};
    }
  }

  #keep(watches) {
    sessionStorage.setItem(WATCHES, JSON.stringify(watches.map(({expression}) => expression)));
    this.#store.update({watches});
  }

  /** Run tool calls one after the other: a key pressed during a step makes one more step. */
  #run(name, args) {
    this.#turn = this.#turn.then(async () => {
      this.#store.update({busy: name, notice: null});
      await this.#ask(name, args);
      await this.refresh();
      this.#store.update({busy: null});
    });
    return this.#turn;
  }

  async #ask(name, args) {
    try {
      return await this.call(name, args);
    } catch (error) {
      this.#store.update({notice: error.message});
      return undefined;
    }
  }
}

const placeOf = ({file, line}) => (file ? {file, line} : null);

/** A watch with its value at this stop; `before` is its value at the stop before, when that was another. */
function watched(watch, {value, type, error}, stop) {
  const before = watch.stop === stop ? watch.before : watch.value;
  return {...watch, value, type, error, stop, before};
}

function storedWatches() {
  try {
    return JSON.parse(sessionStorage.getItem(WATCHES)) ?? [];
  } catch {
    return [];
  }
}
