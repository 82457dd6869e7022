// A running sandbox for tests: its URLs and keys, a small client, and its controls.

'use strict';

const { Client, idOf } = require('./client.js');
const { Clock } = require('./clock.js');
const { amountOf } = require('./decimal.js');
const { Faults } = require('./faults.js');
const { Inbox } = require('./inbox.js');
const { Payments } = require('./payments.js');
const { start } = require('./process.js');
const { Receiver } = require('./receiver.js');

/** @typedef {import('./api').Endpoint} Endpoint */
/** @typedef {import('./api').Id} Id */
/** @typedef {import('./api').Invoice} Invoice */
/** @typedef {import('./api').Mode} Mode */
/** @typedef {import('./api').TransferAction} TransferAction */

class Coffer {
  #process;
  #ready;
  #client;
  /** @type {{close(): Promise<void>}[]} */
  #receivers = [];
  /** @type {Promise<unknown>} pending changes of the endpoint list, one after the other */
  #endpoints = Promise.resolve();

  /**
   * @param {import('./process').Process} process
   * @param {import('./api').Ready} ready
   */
  constructor(process, ready) {
    this.#process = process;
    this.#ready = ready;
    this.#client = new Client(process, ready);
    /** The base URL, without `/v1`. */
    this.url = ready.url;
    /** The keys of both modes. */
    this.keys = ready.keys;
    /** The secret of the account's endpoints. */
    this.webhookSecret = ready.webhookSecret;
    /** The secret of webhooks to an invoice's own `webhookUrl`. */
    this.legacySecret = ready.legacySecret;
    this.clock = new Clock(this.#client);
    this.payments = new Payments(this.#client);
    this.faults = new Faults(this.#client);
    /**
     * Calls any operation of the documents with the secret key of test mode: `request('GET', '/v1/invoices/{id}', {
     * params: { id } })`. An error response throws a CofferError.
     *
     * @type {import('./api').Request}
     */
    this.request = (method, path, ...[options]) => this.#client.request(method, path, options);
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
   * Creates an invoice.
   *
   * @param {import('./api').CreateInvoice} invoice
   * @param {{mode?: Mode, idempotencyKey?: string}} [options]
   * @returns {Promise<import('./api').CreatedInvoice>}
   */
  async createInvoice(invoice, { mode, idempotencyKey } = {}) {
    amountOf(invoice?.amount, 'amount');
    const headers = idempotencyKey === undefined ? undefined : { 'Idempotency-Key': idempotencyKey };
    return this.#client.request('POST', '/v1/invoices', { body: invoice, mode, headers });
  }

  /**
   * Returns the current invoice, of either mode.
   *
   * @param {Id} invoice
   */
  async getInvoice(invoice) {
    return this.payments.invoice(invoice);
  }

  /**
   * Pays an invoice and confirms the payment.
   *
   * @param {Id} invoice of either mode
   * @param {import('./api').PayOptions & {case?: import('./api').PayCase}} [options] `case`: default `exact`
   * @returns {Promise<Invoice>} the updated invoice
   */
  async pay(invoice, { case: of = 'exact', ...options } = {}) {
    if (!['exact', 'under', 'over', 'late'].includes(of)) {
      throw new TypeError(`case must be "exact", "under", "over" or "late", not ${JSON.stringify(of)}`);
    }
    await this.payments[of](invoice, options);
    return this.payments.invoice(invoice);
  }

  /** Cancels an invoice, as an operator does. @param {Id} invoice @returns {Promise<Invoice>} */
  async cancelInvoice(invoice) {
    return this.#client.request('POST', '/sandbox/invoices/{id}/cancel', { params: { id: idOf(invoice) } });
  }

  /**
   * Requests a refund of an invoice of either mode.
   *
   * @param {Id} invoice
   * @param {import('./api').RequestRefund} [refund] without `amount`: everything not refunded yet
   * @returns {Promise<import('./api').Refund>}
   */
  async refund(invoice, refund = {}) {
    if (refund.amount !== undefined && refund.amount !== null) amountOf(refund.amount, 'amount');
    return this.#client.request('POST', '/sandbox/refunds', { body: { ...refund, invoice: idOf(invoice) } });
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
    const params = { id: idOf(refund) };
    return this.#client.request('POST', '/sandbox/refunds/{id}', { params, body: { ...options, action } });
  }

  /**
   * Performs a step of a payout, as for a refund. `request('POST', '/v1/payouts', { mode: 'live', … })` creates one.
   *
   * @param {Id} payout
   * @param {TransferAction} action
   * @param {{txid?: string, reason?: string}} [options]
   * @returns {Promise<import('./api').Payout>} the updated payout
   */
  async movePayout(payout, action, options = {}) {
    const params = { id: idOf(payout) };
    return this.#client.request('POST', '/sandbox/payouts/{id}', { params, body: { ...options, action } });
  }

  /**
   * Creates a webhook receiver inside the sandbox and adds it to the account's endpoints.
   *
   * @template {import('./api').Format} [Of='event']
   * @param {string} [name]
   * @param {import('./api').ReceiverOptions<Of>} [options]
   * @returns {Promise<Inbox<Of>>}
   */
  async inbox(name = 'inbox', { endpoint = true, format, types, mode, secret = this.webhookSecret } = {}) {
    const url = `http://${this.#ready.listen}/sandbox/inbox/${encodeURIComponent(name)}`;
    if (endpoint) await this.#addEndpoint({ url, secret, format, types, mode });
    return new Inbox(this.#client, name, url, [secret, this.legacySecret]);
  }

  /**
   * Creates a webhook receiver in this process and adds it to the account's endpoints. It stops with the sandbox.
   *
   * @template {import('./api').Format} [Of='event']
   * @param {import('./api').ReceiverOptions<Of>} [options]
   * @returns {Promise<Receiver<Of>>}
   */
  async receiver({ endpoint = true, format, types, mode, secret = this.webhookSecret } = {}) {
    /** @type {Receiver<Of>} */
    const receiver = new Receiver([secret, this.legacySecret]);
    await receiver.listen();
    this.#receivers.push(receiver);
    if (endpoint) await this.#addEndpoint({ url: receiver.url, secret, format, types, mode });
    return receiver;
  }

  /**
   * Waits until every due webhook was sent, and answered or postponed to a retry. A shop's work before it responds to a
   * webhook is then done.
   */
  async delivered() {
    await this.clock.advance('0s');
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
 * Starts a new sandbox on a free port and returns when it is ready, after about ten milliseconds.
 *
 * @param {import('./api').StartOptions} [options]
 * @returns {Promise<Coffer>}
 * @throws {import('./error').SandboxError} if there is no program, or if it does not become ready; with its log
 */
async function startCoffer(options = {}) {
  const { process, ready } = await start(options);
  return new Coffer(process, ready);
}

module.exports = { Coffer, startCoffer };
