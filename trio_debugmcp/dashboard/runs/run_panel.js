// The run that is open: what is asked of it, in tabs.

import {byId, el, setText} from '../view/dom.js';
import {rove} from '../view/roving.js';
import {FlameView} from './flame_view.js';
import {CallsView} from './run_calls.js';
import {CompareView} from './run_compare.js';
import {RunFacts} from './run_facts.js';
import {HistoryView} from './run_history.js';
import {WhyView} from './why_view.js';

/**
 * Draw the run that is open. Returns what else on the page may ask of it.
 *
 * @param {import('../store.js').Store} store
 * @param {import('../past/travel.js').Travel} travel
 * @param {(name: string, args: object) => Promise<any>} ask
 */
export function createRun(store, travel, ask) {
  const [panel, title, note, tabs, body] = [byId('run-panel'), byId('run-title'), byId('run-note'), byId('run-tabs'), byId('run')];
  const ofRun = (name, args) => {
    const {id, process} = store.state.run;
    return ask(name, {run: id, ...(process === null ? {} : {process}), ...args});
  };
  const why = new WhyView(store, travel, ofRun);
  const history = new HistoryView(store, travel, ofRun);
  const views = [why, new CallsView(store, travel, ofRun), new FlameView(store, travel, ofRun), history, new CompareView(store, travel, ask)];
  const buttons = views.map((view, index) => el('button', {
    type: 'button', role: 'tab', id: `run-tab-${index}`, className: 'tab', 'aria-controls': `run-view-${index}`, onclick: () => choose(index),
  }, view.name));
  views.forEach(({node}, index) => {
    node.id = `run-view-${index}`;
    node.role = 'tabpanel';
    node.classList.add('run-view');
    node.setAttribute('aria-labelledby', `run-tab-${index}`);
  });
  tabs.append(...buttons);
  body.append(...views.map(({node}) => node));
  const settle = rove(tabs, '.tab', {horizontal: true});
  const facts = new RunFacts(store, ask, () => views.forEach((view) => view.opened()));
  byId('run-tools').append(facts.select, el('button', {type: 'button', className: 'small', title: 'Close the run, and show now', onclick: close}, 'Close'));
  choose(0);

  /** @param {number} index */
  function choose(index) {
    buttons.forEach((button, at) => {
      button.ariaSelected = String(at === index);
      button.tabIndex = at === index ? 0 : -1;
    });
    views.forEach(({node}, at) => (node.hidden = at !== index));
    settle();
    if (store.state.run) views[index].shown();
  }

  function close() {
    if (travel.moments.away) travel.now();
    store.update({run: null, path: []});
    byId('runs').querySelector('li')?.focus();
  }

  function tell() {
    const {run, runs} = store.state;
    setText(title, run.id);
    const words = facts.words(runs.find(({id}) => id === run.id));
    setText(note, words);
    note.title = words;
  }

  /** @type {string | null} */
  let opened = null;
  store.watch(['run', 'runs'], ({run}) => {
    panel.hidden = run === null;
    if (run !== null) tell();
    if (run?.id === opened) return;
    opened = run?.id ?? null;
    if (run === null) return;
    choose(0);
    facts.opened(() => store.state.run && tell());
    for (const view of views) view.opened();
    if (panel.getBoundingClientRect().top > innerHeight) panel.scrollIntoView(); // on a phone it is far below the list
  });
  return {
    /** Ask why. @param {object} question */
    why(question) {
      choose(views.indexOf(why));
      why.ask(question);
    },
    /** Ask how something changed. @param {object} question */
    history(question) {
      choose(views.indexOf(history));
      history.ask(question);
    },
  };
}
