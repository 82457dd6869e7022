// A webhook receiver inside the sandbox: a test needs no server of its own, and what came stays there to be read.

'use strict';

const { idOf } = require('./client.js');
const { SandboxError } = require('./error.js');
const { verifySignature } = require('./signature.js');

/** @typedef {import('./api').EventType} EventType */
/** @typedef {import('./api').InboxEntry} InboxEntry */

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
   * @returns {Promise<import('./api').InboxMessage<Type>[]>}
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
   * @returns {Promise<import('./api').InboxMessage<Type>>}
   * @throws {SandboxError} where none comes, or a signature does not fit
   */
  async wait(type, { timeoutMs = 10_000, about } = {}) {
    const until = performance.now() + timeoutMs;
    const id = about === undefined ? undefined : idOf(about);
    /** @type {number} */
    let seconds;
    do {
      // The control waits for the first of the type; where that is of another object, what comes next is asked for.
      const fits = (await this.#read(type, undefined))
        .find(({ event }) => id === undefined || /** @type {{id: string}} */ (event.data.object).id === id);
      if (fits) return fits;
      seconds = Math.ceil((until - performance.now()) / 1000);
      if (id === undefined && seconds > 0) await this.#read(type, `${seconds}s`);
    } while (seconds > 0);
    const came = (await this.list()).map(({ event }) => event.type).join(', ');
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
