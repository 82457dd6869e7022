// A webhook receiver inside the sandbox: a test needs no server, and received webhooks stay readable.

'use strict';

const { SignatureError, verify, withDefaults } = require('./client.js');
const { SandboxError } = require('./error.js');
const { matcher, typesOf } = require('./event.js');
const { elapsed, pause } = require('./timers.js');

/** Maximum wait of one request, in seconds. The control accepts whole seconds. */
const ASK_SECONDS_MAX = 30;
/** Pause between reads if the control cannot wait: for one of several, or for less than a second. */
const PAUSE_MS = 50;

/** @typedef {import('./api').EventType} EventType */

/** @template {import('./api').Format} [Of='event'] */
class Inbox {
  #client;
  #secrets;
  #name;
  /** @type {Set<string>} those that `next` has returned */
  #returned = new Set();

  /**
   * @param {import('./sandbox').Sandbox} client
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
   * Returns the next webhook: the first one received and not returned yet. Waits for it if necessary.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only webhooks of this type
   * @param {import('./api').WaitOptions} [given]
   * @returns {Promise<import('./api').Webhook<Of, Type>>}
   * @throws {SandboxError} if none arrives, or a signature is wrong
   */
  async next(type, given = {}) {
    const { timeout, about } = withDefaults({ timeout: 10, about: undefined }, given, 'next');
    const until = elapsed() + timeout * 1000;
    const fits = matcher(type, about);
    for (;;) {
      const received = await this.#read(type);
      const found = received.find((webhook) => fits(webhook) && !this.#returned.has(idOf(webhook)));
      if (found !== undefined) {
        this.#returned.add(idOf(found));
        return found;
      }
      const leftMs = until - elapsed();
      if (!(leftMs > 0)) break;
      const seconds = Math.min(Math.floor(leftMs / 1000), ASK_SECONDS_MAX);
      // The control waits for the first webhook of the type, whether it was returned or not.
      if (received.length === 0 && seconds > 0) await this.#read(type, `${seconds}s`);
      else await pause(Math.min(leftMs, PAUSE_MS));
    }
    const came = typesOf(await this.list());
    throw new SandboxError(`The inbox ${this.#name} got no ${type ?? 'webhook'} within ${timeout} s; it got: ${came}.`);
  }

  /**
   * Returns the received webhooks, oldest first.
   *
   * @template {EventType} [Type=EventType]
   * @param {Type} [type] only webhooks of this type
   * @returns {Promise<import('./api').Webhook<Of, Type>[]>}
   * @throws {SandboxError} if a signature is wrong
   */
  async list(type) {
    return this.#read(type);
  }

  /**
   * Sets the response from now on. Without fields it is 200 again.
   *
   * @param {import('./api').Behaviour} [behaviour]
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
   * @param {string} [wait] for the first webhook of the type
   * @returns {Promise<any[]>}
   */
  async #read(type, wait) {
    const { data } = await this.#client.request('GET', '/sandbox/inbox/{name}', {
      params: { name: this.#name }, query: { ...(type && { type }), ...(wait && { wait }) },
    });
    return data.map((entry) => {
      try {
        // The age is not checked: the clock may have been moved since a webhook arrived.
        return { ...entry, event: verify(entry.body, entry.headers, this.#secrets, { tolerance: Infinity }) };
      } catch (cause) {
        if (!(cause instanceof SignatureError)) throw cause;
        const message = `The inbox ${this.#name} got a webhook whose signature does not fit: ${entry.body}`;
        throw new SandboxError(message, '', { cause });
      }
    });
  }
}

/** @param {{headers: Record<string, string>, receivedAt: string}} entry @returns {string} what it is told apart by */
function idOf({ headers, receivedAt }) {
  return `${headers['webhook-id']} ${receivedAt}`;
}

module.exports = { Inbox };
