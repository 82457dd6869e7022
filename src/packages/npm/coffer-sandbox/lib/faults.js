// What the sandbox pretends to be wrong, for some calls or until it is ended.

'use strict';

class Faults {
  #client;

  /** @param {import('./client').Client} client */
  constructor(client) {
    this.#client = client;
  }

  /** Adds a fault as the control takes it. @param {import('./api').Fault} fault */
  async add(fault) {
    await this.#client.request('POST', '/sandbox/faults', { body: fault });
  }

  /**
   * The next calls of a route are refused.
   *
   * @param {string} route `POST /v1/invoices`
   * @param {number} [status] from 400 to 599; 503 if not given
   * @param {number} [times] how many calls; 1 if not given
   */
  async refuse(route, status = 503, times = 1) {
    await this.add({ route, status, times });
  }

  /**
   * The next calls of a route are answered late.
   *
   * @param {string} route
   * @param {number} delayMs at most 60,000
   * @param {number} [times]
   */
  async delay(route, delayMs, times = 1) {
    await this.add({ route, delayMs, times });
  }

  /**
   * The next calls of a route do their work, and the connection is closed without an answer.
   *
   * @param {string} route
   * @param {number} [times]
   */
  async dropAnswer(route, times = 1) {
    await this.add({ route, dropAnswer: true, times });
  }

  /** No address is left for new customers and newly picked coins, until `clear()`. */
  async emptyPool() {
    await this.add({ pool: 'empty' });
  }

  /** No rate is fresh enough to quote a coin of live mode, until `clear()`. */
  async staleRates() {
    await this.add({ rates: 'stale' });
  }

  /** Ends every fault. */
  async clear() {
    await this.#client.request('DELETE', '/sandbox/faults');
  }
}

module.exports = { Faults };
