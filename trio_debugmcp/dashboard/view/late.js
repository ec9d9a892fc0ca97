// A button that was pressed, and to which there is no answer yet: without a word it would look broken.

const LATE_SECONDS = 1.5;

/** What a person does by each tool, in words; pages call others by themselves. @type {Record<string, string>} */
export const DONE_BY = {
  debug_continue: 'Continue',
  debug_pause: 'Pause',
  debug_step: 'the step',
  debug_run_to: 'Run to line',
  debug_restart: 'Restart',
  debug_disconnect: 'Stop',
  breakpoint_set: 'the breakpoint',
  breakpoint_edit: 'the breakpoint',
  breakpoint_remove: 'the breakpoint',
  breakpoint_enable: 'the breakpoint',
  breakpoint_set_exception: 'the exceptions',
  variable_set: 'the new value',
  process_write_input: 'the input',
  session_hold: 'Hold',
  session_hand_back: 'Hand back',
  agent_message: 'the message',
  person_answer: 'the answer',
};

/**
 * Return the call's result. `late` in the store is the tool's name from when it has had no answer for long.
 *
 * @template Result
 * @param {import('../store.js').Store} store
 * @param {string} name
 * @param {() => Promise<Result>} call
 */
export async function watched(store, name, call) {
  if (!(name in DONE_BY)) return call();
  const timer = setTimeout(() => store.update({late: name}), LATE_SECONDS * 1000);
  try {
    return await call();
  } finally {
    clearTimeout(timer);
    if (store.state.late === name) store.update({late: null});
  }
}
