// The connection, which reconnects by itself: backoff, liveness, and the reason when it fails.

import {McpClient} from './mcp.js';

const FIRST_DELAY = 0.5;
const LONGEST_DELAY = 10;

// A silent server is said to be so within 10 s: together these are less.
const PING_SECONDS = 4;
const PONG_SECONDS = 5;

/** A timer that comes so much later than it should: the page, or its machine, stood still. */
const LATE_SECONDS = 1;

/** For a handshake; to a machine that is asleep it would never end. */
const OPENING_SECONDS = 10;

const NO_ANSWER = 'it does not answer';

const NOT_OPENED = `it has not answered the page within ${OPENING_SECONDS} s: it is busy or asleep, or what stands before it keeps the page out`;

export class Link {
  #token;
  #delay = FIRST_DELAY;
  /** @type {number | null} */
  #retryTimer = null;
  /** @type {number | undefined} */
  #pingTimer;
  /** @type {McpClient | null} */
  #client = null;
  #attempt = 0;
  #isSilent = false;

  /**
   * `onStatus({status, detail, retryAt, silentSince})`: status is connecting, open, lost, refused or no-token; an open
   * connection on which no answer comes is silent since then.
   * `onOpen(client, server)`: after each handshake. `onNotification(method, params)`.
   */
  constructor({token, onStatus, onOpen, onNotification}) {
    this.#token = token;
    this.onStatus = onStatus;
    this.onOpen = onOpen;
    this.onNotification = onNotification;
    const soon = () => document.visibilityState === 'visible' && this.retryNow();
    document.addEventListener('visibilitychange', soon);
    window.addEventListener('online', soon);
  }

  start() {
    if (!this.#token) {
      this.onStatus({status: 'no-token'});
      return;
    }
    this.onStatus({status: 'connecting'});
    this.#connect();
  }

  /** Connect again with another token. */
  restart(token) {
    this.#token = token;
    this.#attempt += 1; // whatever the old connection still reports is not about this one
    clearTimeout(this.#retryTimer ?? undefined);
    clearInterval(this.#pingTimer);
    this.#isSilent = false;
    this.#client?.close();
    this.#client = null;
    this.#retryTimer = null;
    this.start();
  }

  /** Reconnect now instead of waiting for the next attempt: the user has returned to the page. */
  retryNow() {
    if (this.#retryTimer === null) return;
    clearTimeout(this.#retryTimer ?? undefined);
    this.#connect();
  }

  #connect() {
    this.#retryTimer = null;
    const attempt = ++this.#attempt;
    let socket;
    try {
      socket = new WebSocket(socketUrl(), ['mcp', `bearer.${this.#token}`]);
    } catch {
      this.onStatus({status: 'refused', detail: 'This token has characters that no token has.'});
      return;
    }
    const client = new McpClient(socket, {
      onHeard: () => attempt === this.#attempt && this.#heard(),
      onNotification: (method, params) => attempt === this.#attempt && this.onNotification(method, params),
      onClose: (event) => attempt === this.#attempt && this.#closed(event),
    });
    socket.addEventListener('open', () => this.#opened(client, attempt));
    setTimeout(() => socket.readyState === WebSocket.CONNECTING && client.abandon(NOT_OPENED), OPENING_SECONDS * 1000);
  }

  async #opened(client, attempt) {
    try {
      const server = await client.initialize();
      if (attempt !== this.#attempt) return;
      this.#client = client;
      this.#delay = FIRST_DELAY;
      this.#pingTimer = setInterval(() => this.#ping(client), PING_SECONDS * 1000);
      this.onStatus({status: 'open'});
      this.onOpen(client, server);
    } catch {
      client.abandon(NOT_OPENED); // and #closed tries again
    }
  }

  async #ping(client) {
    if (client.pinging) return;
    client.pinging = true;
    try {
      if (!(await isThere(client)) && client === this.#client) await this.#silent(client);
    } finally {
      client.pinging = false;
    }
  }

  /**
   * Say that no answer comes; what is shown stays. The server may be starved or asleep, and answer later. If it answers
   * others, the connection is dead: after a laptop's sleep, or through a dead tunnel, it looks open for minutes. It is given
   * up without a closing handshake, which would wait for the same dead peer.
   */
  async #silent(client) {
    this.#isSilent = true;
    this.onStatus({status: 'open', silentSince: client.heardAt});
    const status = await httpStatus(this.#token);
    const answersOthers = status !== null && status < 500; // more is said by what stands before a server
    if (answersOthers && !(await isThere(client))) client.abandon(NO_ANSWER);
  }

  #heard() {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.onStatus({status: 'open'});
  }

  async #closed(event) {
    clearInterval(this.#pingTimer);
    this.#isSilent = false;
    const handshakeFailed = this.#client === null;
    this.#client = null;
    const delay = this.#delay * (0.8 + 0.4 * Math.random());
    this.#delay = Math.min(this.#delay * 2, LONGEST_DELAY);
    const attempt = this.#attempt;
    this.#retryTimer = setTimeout(() => this.#connect(), delay * 1000);
    const retryAt = Date.now() + delay * 1000;
    this.onStatus({status: 'lost', detail: event.reason, retryAt});
    // A browser does not report why a WebSocket was refused; the server does, when it is asked with the same token.
    if (handshakeFailed && (await isRefused(this.#token)) && attempt === this.#attempt) {
      clearTimeout(this.#retryTimer ?? undefined);
      this.#retryTimer = null; // it would be refused again: a person has to give another one
      this.onStatus({status: 'refused', detail: event.reason});
    }
  }
}

function socketUrl() {
  const url = new URL('mcp', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  return url.href;
}

/**
 * Whether a server is there. The answer may be behind a long one that is still on its way: then other messages have come. A
 * page that stood still has not heard yet what has come meanwhile.
 */
async function isThere(client) {
  const {heard} = client;
  const asked = Date.now();
  try {
    await client.request('ping', {}, PONG_SECONDS);
    return true;
  } catch {
    const stoodStill = Date.now() - asked > (PONG_SECONDS + LATE_SECONDS) * 1000;
    return stoodStill || client.heard !== heard;
  }
}

/** Whether the server refuses this token: not if it is full, or behind something that fails. @param {string} token */
async function isRefused(token) {
  const status = await httpStatus(token);
  return status === 401 || status === 403;
}

/** What the server says to a request by itself; null if it does not answer. @param {string} token */
async function httpStatus(token) {
  try {
    const headers = {Authorization: `Bearer ${token}`};
    return (await fetch('mcp', {headers, cache: 'no-store', signal: AbortSignal.timeout(3000)})).status;
  } catch {
    return null;
  }
}
