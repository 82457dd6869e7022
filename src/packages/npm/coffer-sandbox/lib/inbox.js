// A webhook receiver inside the sandbox: a test needs no server of its own, and what came stays there to be read.

'use strict';

const { idOf } = require('./client.js');
const { SandboxError } = require('./error.js');
const { aboutOf, typeOf } = require('./event.js');
const { verifySignature } = require('./signature.js');
const { elapsed, pause } = require('./timers.js');

/** How long the control is asked to wait at once; it takes whole seconds. */
const ASK_SECONDS_MAX = 30;
/** The pause between reads where the control cannot wait: for what is about one object, or for less than a second. */
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
    /** Where it takes webhooks. */
    this.url = url;
  }

  /**
   * What came, oldest first.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only events of this type
   * @returns {Promise<import('./api').InboxMessage<Type, Of>[]>}
   * @throws {SandboxError} where a signature does not fit
   */
  async list(type) {
    return this.#read(type, undefined);
  }

  /**
   * The first that came of this type, or will come within the time. The same each time it is asked for.
   *
   * @template {EventType} Type
   * @param {Type} type
   * @param {import('./api').WaitOptions} [options]
   * @returns {Promise<import('./api').InboxMessage<Type, Of>>}
   * @throws {SandboxError} where none comes, or a signature does not fit
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
      // The control waits for the first of the type, of whatever object.
      if (id === undefined && seconds > 0) await this.#read(type, `${seconds}s`);
      else await pause(Math.min(leftMs, PAUSE_MS));
    }
    const came = (await this.list()).map(({ event }) => typeOf(event)).join(', ');
    throw new SandboxError(`The inbox ${this.#name} got no ${type} within ${timeoutMs} ms; it got: ${came || 'nothing'}.`);
  }

  /**
   * What it answers from now on; without fields 200 again.
   *
   * @param {import('./api').InboxBehaviour} [behaviour]
   */
  async respond(behaviour = {}) {
    await this.#client.request('PUT', '/sandbox/inbox/{name}', { params: { name: this.#name }, body: behaviour });
  }

  /** Empties it; it answers 200 again. */
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
      // The time of one that came long ago, by a clock that was moved, is not of interest.
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
