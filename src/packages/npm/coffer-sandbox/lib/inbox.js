// A webhook receiver inside the sandbox: a test needs no server, and received webhooks stay readable.

'use strict';

const { idOf } = require('./client.js');
const { SandboxError } = require('./error.js');
const { aboutOf, typeOf } = require('./event.js');
const { verifySignature } = require('./signature.js');
const { elapsed, pause } = require('./timers.js');

/** Maximum wait of one request, in seconds. The control accepts whole seconds. */
const ASK_SECONDS_MAX = 30;
/** Pause between reads if the control cannot wait: for events of one object, or for less than a second. */
const PAUSE_MS = 50;

/** @typedef {import('./api').EventType} EventType */
/** @typedef {import('./api').InboxEntry} InboxEntry */

/** @template {import('./api').Format} [Of='event'] */
class Inbox {
  #client;
  #secrets;
  #name;

  /**
   * @param {import('./client').Client} client
   * @param {string} name
   * @param {string} url
   * @param {string[]} secrets
   */
  constructor(client, name, url, secrets) {
    this.#client = client;
    this.#secrets = secrets;
    this.#name = name;
    /** The URL that receives webhooks. */
    this.url = url;
  }

  /**
   * Returns the received webhooks, oldest first.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only events of this type
   * @returns {Promise<import('./api').InboxMessage<Type, Of>[]>}
   * @throws {SandboxError} if a signature is wrong
   */
  async list(type) {
    return this.#read(type, undefined);
  }

  /**
   * Returns the first webhook of this type, and waits for it if necessary. Repeated calls return the same webhook.
   *
   * @template {EventType} Type
   * @param {Type} type
   * @param {import('./api').WaitOptions} [options]
   * @returns {Promise<import('./api').InboxMessage<Type, Of>>}
   * @throws {SandboxError} if none arrives, or a signature is wrong
   */
  async wait(type, { timeoutMs = 10_000, about } = {}) {
    const until = elapsed() + timeoutMs;
    const id = about === undefined ? undefined : idOf(about);
    for (;;) {
      const fits = (await this.#read(type, undefined)).find(({ event }) => id === undefined || aboutOf(event) === id);
      if (fits) return fits;
      const leftMs = until - elapsed();
      if (!(leftMs > 0)) break;
      const seconds = Math.min(Math.floor(leftMs / 1000), ASK_SECONDS_MAX);
      // The control waits for the first webhook of the type, for any object.
      if (id === undefined && seconds > 0) await this.#read(type, `${seconds}s`);
      else await pause(Math.min(leftMs, PAUSE_MS));
    }
    const came = (await this.list()).map(({ event }) => typeOf(event)).join(', ');
    throw new SandboxError(`The inbox ${this.#name} got no ${type} within ${timeoutMs} ms; it got: ${came || 'nothing'}.`);
  }

  /**
   * Sets the response from now on. Without fields it is 200 again.
   *
   * @param {import('./api').InboxBehaviour} [behaviour]
   */
  async respond(behaviour = {}) {
    await this.#client.request('PUT', '/sandbox/inbox/{name}', { params: { name: this.#name }, body: behaviour });
  }

  /** Empties the inbox. Its response is 200 again. */
  async clear() {
    await this.#client.request('DELETE', '/sandbox/inbox/{name}', { params: { name: this.#name } });
  }

  /**
   * @param {EventType | undefined} type
   * @param {string | undefined} wait
   * @returns {Promise<any[]>}
   */
  async #read(type, wait) {
    const { data } = await this.#client.request('GET', '/sandbox/inbox/{name}', {
      params: { name: this.#name }, query: { type, wait },
    });
    return data.map((/** @type {InboxEntry} */ entry) => {
      const header = entry.headers['x-service-signature'];
      // The age is not checked: the clock may have been moved since a webhook arrived.
      const fits = (/** @type {string} */ secret) => (
        verifySignature(entry.body, header, secret, { toleranceSeconds: Infinity }));
      if (!this.#secrets.some(fits)) {
        throw new SandboxError(`The inbox ${this.#name} got a webhook whose signature does not fit: ${entry.body}`);
      }
      return { ...entry, event: JSON.parse(entry.body) };
    });
  }
}

module.exports = { Inbox };
