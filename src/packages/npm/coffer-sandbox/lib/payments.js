// Payments on the simulated chains: created, confirmed, dropped, removed by a reorg. No real chain or coin is involved.

'use strict';

const { idOf } = require('./client.js');
const { amountOf, due, halves } = require('./decimal.js');
const { CofferError } = require('./error.js');

/** @typedef {import('./api').Id} Id */
/** @typedef {import('./api').Invoice} Invoice */
/** @typedef {import('./api').Payment} Payment */
/** @typedef {import('./api').PayOptions} PayOptions */

class Payments {
  #client;

  /** @param {import('./client').Client} client */
  constructor(client) {
    this.#client = client;
  }

  /**
   * Puts a payment to an invoice or an address on a chain, of either mode. The payment stays unconfirmed.
   *
   * @param {import('./api').SeePayment} payment without `amount`: the amount due
   * @returns {Promise<Payment>}
   */
  async see(payment) {
    if (payment.amount !== undefined && payment.amount !== null) amountOf(payment.amount, 'amount');
    return this.#client.request('POST', '/sandbox/payments', { body: payment });
  }

  /**
   * Pays the amount due.
   *
   * @param {Id} invoice
   * @param {PayOptions} [options]
   */
  async exact(invoice, options = {}) {
    return this.#pay(invoice, undefined, options);
  }

  /**
   * Pays half of the amount due.
   *
   * @param {Id} invoice
   * @param {PayOptions} [options]
   */
  async under(invoice, options = {}) {
    return this.#pay(invoice, await this.#halves(invoice, 1n, options), options);
  }

  /**
   * Pays one and a half times the amount due.
   *
   * @param {Id} invoice
   * @param {PayOptions} [options]
   */
  async over(invoice, options = {}) {
    return this.#pay(invoice, await this.#halves(invoice, 3n, options), options);
  }

  /**
   * Pays any amount, in the invoice's coin.
   *
   * @param {Id} invoice
   * @param {string} amount
   * @param {PayOptions} [options]
   */
  async amount(invoice, amount, options = {}) {
    return this.#pay(invoice, amountOf(amount, 'amount'), options);
  }

  /**
   * Moves the clock to a second after the invoice's deadline, unless it has passed, and then pays.
   *
   * @param {Id} invoice
   * @param {PayOptions} [options]
   */
  async late(invoice, options = {}) {
    const read = await this.invoice(invoice);
    const { time } = await this.#client.request('GET', '/sandbox');
    const then = new Date(Date.parse(read.expiresAt) + 1000).toISOString();
    if (Date.parse(then) > Date.parse(time)) {
      await this.#client.request('POST', '/sandbox/clock', { body: { set: then } });
    }
    return this.#pay(read, undefined, options);
  }

  /**
   * Gives a seen payment this number of confirmations. It is confirmed by as many as it needs.
   *
   * @param {Id} payment
   * @param {number} count not fewer than it has
   * @returns {Promise<Payment>}
   */
  async setConfirmations(payment, count) {
    return this.#move(payment, { confirmations: count });
  }

  /** @param {Id} payment @returns {Promise<Payment>} */
  async confirm(payment) {
    return this.#move(payment, { state: 'confirmed' });
  }

  /** Drops a payment: it will never be confirmed. @param {Id} payment @returns {Promise<Payment>} */
  async drop(payment) {
    return this.#move(payment, { state: 'dropped' });
  }

  /** Removes a payment's block by a reorg: it is unconfirmed again. @param {Id} payment @returns {Promise<Payment>} */
  async reorganise(payment) {
    return this.#move(payment, { state: 'orphaned' });
  }

  /** Makes a dropped payment appear again. @param {Id} payment @returns {Promise<Payment>} */
  async reappear(payment) {
    return this.#move(payment, { state: 'seen' });
  }

  /**
   * Drops a payment and puts another in its place.
   *
   * @param {Id} payment
   * @param {import('./api').ReplacePayment} [by] without `amount`: the same amount
   * @returns {Promise<Payment>} the new payment
   */
  async replace(payment, by = {}) {
    if (by.amount !== undefined && by.amount !== null) amountOf(by.amount, 'amount');
    return this.#move(payment, { state: 'replaced', ...by });
  }

  /**
   * Returns the current invoice, of either mode.
   *
   * @param {Id} invoice
   * @returns {Promise<Invoice>}
   */
  async invoice(invoice) {
    const params = { id: idOf(invoice) };
    const read = (/** @type {import('./api').Mode} */ mode) => (
      this.#client.request('GET', '/v1/invoices/{id}', { params, mode }));
    try {
      return await read('test');
    } catch (error) {
      if (!(error instanceof CofferError && error.code === 'not_found')) throw error;
      return read('live');
    }
  }

  /** @param {Id} payment @param {Record<string, unknown>} body @returns {Promise<Payment>} */
  #move(payment, body) {
    return this.#client.request('POST', '/sandbox/payments/{id}', { params: { id: idOf(payment) }, body });
  }

  /**
   * @param {Id} invoice
   * @param {string | undefined} amount
   * @param {PayOptions} options
   * @returns {Promise<Payment>}
   */
  async #pay(invoice, amount, { asset, txid, confirm = true }) {
    const seen = await this.see({ invoice: idOf(invoice), asset, amount, txid });
    return confirm ? this.confirm(seen) : seen;
  }

  /**
   * Returns `count` halves of the amount due in the invoice's coin. Chooses a coin if the invoice has none.
   *
   * @param {Id} id
   * @param {bigint} count
   * @param {PayOptions} options
   */
  async #halves(id, count, { asset }) {
    let invoice = await this.invoice(id);
    const mode = invoice.livemode ? 'live' : 'test';
    const { data: coins } = await this.#client.request('GET', '/v1/currencies', { mode });
    const wanted = asset === undefined ? coins.map((/** @type {{id: string}} */ coin) => coin.id) : [asset];
    for (const each of invoice.asset === null ? wanted : []) {
      try {
        const params = { id: invoice.id };
        const body = { asset: each };
        invoice = await this.#client.request('POST', '/v1/invoices/{id}/select', { params, body, mode });
        break;
      } catch (error) {
        const unavailable = error instanceof CofferError && error.code === 'coin_unavailable';
        if (!unavailable || each === wanted.at(-1)) throw error;
      }
    }
    const { amountExpected, amountReceived } = invoice;
    const { decimals } = coins.find((/** @type {{id: string}} */ coin) => coin.id === invoice.asset);
    return halves(due(/** @type {string} */ (amountExpected), amountReceived), count, decimals);
  }
}

module.exports = { Payments };
