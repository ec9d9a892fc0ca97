// The host of the card: JSON-RPC by messages between this frame and the one around it, as MCP Apps (SEP-1865) has it.

const PROTOCOL_VERSION = '2026-01-26';
const REQUEST_SECONDS = 60;

/** The host or the server refused a request. */
class Refused extends Error {}

export class Host {
  #nextId = 1;
  #pending = new Map();
  #listeners = new Map();

  /** @param {Window} frame the frame of the host */
  constructor(frame) {
    this.frame = frame;
    /** What the host can do, and how it looks; from the handshake on. */
    this.capabilities = /** @type {Record<string, any>} */ ({});
    addEventListener('message', (event) => {
      // Any frame can send messages here; only those of the host count.
      if (event.source === frame && event.data?.jsonrpc === '2.0') this.#receive(event.data);
    });
  }

  /**
   * Call `listener(params)` for each notification of a method.
   *
   * @param {string} method
   * @param {(params: any) => void} listener
   */
  on(method, listener) {
    this.#listeners.set(method, listener);
  }

  /** Perform the handshake, and return how the host looks. */
  async connect() {
    const answer = await this.request('ui/initialize', {
      protocolVersion: PROTOCOL_VERSION,
      appInfo: {name: 'trio-debugmcp-stop', title: 'A stop of the program', version: '1'},
      appCapabilities: {availableDisplayModes: ['inline']},
    });
    this.capabilities = answer.hostCapabilities ?? {};
    this.notify('ui/notifications/initialized');
    return answer.hostContext ?? {};
  }

  /** Whether the host passes tool calls of the card on to the server. */
  get callsTools() {
    return this.capabilities.serverTools !== undefined;
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  request(method, params = {}) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new Refused(`The chat did not answer within ${REQUEST_SECONDS} s.`));
      }, REQUEST_SECONDS * 1000);
      this.#pending.set(id, {resolve, reject, timer});
      this.#send({id, method, params});
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  notify(method, params = {}) {
    this.#send({method, params});
  }

  #send(message) {
    // The origin of the host is not known; what is sent is what the host itself passes on.
    this.frame.postMessage({jsonrpc: '2.0', ...message}, '*');
  }

  #receive({id, method, params, result, error}) {
    if (method !== undefined) {
      if (id === undefined) this.#listeners.get(method)?.(params ?? {});
      else if (method === 'ui/resource-teardown' || method === 'ping') this.#send({id, result: {}});
      else this.#send({id, error: {code: -32601, message: `No method ${method}`}});
      return;
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error) pending.reject(new Refused(error.message));
    else pending.resolve(result);
  }
}
