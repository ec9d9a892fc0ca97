// Who is at the server: persons and agents, who holds the session, messages, and questions. Mirrors `debugger://people`,
// which can be read without a session too, and joins as a person where the page is in control.

import {unlessAnswer} from '../connection/mcp.js';
import {followed, mirrored} from '../connection/mirror.js';

export const PEOPLE = 'debugger://people';
const KEY = 'trio-debugmcp.person';

/**
 * @typedef {{id: string, name: string | null, person: boolean, absentSince: string | null}} Party
 * @typedef {{client: string | null, clientId: string, deliveredAt: string | null, left: boolean}} Recipient
 * @typedef {{id: string, kind: string, text: string, client: string | null, sentAt: string, to: Recipient[]}} Message
 * @typedef {{id: string, question: string, choices: string[], client: string | null, until: string}} Question
 * @typedef {{client: string | null, clientId: string, since: string}} Hold
 * @typedef {{clients: Party[], hold: Hold | null, waiting: {client: string | null, tool: string, since: string}[],
 *   questions: Question[], messages: Message[]}} Everybody
 */

/** What the page knows before it has asked. @type {Everybody} */
export const NOBODY = {clients: [], hold: null, waiting: [], questions: [], messages: []};

export class People {
  #store;
  /** @type {import('../connection/mcp.js').McpClient | null} */
  #client = null;
  #read = mirrored(() => this.#readAll(), unlessAnswer);

  /** `call(name, args)` calls a tool. */
  constructor(store, call) {
    this.#store = store;
    this.call = call;
    store.update({people: NOBODY, me: null});
  }

  /** Subscribe, and if the page is in control, join as the person who was here before, if it is one. */
  async opened(client, role) {
    this.#client = client;
    this.#store.update({people: NOBODY, me: null});
    try {
      await followed(() => this.#subscribe(client, role), this.#read);
    } catch (error) {
      unlessAnswer(error); // an older server, or a replay that is watched: the page works without
      await this.#read();
    }
  }

  /** To join once more is to be the same person. */
  async #subscribe(client, role) {
    await client.request('resources/subscribe', {uri: PEOPLE});
    if (role === 'control') this.#store.update({me: (await this.call('person_join', {key: keyOfTab()})).client});
  }

  notified(method, params) {
    if (method === 'notifications/resources/updated' && params.uri === PEOPLE) this.#read();
  }

  hold = (takeOver = false) => this.#run('session_hold', takeOver ? {take_over: true} : {});
  handBack = (message) => this.#run('session_hand_back', message ? {message} : {});
  tell = (text, to) => this.#run('agent_message', to ? {text, to: [to]} : {text});
  answer = (id, answer) => this.#run('person_answer', {id, answer});
  dismiss = (id) => this.#run('person_answer', {id});

  /** Call a tool, and read again at once; returns whether it succeeded. What is wrong is said as of every action. */
  async #run(name, args) {
    try {
      await this.call(name, args);
      return true;
    } catch (error) {
      this.#store.update({notice: error.message});
      return false;
    } finally {
      await this.#read();
    }
  }

  async #readAll() {
    const client = this.#client;
    const people = await client?.readJson(PEOPLE);
    if (people !== undefined && client === this.#client) this.#store.update({people});
  }
}

/** What this tab calls itself, so that it is the same person after a reconnection and a reload. */
function keyOfTab() {
  const known = sessionStorage.getItem(KEY);
  if (known) return known;
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const key = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(KEY, key);
  return key;
}

/** @param {Everybody} people */
export const agentsOf = (people) => people.clients.filter(({person}) => !person);

/** The agents by name, for a sentence: `claude-code`, `claude-code and 2 more`. @param {Everybody} people */
export function agentNames(people) {
  const [first, ...others] = agentsOf(people);
  if (!first) return '';
  return others.length ? `${first.name} and ${others.length} more` : first.name ?? 'an agent';
}

/** For how long there is no news of a message, by this computer's clock: since it was sent, or delivered to anybody. */
export function secondsSince({sentAt, to}, now = Date.now()) {
  return (now - Math.max(...[sentAt, ...to.map((each) => each.deliveredAt ?? sentAt)].map((each) => Date.parse(each)))) / 1000;
}
