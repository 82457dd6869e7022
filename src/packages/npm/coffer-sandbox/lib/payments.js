// Payments on the simulated chains: created, confirmed, dropped, removed by a reorg. No real chain or coin is involved.

'use strict';

const { ApiError, withDefaults } = require('./client.js');
const { due, halves } = require('./decimal.js');
const { idOf } = require('./event.js');

/** @typedef {import('./api').Id} Id */
/** @typedef {import('./api').Invoice} Invoice */
/** @typedef {import('./api').Payment} Payment */
/** @typedef {import('./api').PayOptions} PayOptions */

/** Options of a payment. */
const PAY = Object.freeze({ asset: undefined, txid: undefined, confirm: true });

class Payments {
  #client;

  /** @param {import('./sandbox').Sandbox} client */
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
    const seen = await this.#client.request('POST', '/sandbox/payments', { body: payment });
    return /** @type {Payment} */ (seen);
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
    return this.#pay(invoice, amount, options);
  }

  /**
   * Moves the clock to a second after the invoice's deadline, unless it has passed, and then pays.
   *
   * @param {Id} invoice
   * @param {PayOptions} [options]
   */
  async late(invoice, options = {}) {
    withDefaults(PAY, options, 'payments');
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
    return this.#move(payment, { state: 'replaced', ...by });
  }

  /**
   * Returns the current invoice, of either mode.
   *
   * @param {Id} invoice
   * @returns {Promise<Invoice>}
   */
  async invoice(invoice) {
    try {
      return await this.#client.getInvoice(invoice);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      return this.#client.live.getInvoice(invoice);
    }
  }

  /** @param {Id} payment @param {import('./api').MovePayment} body @returns {Promise<Payment>} */
  #move(payment, body) {
    return this.#client.request('POST', '/sandbox/payments/{id}', { params: { id: payment }, body });
  }

  /**
   * @param {Id} invoice
   * @param {string | undefined} amount
   * @param {PayOptions} options
   * @returns {Promise<Payment>}
   */
  async #pay(invoice, amount, options) {
    const { asset, txid, confirm } = withDefaults(PAY, options, 'payments');
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
  async #halves(id, count, options) {
    const { asset } = withDefaults(PAY, options, 'payments');
    let invoice = await this.invoice(id);
    const client = invoice.livemode ? this.#client.live : this.#client;
    const coins = [];
    for await (const coin of client.listCurrencies()) coins.push(coin);
    const wanted = asset === undefined ? coins.map((coin) => coin.id) : [asset];
    for (const each of invoice.asset === null ? wanted : []) {
      try {
        invoice = await client.selectCoin(invoice, { asset: each });
        break;
      } catch (error) {
        const unavailable = error instanceof ApiError && error.code === 'coin_unavailable';
        if (!unavailable || each === wanted.at(-1)) throw error;
      }
    }
    const { amountExpected, amountReceived } = invoice;
    const coin = coins.find(({ id }) => id === invoice.asset);
    return halves(due(/** @type {string} */ (amountExpected), amountReceived), count, coin?.decimals ?? 0);
  }
}

module.exports = { PAY, Payments };
