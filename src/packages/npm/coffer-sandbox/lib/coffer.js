// A running sandbox, as a test has it: its addresses and keys, a small client, and all that a test does to it.

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
  /** @type {Promise<unknown>} the changes of the list of endpoints, one after the other */
  #endpoints = Promise.resolve();

  /**
   * @param {import('./process').Process} process
   * @param {import('./api').Ready} ready
   */
  constructor(process, ready) {
    this.#process = process;
    this.#ready = ready;
    this.#client = new Client(process, ready);
    /** Where it is, without `/v1`. */
    this.url = ready.url;
    /** Its keys, of both modes. */
    this.keys = ready.keys;
    /** The secret of the account's endpoints. */
    this.webhookSecret = ready.webhookSecret;
    /** The secret of what goes to an invoice's own `webhookUrl`. */
    this.legacySecret = ready.legacySecret;
    this.clock = new Clock(this.#client);
    this.payments = new Payments(this.#client);
    this.faults = new Faults(this.#client);
    /**
     * Calls any operation of the documents, with the secret key of test mode:
     * `request('GET', '/v1/invoices/{id}', { params: { id } })`. An error is a CofferError.
     *
     * @type {import('./api').Request}
     */
    this.request = (method, path, ...[options]) => this.#client.request(method, path, options);
  }

  /** The id of its process. */
  get pid() {
    return this.#process.pid;
  }

  /** What it has logged; of a long log the end. */
  get log() {
    return this.#process.log;
  }

  /**
   * Makes an invoice.
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
   * The invoice as it is now, of either mode.
   *
   * @param {Id} invoice
   */
  async getInvoice(invoice) {
    return this.payments.invoice(invoice);
  }

  /**
   * Pays an invoice, and the payment is confirmed.
   *
   * @param {Id} invoice of either mode
   * @param {import('./api').PayOptions & {case?: import('./api').PayCase}} [options] `case`: `exact` if not given
   * @returns {Promise<Invoice>} as it is then
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
   * @param {import('./api').RequestRefund} [refund] without `amount`: all that is left
   * @returns {Promise<import('./api').Refund>}
   */
  async refund(invoice, refund = {}) {
    if (refund.amount !== undefined && refund.amount !== null) amountOf(refund.amount, 'amount');
    return this.#client.request('POST', '/sandbox/refunds', { body: { ...refund, invoice: idOf(invoice) } });
  }

  /**
   * Moves a refund: `approve`, then `process`, then `pay` or `fail`; or `reject`, or `cancel`.
   *
   * @param {Id} refund
   * @param {TransferAction} action
   * @param {{txid?: string, reason?: string}} [options]
   * @returns {Promise<import('./api').Refund>} as it is then
   */
  async moveRefund(refund, action, options = {}) {
    const params = { id: idOf(refund) };
    return this.#client.request('POST', '/sandbox/refunds/{id}', { params, body: { ...options, action } });
  }

  /**
   * Moves a payout, likewise. `request('POST', '/v1/payouts', { mode: 'live', … })` makes one.
   *
   * @param {Id} payout
   * @param {TransferAction} action
   * @param {{txid?: string, reason?: string}} [options]
   * @returns {Promise<import('./api').Payout>} as it is then
   */
  async movePayout(payout, action, options = {}) {
    const params = { id: idOf(payout) };
    return this.#client.request('POST', '/sandbox/payouts/{id}', { params, body: { ...options, action } });
  }

  /**
   * A receiver of webhooks inside the sandbox, made an endpoint of the account.
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
   * A receiver of webhooks in this process, made an endpoint of the account. It ends with the sandbox.
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
   * Waits until every webhook that is due by now was sent, and answered or given up for this time: what a shop does on a
   * webhook, before it answers, is done then.
   */
  async delivered() {
    await this.clock.advance('0s');
  }

  /** Every webhook that was sent or will be, with its attempts: the newest 500. */
  async deliveries() {
    const { data } = await this.request('GET', '/sandbox/webhooks');
    return data;
  }

  /** The time, the account's switches, the faults, counts. */
  async state() {
    return this.request('GET', '/sandbox');
  }

  /** Changes some of the account's switches. @param {import('./api').AccountSwitches} switches */
  async account(switches) {
    return this.request('PATCH', '/sandbox/account', { body: switches });
  }

  /** Goes back to the beginning and to real time. Receivers are no endpoints then. */
  async reset() {
    return this.request('POST', '/sandbox/reset');
  }

  /** Keeps the whole state, the clock included. @param {string} name */
  async snapshot(name) {
    return this.request('POST', '/sandbox/snapshots/{name}', { params: { name } });
  }

  /** Goes back to what was kept. @param {string} name */
  async restore(name) {
    return this.request('POST', '/sandbox/snapshots/{name}/restore', { params: { name } });
  }

  /**
   * Ends it and waits for its end. Nothing is left of it.
   *
   * @throws {import('./error').SandboxError} where it had ended before, by itself
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
 * Starts a sandbox of its own, on a free port, and answers once it is ready: some ten milliseconds later.
 *
 * @param {import('./api').StartOptions} [options]
 * @returns {Promise<Coffer>}
 * @throws {import('./error').SandboxError} where there is no program, or it does not get ready; with its log
 */
async function startCoffer(options = {}) {
  const { process, ready } = await start(options);
  return new Coffer(process, ready);
}

module.exports = { Coffer, startCoffer };
