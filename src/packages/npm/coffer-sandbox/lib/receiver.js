// A webhook receiver in the test's own process, on a free port. It refuses webhooks without a valid signature.
//
// Invariant: `next` returns each webhook once. The error of a wait without success lists the webhooks that arrived
// instead.

'use strict';

const { once } = require('node:events');
const http = require('node:http');
const { verify, withDefaults } = require('./client.js');
const { SandboxError } = require('./error.js');
const { matcher, typeOf, typesOf } = require('./event.js');
const { clearTimeout, pause, setTimeout } = require('./timers.js');

const BODY_BYTES_MAX = 1024 * 1024;
/** Longest time of a timer, some 24 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @typedef {import('./api').EventType} EventType */

/** @template {import('./api').Format} [Of='event'] */
class Receiver {
  #server;
  #secrets;
  #handler;
  /** @type {import('./api').Webhook<Of>[]} all of them, oldest first */
  #received = [];
  /** @type {Set<import('./api').Webhook<Of>>} not returned by `next` yet */
  #waiting = new Set();
  /** @type {Set<() => void>} called when a webhook has arrived */
  #wakes = new Set();
  /** @type {unknown[]} errors of the handler that were not thrown yet */
  #failures = [];
  /** @type {import('./api').Behaviour} */
  #behaviour = {};

  /**
   * @param {string[]} secrets accepted signing secrets
   * @param {(webhook: import('./api').Webhook<Of>) => unknown} [handler]
   */
  constructor(secrets, handler = () => {}) {
    this.#secrets = secrets;
    this.#handler = handler;
    /** The URL that receives webhooks. */
    this.url = '';
    /**
     * Every refused webhook, with the reason.
     * @type {import('./api').RefusedWebhook[]}
     */
    this.refused = [];
    this.#server = http.createServer((request, response) => {
      this.#take(request).then((status) => response.writeHead(status, { Connection: 'close' }).end(), () => {
        response.destroy();
      });
    });
  }

  /** Starts to listen. */
  async listen() {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    // The server does not keep an idle process running.
    this.#server.unref();
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    this.url = `http://127.0.0.1:${port}/`;
    return this;
  }

  /**
   * Returns the next webhook: the first one received and not returned yet. Waits for it if necessary.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only webhooks of this type
   * @param {import('./api').WaitOptions} [given]
   * @returns {Promise<import('./api').Webhook<Of, Type>>}
   * @throws {SandboxError} if none arrives
   */
  async next(type, given = {}) {
    const { timeout, about } = withDefaults({ timeout: 10, about: undefined }, given, 'next');
    const fits = matcher(type, about);
    let isLate = false;
    /** @type {() => void} */
    let wake = () => {};
    const late = setTimeout(() => { isLate = true; wake(); }, Math.min(timeout * 1000, TIMER_MS_MAX));
    try {
      for (;;) {
        if (this.#failures.length > 0) throw this.#failures.shift();
        const found = [...this.#waiting].find(fits);
        if (found !== undefined) {
          this.#waiting.delete(found);
          return /** @type {import('./api').Webhook<Of, Type>} */ (/** @type {unknown} */ (found));
        }
        if (isLate) break;
        await new Promise((resolve) => {
          wake = () => resolve(undefined);
          this.#wakes.add(wake);
        });
        this.#wakes.delete(wake);
      }
    } finally {
      clearTimeout(late);
    }
    const refused = this.refused.map(({ reason }) => reason).join('; ');
    throw new SandboxError(`No ${type ?? 'webhook'} came within ${timeout} s. What came so far: `
      + `${typesOf(this.#received)}.${refused === '' ? '' : ` Refused were: ${refused}.`}`);
  }

  /**
   * Returns the received webhooks with a valid signature, oldest first.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only webhooks of this type
   * @returns {Promise<import('./api').Webhook<Of, Type>[]>}
   */
  async list(type) {
    const found = this.#received.filter(matcher(type, undefined));
    return /** @type {import('./api').Webhook<Of, Type>[]} */ (/** @type {unknown} */ (found));
  }

  /**
   * Sets the response from now on. Without fields it is 200 again. A webhook whose status is not 2xx is sent again when
   * the clock is moved, and the handler does not get it.
   *
   * @param {import('./api').Behaviour} [behaviour]
   */
  async respond(behaviour = {}) {
    const defaults = { status: undefined, delayMs: undefined, times: undefined };
    this.#behaviour = withDefaults(defaults, behaviour, 'respond');
  }

  /** Forgets what was received. Its response is 200 again. */
  async clear() {
    this.#received = [];
    this.#waiting.clear();
    this.#failures = [];
    this.#behaviour = {};
    this.refused.length = 0;
  }

  /** Stops it. Further connections are refused. */
  async close() {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** @param {http.IncomingMessage} request @returns {Promise<number>} the status of the response */
  async #take(request) {
    /** @type {Buffer[]} */
    const parts = [];
    let bytes = 0;
    for await (const part of request) {
      bytes += part.length;
      if (bytes > BODY_BYTES_MAX) return 413;
      parts.push(part);
    }
    const raw = Buffer.concat(parts);
    const { headers } = request;
    const body = raw.toString('utf8');
    let event;
    try {
      // The age is not checked: a test may have stopped the clock for the comparison.
      event = verify(raw, headers, this.#secrets, { tolerance: Infinity });
    } catch (error) {
      this.refused.push({ reason: /** @type {Error} */ (error).message, headers, body });
      return 400;
    }
    if (request.method !== 'POST' || typeof typeOf(event) !== 'string') {
      this.refused.push({ reason: 'a request that is no event', headers, body });
      return 400;
    }
    return this.#hand(/** @type {import('./api').Webhook<Of>} */ (/** @type {unknown} */ ({ event, headers, body })));
  }

  /** @param {import('./api').Webhook<Of>} webhook @returns {Promise<number>} the status of the response */
  async #hand(webhook) {
    const { status, delayMs, times } = this.#behaviour;
    if (typeof times === 'number') this.#behaviour = times > 1 ? { ...this.#behaviour, times: times - 1 } : {};
    if (delayMs) await pause(delayMs);
    let answer = status ?? 200;
    if (answer < 300) {
      try {
        await this.#handler(webhook);
      } catch (error) {
        this.#failures.push(error);
        answer = 500;
      }
    }
    this.#received.push(webhook);
    this.#waiting.add(webhook);
    for (const wake of this.#wakes) wake();
    return answer;
  }
}

module.exports = { Receiver };
