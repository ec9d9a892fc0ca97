// An MCP client over one WebSocket, handshake era: pairs requests with their answers and passes notifications on.

import {readWhole} from './pages.js';

/** The name and version that this client sends. */
export const PAGE_NAME = 'dashboard';

const PROTOCOL_VERSION = '2025-11-25';
const REQUEST_SECONDS = 60;
const HANDSHAKE_SECONDS = 10;

/** The server answered a request with a JSON-RPC error. */
export class McpError extends Error {
  constructor({code, message}) {
    super(message);
    this.code = code;
  }
}

/** A tool failed; `code` is one of the server's error codes, `details` what programs read of it. */
export class ToolError extends Error {
  constructor(code, message, details = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** No answer came: the connection ended before, or the server took too long. */
export class ConnectionLost extends Error {}

/** The server took too long, while the connection holds. */
export class Unanswered extends ConnectionLost {}

/** Whether an error is a sentence for the person, and none of the page's own. @param {any} error */
export const isAnswer = (error) => error instanceof ToolError || error instanceof McpError || error instanceof ConnectionLost;

/** Raise an error of the page’s own again; of what is an answer nothing is said. @param {any} error */
export function unlessAnswer(error) {
  if (!isAnswer(error)) throw error;
}

/**
 * Ask again what the server was too slow for, as long as the connection holds: only for what may be asked twice.
 *
 * @template Result
 * @param {() => Promise<Result>} ask
 * @returns {Promise<Result>}
 */
export async function untilAnswered(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      console.error(error);
    }
  }
}

export class McpClient {
  #socket;
  #nextId = 1;
  #pending = new Map();
  #over = false;
  /** Whether tools give data: those of an older server refuse to be asked for it. */
  #givesData = true;

  /** How many messages have come, and when the last one: each shows that the server is there. */
  heard = 0;
  heardAt = Date.now();

  /** Tools that do something, also without data. Of those that only read the answer is all there is. @type {Set<string>} */
  acting = new Set();

  /** Calls `onHeard()` for each message, `onNotification(method, params)` for each notification, and `onClose(event)` at the end. */
  constructor(socket, {onHeard, onNotification, onClose}) {
    this.#socket = socket;
    this.onHeard = onHeard;
    this.onNotification = onNotification;
    this.onClose = onClose;
    socket.addEventListener('message', (event) => this.#receive(event.data));
    socket.addEventListener('close', (event) => this.#closed(event));
  }

  /** Treat the connection as lost at once, whatever the socket still does. @param {string} reason */
  abandon(reason) {
    this.#closed({reason});
    this.#socket.close();
  }

  /** @param {{reason: string}} event */
  #closed(event) {
    if (this.#over) return;
    this.#over = true;
    for (const {reject} of this.#pending.values()) reject(new ConnectionLost('The connection was lost.'));
    this.#pending.clear();
    this.onClose(event);
  }

  /** Perform the handshake, and return what the server sends about itself. */
  async initialize() {
    const result = await this.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: {name: PAGE_NAME, title: 'trio_debugmcp dashboard', version: '1'},
    }, HANDSHAKE_SECONDS);
    this.#send({jsonrpc: '2.0', method: 'notifications/initialized'});
    return result;
  }

  request(method, params = {}, seconds = REQUEST_SECONDS) {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new ConnectionLost('Not connected to the server.'));
    }
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        this.#send({jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: id}});
        reject(new Unanswered(`The server did not answer ${method} within ${seconds} s.`));
      }, seconds * 1000);
      const settle = (action) => (value) => {
        clearTimeout(timer);
        action(value);
      };
      this.#pending.set(id, {resolve: settle(resolve), reject: settle(reject)});
      this.#send({jsonrpc: '2.0', id, method, params});
    });
  }

  /** Call a tool, and return its answer as data or throw a ToolError. */
  async callTool(name, args = {}) {
    const asked = this.#givesData || !this.acting.has(name);
    const result = await this.request('tools/call', {name, arguments: asked ? {...args, full: true} : args});
    if (!result.isError) return result.structuredContent;
    const error = toolError(result.content?.[0]?.text ?? 'The tool failed.');
    if (!refusesData(error) || !this.acting.has(name)) throw error;
    this.#givesData = false;
    return this.callTool(name, args); // nothing was done
  }

  /** Read a resource, and return its text. */
  async readText(uri) {
    const result = await this.request('resources/read', {uri});
    return result.contents[0].text;
  }

  /** Read a resource of JSON, all pages of it. */
  readJson(uri) {
    return readWhole((address) => this.readText(address), uri);
  }

  close() {
    this.#socket.close();
  }

  #send(message) {
    if (this.#socket.readyState !== WebSocket.OPEN) return; // it is closing: `close` rejects what waits
    this.#socket.send(JSON.stringify(message));
  }

  #receive(data) {
    if (this.#over) return;
    this.heard += 1;
    this.heardAt = Date.now();
    this.onHeard();
    const message = JSON.parse(data);
    if (message.method !== undefined) {
      if (message.id === undefined) this.onNotification(message.method, message.params ?? {});
      else this.#answer(message);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return; // the answer to a request that we gave up
    this.#pending.delete(message.id);
    if (message.error) pending.reject(new McpError(message.error));
    else pending.resolve(message.result);
  }

  /** Answer a request of the server. Only `ping` is served: this client declares no capability. */
  #answer({id, method}) {
    const answer = method === 'ping' ? {result: {}} : {error: {code: -32601, message: `No method ${method}`}};
    this.#send({jsonrpc: '2.0', id, ...answer});
  }
}

/** @param {ToolError} error */
const refusesData = ({code, message}) => code === 'INVALID_PARAMETER' && message.includes("no parameter 'full'");

function toolError(text) {
  try {
    const {code, message, details} = JSON.parse(text).error;
    return new ToolError(code, message, details);
  } catch {
    return new ToolError('FAILED', text);
  }
}
