// A webhook receiver in the test's own process, on a free port. It refuses webhooks without a valid signature.
//
// Invariant: `next` returns each event once. The error of a wait without success lists the events that arrived instead.

'use strict';

const { once } = require('node:events');
const http = require('node:http');
const { idOf } = require('./client.js');
const { SandboxError } = require('./error.js');
const { aboutOf, typeOf } = require('./event.js');
const { verifySignature } = require('./signature.js');
const { clearTimeout, setTimeout } = require('./timers.js');

const BODY_BYTES_MAX = 1024 * 1024;

/** @typedef {import('./api').Event | import('./api').LegacyEvent} Event */
/** @typedef {import('./api').EventType} EventType */
/** @typedef {(event: Event) => boolean} Fits */

/** @template {import('./api').Format} [Of='event'] */
class Receiver {
  #server;
  #secrets;
  /** @type {Event[]} received but not returned yet */
  #waiting = [];
  /** @type {{fits: Fits, take: (event: Event) => void}[]} */
  #takers = [];
  /** @type {{status: number, times: number}} */
  #answer = { status: 200, times: 0 };

  /** @param {string[]} secrets accepted signing secrets */
  constructor(secrets) {
    this.#secrets = secrets;
    /** The URL that receives webhooks. */
    this.url = '';
    /**
     * Every webhook with a valid signature, in the order of arrival.
     * @type {import('./api').Webhook<Of>[]}
     */
    this.received = [];
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
   * Returns the next event: the first one received and not returned yet. Waits for it if necessary.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only events of this type
   * @param {import('./api').WaitOptions} [options]
   * @returns {Promise<import('./api').WebhookBody<Of, Type>>}
   * @throws {SandboxError} if none arrives
   */
  async next(type, { timeoutMs = 10_000, about } = {}) {
    const id = about === undefined ? undefined : idOf(about);
    /** @type {Fits} */
    const fits = (event) => (type === undefined || typeOf(event) === type) && (id === undefined || aboutOf(event) === id);
    const at = this.#waiting.findIndex(fits);
    const event = at >= 0 ? this.#waiting.splice(at, 1)[0] : await this.#comes(fits, timeoutMs, type ?? 'event');
    return /** @type {import('./api').WebhookBody<Of, Type>} */ (/** @type {unknown} */ (event));
  }

  /**
   * Sets the status of the next responses. A webhook whose status is not 2xx is sent again when the clock is moved.
   * `received` also contains these webhooks, but `next` does not return them.
   *
   * @param {number} status
   * @param {number} [times] number of responses; default 1
   */
  respond(status, times = 1) {
    this.#answer = { status, times };
  }

  /** Stops it. Further connections are refused. */
  async close() {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /**
   * @param {Fits} fits
   * @param {number} timeoutMs
   * @param {string} what
   * @returns {Promise<Event>}
   */
  #comes(fits, timeoutMs, what) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#takers = this.#takers.filter((each) => each !== taker);
        const came = this.received.map(({ event }) => typeOf(event)).join(', ') || 'nothing';
        const refused = this.refused.map(({ reason }) => reason).join('; ');
        reject(new SandboxError(`No ${what} came within ${timeoutMs} ms. What came so far: ${came}.`
          + (refused === '' ? '' : ` Refused were: ${refused}.`)));
      }, timeoutMs);
      const taker = {
        fits,
        /** @param {Event} event */
        take: (event) => {
          clearTimeout(late);
          resolve(event);
        },
      };
      this.#takers.push(taker);
    });
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
    const event = eventOf(body);
    const header = headers['x-service-signature'];
    // The age is not checked: a test may have stopped the clock for the comparison.
    const signed = this.#secrets.some((secret) => verifySignature(raw, header, secret, { toleranceSeconds: Infinity }));
    if (request.method !== 'POST' || !signed || event === undefined) {
      const reason = signed ? 'a request that is no event' : 'a signature that does not fit';
      this.refused.push({ reason, headers, body });
      return 400;
    }
    this.received.push(/** @type {import('./api').Webhook<Of>} */ ({ event, headers, body }));
    const status = this.#answer.times > 0 ? this.#answer.status : 200;
    this.#answer.times -= 1;
    if (status >= 200 && status <= 299) this.#hand(event);
    return status;
  }

  /** @param {Event} event */
  #hand(event) {
    const at = this.#takers.findIndex(({ fits }) => fits(event));
    if (at >= 0) this.#takers.splice(at, 1)[0].take(event);
    else this.#waiting.push(event);
  }
}

/** @param {string} body @returns {Event | undefined} */
function eventOf(body) {
  try {
    const event = JSON.parse(body);
    return typeof typeOf(event) === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}

module.exports = { Receiver };
