// The sandbox's clock. It only moves forward, and a move answers when all that fell due on the way is done.

'use strict';

class Clock {
  #client;

  /** @param {import('./client').Client} client */
  constructor(client) {
    this.#client = client;
  }

  /** The time now. */
  async get() {
    return timeOf(await this.#client.request('GET', '/sandbox'));
  }

  /**
   * Moves it forward.
   *
   * @param {string} duration days, hours, minutes and seconds: `20m`, `1d12h`
   * @returns {Promise<Date>} the time then
   */
  async advance(duration) {
    return this.#set({ advance: duration });
  }

  /**
   * Moves it forward to a time; an earlier one is refused.
   *
   * @param {Date | string} time
   * @returns {Promise<Date>} the time then
   */
  async set(time) {
    return this.#set({ set: typeof time === 'string' ? time : time.toISOString() });
  }

  /** It stands still until it is moved: every time in an answer is known beforehand. */
  async freeze() {
    return this.#set({ frozen: true });
  }

  /** It runs on. */
  async unfreeze() {
    return this.#set({ frozen: false });
  }

  /** @param {Record<string, unknown>} body */
  async #set(body) {
    return timeOf(await this.#client.request('POST', '/sandbox/clock', { body, timeoutMs: 600_000 }));
  }
}

/** @param {import('./api').SandboxState} state */
function timeOf({ time }) {
  return new Date(time);
}

module.exports = { Clock };
