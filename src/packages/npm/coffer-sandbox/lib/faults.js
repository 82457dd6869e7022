// Simulated faults, for some requests or until they are cleared.

'use strict';

class Faults {
  #client;

  /** @param {import('./sandbox').Sandbox} client */
  constructor(client) {
    this.#client = client;
  }

  /** Adds a fault in the control's format. @param {import('./api').Fault} fault */
  async add(fault) {
    await this.#client.request('POST', '/sandbox/faults', { body: fault });
  }

  /**
   * Makes the next requests to a route fail.
   *
   * @param {string} route `POST /v1/invoices`
   * @param {number} [status] from 400 to 599; default 503
   * @param {number} [times] number of requests; default 1
   */
  async refuse(route, status = 503, times = 1) {
    await this.add({ route, status, times });
  }

  /**
   * Delays the responses to the next requests to a route.
   *
   * @param {string} route
   * @param {number} delayMs at most 60,000
   * @param {number} [times]
   */
  async delay(route, delayMs, times = 1) {
    await this.add({ route, delayMs, times });
  }

  /**
   * Lets the next requests to a route do their work, but closes the connection without a response.
   *
   * @param {string} route
   * @param {number} [times]
   */
  async dropAnswer(route, times = 1) {
    await this.add({ route, dropAnswer: true, times });
  }

  /** Leaves no address for new customers and newly chosen coins, until `clear()`. */
  async emptyPool() {
    await this.add({ pool: 'empty' });
  }

  /** Leaves no rate fresh enough to quote a coin of live mode, until `clear()`. */
  async staleRates() {
    await this.add({ rates: 'stale' });
  }

  /** Shuffles the webhooks that wait for a receiver, until `clear()`. Those of `coffer serve` have no order. */
  async shuffleDeliveries() {
    await this.add({ deliveries: 'shuffled' });
  }

  /** Clears every fault. */
  async clear() {
    await this.#client.request('DELETE', '/sandbox/faults');
  }
}

module.exports = { Faults };
