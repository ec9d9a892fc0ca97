// The buttons of a page that is in control, and their keys.

import {confirmed} from '../view/dialog.js';
import {byId, el, isTyping} from '../view/dom.js';
import {icon} from '../view/icons.js';
import {rove} from '../view/roving.js';
import {agentNames, NOBODY} from '../people/people.js';

const VERBS = [
  {name: 'Continue', picture: 'continue', keys: 'F5', when: ['Paused'], run: (actions) => actions.resume()},
  {name: 'Pause', picture: 'pause', keys: 'F6', when: ['Running'], run: (actions) => actions.pause()},
  {name: 'Step over', picture: 'over', keys: 'F10', when: ['Paused'], run: (actions) => actions.step('over')},
  {name: 'Step in', picture: 'in', keys: 'F11', when: ['Paused'], run: (actions) => actions.step('in')},
  {name: 'Step out', picture: 'out', keys: 'Shift+F11', when: ['Paused'], run: (actions) => actions.step('out')},
  {
    name: 'Restart',
    picture: 'restart',
    keys: 'Ctrl+Shift+F5',
    sentence: 'The program ends and runs again from the start.',
    when: ['Paused', 'Running', 'Ended'],
    run: (actions) => actions.restart(),
  },
  {
    name: 'Stop',
    picture: 'stop',
    keys: 'Shift+F5',
    sentence: 'The program ends, for everybody.',
    when: ['Starting', 'Paused', 'Running', 'Terminating'],
    run: (actions) => actions.stop(),
  },
];

export function createControls(store, actions) {
  const toolbar = byId('controls');
  let buttons = new Map();
  const settle = rove(toolbar, '.verb', {horizontal: true});

  const possible = (verb) => {
    const {active, session, last, link, role} = store.state;
    const state = active ? session?.state : last ? 'Ended' : null;
    return role === 'control' && link.status === 'open' && verb.when.includes(state);
  };

  store.watch(['role'], ({role}) => {
    buttons = new Map(role === 'control' ? VERBS.map((verb) => [verb, button(verb)]) : []);
    toolbar.replaceChildren(...buttons.values());
    toolbar.hidden = buttons.size === 0;
    settle();
  });

  store.watch(['role', 'active', 'session', 'last', 'link'], () => {
    for (const [verb, node] of buttons) {
      // Not `disabled`: that would take the keyboard focus away in the middle of stepping.
      node.ariaDisabled = String(!possible(verb));
    }
  });

  toolbar.addEventListener('click', (event) => {
    const [verb] = [...buttons].find(([, node]) => node.contains(event.target)) ?? [];
    if (verb && possible(verb)) pressed(verb);
  });

  /** Do it; what ends the program under an agent's hands only once it is confirmed. */
  async function pressed(verb) {
    const {people} = store.state;
    const agents = people === NOBODY ? 'An agent' : agentNames(people); // who is there may not be known yet
    const sure = !verb.sentence || !agents || store.state.last ||
      (await confirmed(`${verb.name}?`, `${agents} may be at work here. ${verb.sentence}`, verb.name));
    if (sure && possible(verb)) verb.run(actions);
  }

  document.addEventListener('keydown', (event) => {
    const verb = VERBS.find(({keys}) => keys === keysOf(event));
    const {role, active, busy} = store.state;
    if (!verb || isTyping(event.target) || role !== 'control' || !active) return; // the browser's own keys
    event.preventDefault(); // also when it is not possible now: a second F5 must not reload the page
    if (possible(verb) && !(event.repeat && busy)) pressed(verb);
  });
}

function button({name, picture, keys}) {
  return el(
    'button',
    {
      type: 'button',
      className: 'verb',
      title: `${name} (${keys})`,
      ariaLabel: name,
      'aria-keyshortcuts': ariaKeys(keys),
      dataset: {name},
    },
    icon(picture),
    el('span', {className: 'name'}, name),
  );
}

const ariaKeys = (keys) => keys.replace('Ctrl', 'Control');

const keysOf = ({key, shiftKey, ctrlKey, altKey, metaKey}) =>
  altKey || metaKey ? '' : `${ctrlKey ? 'Ctrl+' : ''}${shiftKey ? 'Shift+' : ''}${key}`;
