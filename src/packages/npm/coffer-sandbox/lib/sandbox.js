// A running sandbox for tests: a client of it, and its controls.

'use strict';

const { randomUUID } = require('node:crypto');
const { Client, NoAnswerError, withDefaults } = require('./client.js');
const { Clock } = require('./clock.js');
const { SandboxError } = require('./error.js');
const { idOf } = require('./event.js');
const { Faults } = require('./faults.js');
const { Inbox } = require('./inbox.js');
const { PAY, Payments } = require('./payments.js');
const { start } = require('./process.js');
const { Receiver } = require('./receiver.js');
const { atEnd } = require('./test.js');
const { elapsed, pause, within } = require('./timers.js');

/** Longest time to read the end of a log, in milliseconds. */
const LOG_READ_MS_MAX = 500;
/** Options of a start, and those of a receiver besides its secret. */
const START = Object.freeze({
  binary: undefined, args: undefined, env: undefined, log: undefined, onLog: undefined, timeout: undefined, test: undefined,
});
const ENDPOINT = Object.freeze({ endpoint: true, format: undefined, types: undefined, mode: undefined });

/** @typedef {import('./api').Delivery} Delivery */
/** @typedef {import('./api').Endpoint} Endpoint */
/** @typedef {import('./api').Id} Id */
/** @typedef {import('./api').Invoice} Invoice */
/** @typedef {import('./api').TransferAction} TransferAction */

/**
 * A client of a sandbox. `request` calls also the sandbox's controls. It tries once: a fault is for the call that a test
 * means, and a crash is reported at once.
 *
 * @extends {Client<import('./api').AllPaths>}
 */
class SandboxClient extends Client {
  #process;

  /** @param {import('./process').Process} process @param {string} listen @param {string} key */
  constructor(process, listen, key) {
    super(`http://${listen}`, key, { timeout: 60, attempts: 1 });
    this.#process = process;
  }

  /**
   * @protected
   * @param {string} method
   * @param {string} path
   * @param {import('coffer-client/api').Sent} [options]
   * @returns {Promise<any>}
   */
  async send(method, path, options) {
    try {
      return await super.send(method, path, options);
    } catch (cause) {
      if (!(cause instanceof NoAnswerError)) throw cause;
      // The sandbox's own exit may have closed the connection. That exit is reported a moment later.
      await within(this.#process.ended, 200, () => new Error()).catch(() => {});
      const { end, log } = this.#process;
      if (end === undefined) throw cause;
      throw new SandboxError(`${method} ${path}: no answer: the sandbox has ended (${end})`, log, { cause });
    }
  }
}

/** A running sandbox. Its calls have the secret key of test mode, and those of `live` that of live mode. */
class Sandbox extends SandboxClient {
  #process;
  #ready;
  /** @type {{close(): Promise<void>}[]} */
  #receivers = [];
  /** @type {Promise<unknown>} pending changes of the endpoint list, one after the other */
  #endpoints = Promise.resolve();

  /**
   * @param {import('./process').Process} process
   * @param {import('./api').Ready} ready
   */
  constructor(process, ready) {
    super(process, ready.listen, ready.keys.secretTest);
    this.#process = process;
    this.#ready = ready;
    /** The base URL, without `/v1`. */
    this.url = ready.url;
    /** The keys of both modes. */
    this.keys = ready.keys;
    /** The secret of the account's endpoints. */
    this.webhookSecret = ready.webhookSecret;
    /** The secret of webhooks to an invoice's own `webhookUrl`. */
    this.legacySecret = ready.legacySecret;
    /** The client of live mode, whose money is not real either. */
    this.live = new SandboxClient(process, ready.listen, ready.keys.secretLive);
    this.clock = new Clock(this);
    this.payments = new Payments(this);
    this.faults = new Faults(this);
  }

  /** The process id. */
  get pid() {
    return this.#process.pid;
  }

  /** The log, or the end of a long log. */
  get log() {
    return this.#process.log;
  }

  /**
   * Pays an invoice and confirms the payment.
   *
   * @param {Id} invoice of either mode
   * @param {import('./api').PayOptions & {case?: import('./api').PayCase}} [given] `case`: default `exact`
   * @returns {Promise<Invoice>} the updated invoice
   */
  async pay(invoice, given = {}) {
    const defaults = { case: /** @type {const} */ ('exact'), ...PAY };
    const { case: of, ...options } = withDefaults(defaults, given, 'pay');
    if (!['exact', 'under', 'over', 'late'].includes(of)) {
      throw new TypeError(`case must be "exact", "under", "over" or "late", not ${JSON.stringify(of)}`);
    }
    await this.payments[of](invoice, options);
    return this.payments.invoice(invoice);
  }

  /**
   * Requests a refund of an invoice of either mode.
   *
   * @param {Id} invoice
   * @param {import('./api').RequestRefund} [refund] without `amount`: everything not refunded yet
   * @returns {Promise<import('./api').Refund>}
   */
  async refund(invoice, refund = {}) {
    return this.request('POST', '/sandbox/refunds', { body: { ...refund, invoice: idOf(invoice) } });
  }

  /**
   * Performs a step of a refund: `approve`, then `process`, then `pay` or `fail`; or `reject`, or `cancel`.
   *
   * @param {Id} refund
   * @param {TransferAction} action
   * @param {{txid?: string, reason?: string}} [options]
   * @returns {Promise<import('./api').Refund>} the updated refund
   */
  async moveRefund(refund, action, options = {}) {
    return this.request('POST', '/sandbox/refunds/{id}', { params: { id: refund }, body: { ...options, action } });
  }

  /**
   * Performs a step of a payout, as for a refund. `live.createPayout` requests one.
   *
   * @param {Id} payout
   * @param {TransferAction} action
   * @param {{txid?: string, reason?: string}} [options]
   * @returns {Promise<import('./api').Payout>} the updated payout
   */
  async movePayout(payout, action, options = {}) {
    return this.request('POST', '/sandbox/payouts/{id}', { params: { id: payout }, body: { ...options, action } });
  }

  /**
   * Creates a webhook receiver inside the sandbox and adds it to the account's endpoints.
   *
   * @template {import('./api').Format} [Of='event']
   * @param {string} [name]
   * @param {import('./api').InboxOptions<Of>} [given]
   * @returns {Promise<Inbox<Of>>}
   */
  async inbox(name = 'inbox', given = {}) {
    const defaults = { ...ENDPOINT, secret: this.webhookSecret };
    const { endpoint, format, types, mode, secret } = withDefaults(defaults, given, 'inbox');
    const url = `http://${this.#ready.listen}/sandbox/inbox/${encodeURIComponent(name)}`;
    if (endpoint) await this.#addEndpoint({ url, secret, format, types, mode });
    return new Inbox(this, name, url, [secret, this.legacySecret]);
  }

  /**
   * Creates a webhook receiver in this process and adds it to the account's endpoints. It stops with the sandbox.
   *
   * @template {import('./api').Format} [Of='event']
   * @param {import('./api').ReceiverOptions<Of>} [given]
   * @returns {Promise<Receiver<Of>>}
   */
  async receiver(given = {}) {
    const defaults = { ...ENDPOINT, secret: this.webhookSecret, handler: undefined };
    const { endpoint, format, types, mode, secret, handler } = withDefaults(defaults, given, 'receiver');
    /** @type {Receiver<Of>} */
    const receiver = new Receiver([secret, this.legacySecret], handler);
    await receiver.listen();
    this.#receivers.push(receiver);
    if (endpoint) await this.#addEndpoint({ url: receiver.url, secret, format, types, mode });
    return receiver;
  }

  /**
   * Waits until every due webhook was sent, and answered or postponed to a retry. A shop's work before it responds to a
   * webhook is then done.
   *
   * @param {import('./api').DeliveredOptions} [given]
   * @returns {Promise<Delivery[]>} those whose newest attempt has failed, in the order of their events, of any age
   * @throws {SandboxError} with `check`, if there are some; the message names each
   */
  async delivered(given = {}) {
    const { check } = withDefaults({ check: false }, given, 'delivered');
    await this.clock.advance('0s');
    /** @type {Delivery[]} */
    const failed = [];
    /** @type {string | undefined} */
    let before;
    do {
      const page = await this.request('GET', '/sandbox/webhooks', { query: before === undefined ? {} : { before } });
      failed.unshift(...page.data.filter(hasFailed));
      before = page.hasMore ? page.nextBefore ?? undefined : undefined;
    } while (before !== undefined);
    if (check && failed.length > 0) {
      const count = `${failed.length} webhook${failed.length > 1 ? 's' : ''}`;
      throw new SandboxError([`${count} failed:`, ...failed.map(describeFailure)].join('\n'));
    }
    return failed;
  }

  /** Returns the newest 500 webhooks, sent or scheduled, with their attempts. */
  async deliveries() {
    const { data } = await this.request('GET', '/sandbox/webhooks');
    return data;
  }

  /** Returns the time, the account's switches, the faults and some counts. */
  async state() {
    return this.request('GET', '/sandbox');
  }

  /** Changes some of the account's switches. @param {import('./api').AccountSwitches} switches */
  async account(switches) {
    return this.request('PATCH', '/sandbox/account', { body: switches });
  }

  /** Resets the sandbox to its start and to real time. Receivers are then no longer endpoints. */
  async reset() {
    return this.request('POST', '/sandbox/reset');
  }

  /** Stores the whole state with the clock under a name. @param {string} name */
  async snapshot(name) {
    return this.request('POST', '/sandbox/snapshots/{name}', { params: { name } });
  }

  /** Restores a stored state. @param {string} name */
  async restore(name) {
    return this.request('POST', '/sandbox/snapshots/{name}/restore', { params: { name } });
  }

  /**
   * Shows what is logged from now on if a test fails. For a sandbox that tests share.
   *
   * @param {import('./api').TestContext} test
   */
  showLog(test) {
    const { written } = this.#process;
    atEnd(test, async () => {}, async () => {
      // All lines are read when that of this request is. Levels above `debug` do not have it.
      const name = `read-${randomUUID()}`;
      await this.request('GET', '/sandbox/inbox/{name}', { params: { name } });
      const until = elapsed() + LOG_READ_MS_MAX;
      while (!this.log.includes(name) && elapsed() < until) await pause(1);
      return this.#process.logSince(written).split('\n').filter((line) => !line.includes(name)).join('\n');
    });
  }

  /**
   * Stops the sandbox and waits for its end. No process and no file remains.
   *
   * @throws {import('./error').SandboxError} if it had already ended by itself
   */
  async stop() {
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
    await this.#process.stop(this.#ready.file);
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }

  /** @param {Endpoint} endpoint */
  async #addEndpoint(endpoint) {
    const change = async () => {
      const { account } = await this.state();
      const others = account.endpoints.filter(({ url }) => url !== endpoint.url);
      await this.account({ endpoints: [...others.map(({ id, ...rest }) => rest), endpoint] });
    };
    const changed = this.#endpoints.then(change);
    this.#endpoints = changed.catch(() => {});
    await changed;
  }
}

/**
 * Returns true if the newest attempt had no answer, or one that is not 2xx.
 *
 * @param {Delivery} delivery
 */
function hasFailed({ attempts }) {
  const newest = attempts.at(-1);
  return newest !== undefined && !(newest.status !== null && newest.status >= 200 && newest.status < 300);
}

/** @param {Delivery} delivery */
function describeFailure({ type, url, attempts, nextAttemptAt }) {
  const newest = attempts.at(-1);
  const why = newest?.status === null ? newest.error : `status ${newest?.status}`;
  const then = nextAttemptAt === null ? 'the last' : `next at ${nextAttemptAt}`;
  return `${type} to ${url}: ${why}, attempt ${attempts.length}, ${then}`;
}

/**
 * Starts a new sandbox on a free port and returns when it is ready, after about ten milliseconds.
 *
 * @param {import('./api').StartOptions} [given]
 * @returns {Promise<Sandbox>}
 * @throws {SandboxError} if there is no program, or if it does not become ready; with its log
 */
async function startCoffer(given = {}) {
  const { test, log = test === undefined ? 'info' : 'debug', ...options } = withDefaults(START, given, 'startCoffer');
  /** @type {Sandbox | undefined} */
  let sandbox;
  if (test !== undefined) atEnd(test, async () => sandbox?.stop(), async () => sandbox?.log ?? '');
  const { process, ready } = await start({ log, ...options });
  sandbox = new Sandbox(process, ready);
  return sandbox;
}

module.exports = { Sandbox, startCoffer };
