// The actions of the page. Selecting what to look at works for every page; the others call tools that need control.

import {evaluated, variablesOf} from './answers.js';
import {frameArguments, frameKey} from './program/frame.js';
import {Lists} from './values/lists.js';

const WATCHES = 'trio-debugmcp.watches';

export class Actions {
  #store;
  #follow;
  /** @type {Promise<any>} */
  #turn = Promise.resolve();

  /**
   * `call(name, args)` calls a tool; `refresh()` reads the resources again without waiting to be notified; `history` leads
   * to stops of the past. What moves the program does so now, and shows now.
   */
  constructor(store, {call, refresh, follow, history}) {
    this.#store = store;
    this.#follow = follow;
    this.call = call;
    this.refresh = refresh;
    this.history = history;
    this.lists = new Lists(store, (name, args) => this.#ask(name, args));
    store.update({watches: storedWatches().map((expression) => ({expression}))});
  }

  resume = () => this.#control('debug_continue', {wait: false});
  step = (mode) => this.#moved('debug_step', {mode, timeout: 2});
  pause = async () => {
    const answer = await this.#control('debug_pause', {timeout: 5});
    // The program may have nothing to stop: a press of which nothing comes would look broken.
    if (answer?.state === 'Running') this.#store.update({notice: notYetPaused(answer.notes ?? [])});
  };
  restart = () => this.#control('debug_restart', {});
  stop = async () => {
    this.#store.update({endedHere: true});
    await this.#control('debug_disconnect', {terminate: true});
    if (this.#store.state.notice) this.#store.update({endedHere: false}); // it was refused
  };
  runTo = (file, line) => this.#moved('debug_run_to', {file, line, timeout: 2});

  /** Set a breakpoint there, or remove the one that is there. */
  toggleBreakpoint = (file, line) => {
    const {breakpoints} = this.#store.state.breakpoints ?? {breakpoints: []};
    const existing = breakpoints.find((each) => each.file === file && each.line === line);
    return existing ? this.removeBreakpoint(existing.id) : this.#run('breakpoint_set', {file, line});
  };

  /** A breakpoint as it is now. */
  breakpoint = (id) =>
    Object.values(this.#store.state.breakpoints ?? {}).flatMap((list) => (Array.isArray(list) ? list : [])).find((each) => each.id === id);

  removeBreakpoint = (id) => this.#run('breakpoint_remove', {id});
  /** Switch several on or off, one after the other. */
  enableBreakpoints = (ids, enabled) => Promise.all(ids.map((id) => this.enableBreakpoint(id, enabled)));
  enableBreakpoint = (id, enabled) => this.#run('breakpoint_enable', {id, enabled});

  /** Stop where a variable of the frame that is shown is written. */
  stopAtWrites = (variable) => this.#run('breakpoint_set_data', {variable, ...frameArguments(this.#store.state)});

  /** Show a frame: its place in the source, and its locals. */
  selectFrame = async (index) => {
    if (this.history.on) return this.history.selectFrame(index);
    const {frames, stack, role, follow} = this.#store.state;
    const frame = frames.list[index];
    if (!frame) return;
    const top = frames.threadId === stack?.threadId && index === 0;
    if (top && !follow.behind && this.#store.state.active) {
      this.#follow.back();
      return;
    }
    this.#follow.leave();
    const selected = {...frames, index, following: top, locals: top ? stack.locals : null};
    this.#store.update({frames: selected, place: placeOf(frame.location), event: null});
    if (top || role !== 'control' || stack?.stale !== false) return;
    const found = await this.#ask('variables_get', {scope: 'locals', frame_index: index, thread_id: frames.threadId});
    if (found && this.#store.state.frames === selected) {
      this.#store.update({frames: {...selected, locals: variablesOf(found)}});
    }
  };

  /** Show another thread's stack. */
  selectThread = async (threadId) => {
    if (this.history.on) return this.history.selectThread(threadId);
    this.#follow.catchUp(); // another thread is looked at as it is now
    const {stack, session} = this.#store.state;
    const runs = session?.state === 'Running';
    const own = stack && {list: stack.frames, total: stack.total};
    const found = threadId === stack?.threadId && !runs ? own : await this.lists.frames(threadId);
    if (!found) return;
    const glance = runs ? {seenAt: new Date().toISOString(), hint: 'It runs: values are read where it stops.'} : {};
    this.#store.update({frames: {threadId, index: 0, ...found, locals: null, following: false, ...glance}});
    await this.selectFrame(0);
  };

  /** Fetch the children of a variable of the selected frame. */
  children = (path, start = 0) => this.lists.children(path, start);

  showPlace = (file, line) => {
    if (this.history.on) return this.history.showPlace(file, line);
    this.#follow.leave();
    this.#store.update({place: {file, line}, event: null});
  };

  /** Show an event of the timeline: a stop as it was; of others the text, and the place in the source. */
  showEvent = (event) => {
    if (this.history.leadsTo(event)) return;
    this.#follow.leave();
    const {file, line} = event.payload?.location ?? event.payload ?? {};
    this.#store.update({event, ...(file ? {place: {file, line}} : {})});
  };

  addWatch = (expression) => {
    const {watches} = this.#store.state;
    if (!watches.some((each) => each.expression === expression)) this.#keep([...watches, {expression}]);
  };

  removeWatch = (expression) =>
    this.#keep(this.#store.state.watches.filter((each) => each.expression !== expression));

  changeWatch = (expression, other) => {
    const kept = this.#store.state.watches.filter((each) => each.expression !== other);
    this.#keep(kept.map((each) => (each.expression === expression ? {expression: other} : each)));
  };

  /** Forget the values of a session that is over, and keep the expressions. */
  forgetWatchValues = () =>
    this.#store.update({watches: this.#store.state.watches.map(({expression}) => ({expression}))});

  /**
   * Evaluate each watch in the frame that is shown, one after the other: they run in the program. Return whether the frame
   * was shown until all had their values.
   */
  evaluateWatches = async () => {
    const key = frameKey(this.#store.state);
    const args = frameArguments(this.#store.state);
    for (const {expression} of this.#store.state.watches) {
      if (this.#store.state.stack?.stale !== false) return false;
      const result = await this.#evaluated(expression, args);
      if (frameKey(this.#store.state) !== key) return false; // the value is of another frame
      this.#store.update({
        watches: this.#store.state.watches.map((each) =>
          each.expression === expression ? watched(each, result, this.#store.state) : each,
        ),
      });
    }
    return true;
  };

  dismissNotice = () => this.#store.update({notice: null});

  async #evaluated(expression, args) {
    try {
      return evaluated(await this.call('evaluate', {expression, ...args}));
    } catch (error) {
      return {error: error.message};
    }
  }

  #keep(watches) {
    sessionStorage.setItem(WATCHES, JSON.stringify(watches.map(({expression}) => expression)));
    this.#store.update({watches});
  }

  /** A person who moves the program looks at where it goes. */
  #moved(name, args) {
    this.#follow.back();
    return this.#control(name, args);
  }

  /** What is done to the program is done now, and is seen there: the past would look as if nothing had come of it. */
  #control(name, args) {
    if (this.history.away) this.history.now();
    return this.#run(name, args);
  }

  /** Run tool calls one after the other: a key pressed during a step makes one more step. */
  #run(name, args) {
    const turn = this.#turn.then(async () => {
      this.#store.update({busy: name, notice: null});
      const answer = await this.#ask(name, args);
      await this.refresh();
      this.#store.update({busy: null});
      return answer;
    });
    this.#turn = turn;
    return turn;
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

/** Why nothing has stopped, as the server says: without the sentences that name tools. @param {string[]} notes */
function notYetPaused(notes) {
  const sentences = notes.flatMap((note) => note.split(/(?<=\.) /)).filter((sentence) => !/[a-z]_[a-z]/.test(sentence));
  const said = sentences.join(' ').replace(/^./, (letter) => letter.toUpperCase());
  return said || 'Nothing has stopped yet.';
}

const placeOf = ({file, line}) => (file ? {file, line} : null);

/** A watch with its value at this stop; `before` is that at the stop before, if it was seen in the same function. */
function watched(watch, {value, type, error}, {stack, frames}) {
  const stop = stack.capturedAt;
  const place = `${frames.threadId} ${frames.list.length - frames.index} ${frames.list[frames.index]?.name}`;
  const before = watch.stop === stop ? watch.before : watch.value;
  return {expression: watch.expression, value, type, error, stop, place, before: watch.place === place ? before : undefined};
}

function storedWatches() {
  try {
    return JSON.parse(sessionStorage.getItem(WATCHES) ?? '[]');
  } catch {
    return [];
  }
}
