// Stops at exceptions: any that is raised, any that nothing catches, and those of a type.

import {byId, el, setText} from '../view/dom.js';

const ANY = '*';

export function createExceptions(store, actions) {
  let sending = 0;
  const raised = toggle('Raised', 'Stop where any exception is raised, also if it is caught');
  const uncaught = toggle('Uncaught', 'Stop at any exception that nothing catches. A program launched with stop_on_uncaught (the default) stops there anyway');
  const input = el('input', {
    name: 'exception-type',
    placeholder: 'Type',
    title: 'A type of exception, such as ValueError',
    ariaLabel: 'Type of exception to stop at',
    autocomplete: 'off',
    spellcheck: false,
  });
  const problem = el('p', {className: 'problem', role: 'alert', hidden: true});
  const form = el('form', {onsubmit: added}, input, el('button', {type: 'submit', className: 'button'}, 'Add'));
  const now = el('span', {className: 'note'});
  const view = el(
    'details',
    {className: 'exceptions', hidden: true},
    el('summary', {}, el('span', {className: 'caption'}, 'Exceptions'), now),
    el('div', {role: 'group', ariaLabel: 'Stops at exceptions'}, raised.node, uncaught.node, form, problem),
  );
  byId('breakpoints').after(view);

  const any = () => store.state.breakpoints?.exceptionBreakpoints.find((each) => each.exceptionType === ANY);

  store.watch(['role'], ({role}) => {
    view.hidden = role !== 'control';
  });
  store.watch(['breakpoints', 'session'], draw);

  function draw() {
    if (sending > 0) return; // a box has been clicked, and what comes of it is on its way
    const found = any();
    raised.input.checked = Boolean(found?.enabled && found.breakOnFirstChance);
    uncaught.input.checked = Boolean(found?.enabled && found.breakOnSecondChance);
    // Not off: the program stops there all the same.
    const byLaunch = !uncaught.input.checked && Boolean(store.state.session?.stopsAt?.length);
    uncaught.input.indeterminate = byLaunch;
    setText(uncaught.more, byLaunch ? ' (by the launch)' : '');
    const stops = [raised.input.checked ? 'raised' : '', uncaught.input.checked || byLaunch ? 'uncaught' : ''];
    setText(now, stops.filter(Boolean).join(', ') || 'no stop');
  }

  for (const {input: box} of [raised, uncaught]) {
    box.addEventListener('change', () => {
      const first = raised.input.checked;
      const second = uncaught.input.checked;
      const found = any();
      if (first || second) {
        const chances = {break_on_first_chance: first, break_on_second_chance: second};
        const condition = found?.condition ? {condition: found.condition} : {};
        sent('breakpoint_set_exception', {exception_type: ANY, ...chances, ...condition});
      } else if (found) sent('breakpoint_remove', {id: found.id});
    });
  }

  /** @param {SubmitEvent} event */
  async function added(event) {
    event.preventDefault();
    const type = input.value.trim();
    if (type && (await sent('breakpoint_set_exception', {exception_type: type}))) form.reset();
  }

  /** Send it; what the adapter cannot is said here, and the boxes show again what holds. */
  async function sent(name, args) {
    problem.hidden = true;
    sending += 1;
    try {
      await actions.call(name, args);
      await actions.refresh();
      return true;
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
      return false;
    } finally {
      sending -= 1;
      draw();
    }
  }
}

function toggle(name, title) {
  const input = el('input', {type: 'checkbox'});
  const more = el('span');
  return {input, more, node: el('label', {title}, input, el('span', {}, name, more))};
}
