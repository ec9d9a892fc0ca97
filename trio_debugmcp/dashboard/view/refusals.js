// The server's refusals name tools, as they are written for agents. A person has buttons.

const BUTTONS = /** @type {Record<string, string>} */ ({
  debug_continue: 'Continue',
  debug_pause: 'Pause',
  debug_restart: 'Restart',
  debug_disconnect: 'Stop',
});

/** How to begin a session is for the agent to know. */
const NO_SESSION = /^No active debug session: .*?(?=\.|$)/;

const NAMED = new RegExp(`\\b(${Object.keys(BUTTONS).join('|')})\\b`, 'g');

/**
 * Throw an error again, with the names of the buttons that do the same as the tools in its sentence.
 *
 * @param {Error} error
 * @returns {never}
 */
export function inButtons(error) {
  error.message = error.message.replace(NO_SESSION, 'No program is debugged now').replace(NAMED, (tool) => BUTTONS[tool]);
  throw error;
}
