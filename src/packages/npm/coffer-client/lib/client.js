// The client: one method for each operation of the merchant interface.

'use strict';

const { randomUUID } = require('node:crypto');
const { ApiError, NoAnswerError } = require('./error.js');
const { checkNames, withDefaults } = require('./options.js');
const { checkQuery, fill, headerOf, jsonOf, within } = require('./parts.js');
const { send } = require('./transport.js');

/** Items of a page, where the interface has pages. */
const PAGE = Object.freeze({ limit: 100 });
/** Options of each call by POST, and those of `request`. */
const CALL = Object.freeze({ idempotencyKey: undefined, timeout: undefined, attempts: undefined });
const REQUEST = Object.freeze({ params: undefined, query: undefined, body: undefined, ...CALL });

/** @typedef {import('./api').Id} Id */
/** @typedef {import('./api').CallOptions} CallOptions */
/** @typedef {import('./api').Sent} Sent */

/**
 * Takes and returns the interface's own fields. Amounts are decimal strings. An id is text, or an object that has it. A
 * list is an async iterator, which reads the next page when it gets there.
 *
 * Each method throws ApiError for an error response, NoAnswerError if there is no answer, and TypeError or RangeError
 * for an argument that cannot be sent, such as an amount that is a number.
 *
 * @template {object} [Of=import('./api').Paths] the paths of `request`
 */
class Client {
  #base;
  #key;
  #timeout;
  #attempts;

  /**
   * @param {string} url of Coffer, with or without `/v1`: `https://pay.example.com`
   * @param {string} key secret key; its mode, test or live, is that of all calls
   * @param {{timeout?: number, attempts?: number}} [given] `timeout`: duration of an attempt, in seconds, 0.001 to
   *   3,600, default 30; `attempts`: 1 to 10, default 4. Those after the first are for HTTP status 429 and 503 and lost
   *   answers, after 0.25, 0.5 and 1 s, or after `Retry-After` up to 30 s.
   */
  constructor(url, key, given = {}) {
    const { timeout, attempts } = withDefaults({ timeout: 30, attempts: 4 }, given, 'Client');
    const { protocol, username, password, search, hash } = new URL(url);
    if (!/^https?:$/.test(protocol) || username + password + search + hash !== '') {
      throw new TypeError('url must be like https://pay.example.com, without a user, a query or a fragment');
    }
    // A host may be named v1.
    this.#base = url.replace(/(?<=[^/])(\/v1)?\/*$/, '');
    this.#key = headerOf(key, 'key');
    this.#timeout = within(timeout, 0.001, 3600, 'timeout');
    this.#attempts = within(attempts, 1, 10, 'attempts');
    /**
     * Calls any operation by its method and its path in the document: `request('GET', '/v1/invoices/{id}', { params: {
     * id } })`. GET and POST are repeated as other calls. Returns the JSON, null for an empty answer, or other text.
     *
     * @type {import('./api').Request<Of>}
     */
    this.request = async (method, path, ...[options]) => {
      checkNames(options, Object.keys(REQUEST), 'request');
      return this.send(method, path, options);
    };
  }

  /**
   * Sends a request of any form. `request` is the same with types.
   *
   * @protected
   * @param {string} method
   * @param {string} path
   * @param {Sent} [options]
   * @returns {Promise<any>}
   */
  async send(method, path, options = {}) {
    const { params = {}, query = {}, body, idempotencyKey, timeout, attempts } = options;
    if (method === 'GET') checkQuery(path, query);
    const url = new URL(this.#base + fill(path, params));
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const key = method === 'POST' ? headerOf(idempotencyKey ?? randomUUID(), 'idempotencyKey') : undefined;
    const { status, headers, text } = await send(method, url, {
      headers: {
        'X-API-Key': this.#key,
        Accept: 'application/json',
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : jsonOf(body),
      timeout: within(timeout ?? this.#timeout, 0.001, 3600, 'timeout'),
      attempts: ['GET', 'POST'].includes(method) ? within(attempts ?? this.#attempts, 1, 10, 'attempts') : 1,
    });
    if (status < 200 || status > 299) throw new ApiError(`${method} ${path}`, status, headers, text);
    if (text === '') return null;
    if (!headers.get('content-type')?.startsWith('application/json')) return text;
    try {
      return JSON.parse(text);
    } catch {
      throw new NoAnswerError(`${method} ${path}: the answer is not valid JSON`);
    }
  }

  /** @param {string} path @param {Sent} [options] @returns {Promise<any>} */
  #get(path, options) {
    return this.#object('GET', path, options);
  }

  /** @param {string} path @param {CallOptions} options @param {Sent} sent @returns {Promise<any>} */
  #post(path, options, sent) {
    return this.#object('POST', path, { ...withDefaults(CALL, options, `POST ${path}`), ...sent });
  }

  /** @param {string} method @param {string} path @param {Sent} [options] */
  async #object(method, path, options) {
    const answer = await this.send(method, path, options);
    if (answer !== null && typeof answer === 'object' && !Array.isArray(answer)) return answer;
    throw new NoAnswerError(`${method} ${path}: the answer is not a JSON object. Is the url that of Coffer?`);
  }

  /** @param {string} path @param {object} filters */
  #list(path, filters) {
    checkQuery(path, filters);
    return this.#pages(path, { ...PAGE, ...filters });
  }

  /**
   * Reads page after page.
   *
   * @param {string} path
   * @param {object} [query]
   * @returns {AsyncGenerator<any, void, undefined>}
   */
  async* #pages(path, query = {}) {
    for (let before; ;) {
      const page = await this.#get(path, { query: { ...query, ...(before === undefined ? {} : { before }) } });
      if (!Array.isArray(page.data)) {
        throw new NoAnswerError(`GET ${path}: the answer has no data. Is the url that of Coffer?`);
      }
      yield* page.data;
      // The same page must not come again and again.
      if (page.hasMore !== true || [null, undefined, before].includes(page.nextBefore)) return;
      before = page.nextBefore;
    }
  }

  /**
   * Creates an invoice, or returns the existing one with its `orderId` or idempotency key.
   *
   * @param {import('./api').CreateInvoice} invoice
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').CreatedInvoice>}
   */
  async createInvoice(invoice, options = {}) {
    return this.#post('/v1/invoices', options, { body: invoice });
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/invoices'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').Invoice, void, undefined>} newest first
   */
  listInvoices(filters = {}) {
    return this.#list('/v1/invoices', filters);
  }

  /** @param {Id} invoice @returns {Promise<import('./api').Invoice>} */
  async getInvoice(invoice) {
    return this.#get('/v1/invoices/{id}', { params: { id: invoice } });
  }

  /**
   * Selects the coin, which fixes the rate and the deposit address.
   *
   * @param {Id} invoice
   * @param {import('./api').SelectCoin} choice
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').Invoice>}
   */
  async selectCoin(invoice, choice, options = {}) {
    return this.#post('/v1/invoices/{id}/select', options, { params: { id: invoice }, body: choice });
  }

  /**
   * Cancels an invoice without a payment. ApiError `invoice_not_cancellable` if it has one, or has ended.
   *
   * @param {Id} invoice
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').Invoice>}
   */
  async cancelInvoice(invoice, options = {}) {
    return this.#post('/v1/invoices/{id}/cancel', options, { params: { id: invoice } });
  }

  /**
   * Pays an invoice of test mode.
   *
   * @param {Id} invoice
   * @param {import('./api').SimulatePayment} [payment]
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').Invoice>}
   */
  async simulatePayment(invoice, payment = {}, options = {}) {
    return this.#post('/v1/invoices/{id}/simulate', options, { params: { id: invoice }, body: payment });
  }

  /** @returns {AsyncGenerator<import('./api').Currency, void, undefined>} the coins on offer */
  listCurrencies() {
    return this.#pages('/v1/currencies');
  }

  /** @returns {Promise<import('./api').Merchant>} */
  async getMerchant() {
    return this.#get('/v1/merchant');
  }

  /** @returns {AsyncGenerator<import('./api').Balance, void, undefined>} one for each currency */
  listBalances() {
    return this.#pages('/v1/balances');
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/ledger'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').LedgerEntry, void, undefined>} newest first
   */
  listLedger(filters = {}) {
    return this.#list('/v1/ledger', filters);
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/events'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').Event, void, undefined>} newest first
   */
  listEvents(filters = {}) {
    return this.#list('/v1/events', filters);
  }

  /** @param {Id} event @returns {Promise<import('./api').Event>} */
  async getEvent(event) {
    return this.#get('/v1/events/{id}', { params: { id: event } });
  }

  /**
   * Returns a customer's deposit addresses, which are made if there are none.
   *
   * @param {Id} customer the merchant's own reference
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').CustomerAddresses>}
   */
  async makeCustomerAddresses(customer, options = {}) {
    return this.#post('/v1/customers/{ref}/addresses', options, { params: { ref: customer } });
  }

  /** @param {Id} customer @returns {Promise<import('./api').CustomerAddresses>} */
  async getCustomerAddresses(customer) {
    return this.#get('/v1/customers/{ref}/addresses', { params: { ref: customer } });
  }

  /**
   * Pays to an address of a customer, in test mode.
   *
   * @param {Id} customer
   * @param {import('./api').SimulateDeposit} deposit
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').Deposit>}
   */
  async simulateDeposit(customer, deposit, options = {}) {
    return this.#post('/v1/customers/{ref}/simulate', options, { params: { ref: customer }, body: deposit });
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/deposits'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').Deposit, void, undefined>} the newest 100, newest first
   */
  listDeposits(filters = {}) {
    return this.#list('/v1/deposits', filters);
  }

  /** @param {Id} deposit @returns {Promise<import('./api').Deposit>} */
  async getDeposit(deposit) {
    return this.#get('/v1/deposits/{id}', { params: { id: deposit } });
  }

  /**
   * Requests a payout, in live mode. An operator approves it.
   *
   * @param {import('./api').CreatePayout} payout
   * @param {CallOptions} [options]
   * @returns {Promise<import('./api').Payout>}
   */
  async createPayout(payout, options = {}) {
    return this.#post('/v1/payouts', options, { body: payout });
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/payouts'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').Payout, void, undefined>} the newest 100, newest first
   */
  listPayouts(filters = {}) {
    return this.#list('/v1/payouts', filters);
  }

  /** @param {Id} payout @returns {Promise<import('./api').Payout>} */
  async getPayout(payout) {
    return this.#get('/v1/payouts/{id}', { params: { id: payout } });
  }

  /**
   * @param {import('./api').FiltersOf<'/v1/refunds'>} [filters] `limit`: items of a page
   * @returns {AsyncGenerator<import('./api').Refund, void, undefined>} the newest 100, newest first
   */
  listRefunds(filters = {}) {
    return this.#list('/v1/refunds', filters);
  }

  /** @param {Id} refund @returns {Promise<import('./api').Refund>} */
  async getRefund(refund) {
    return this.#get('/v1/refunds/{id}', { params: { id: refund } });
  }
}

module.exports = { Client };
