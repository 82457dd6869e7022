// The sandbox's clock. It only moves forward, and a move returns when everything due on the way is done.

'use strict';

class Clock {
  #client;

  /** @param {import('./sandbox').Sandbox} client */
  constructor(client) {
    this.#client = client;
  }

  /** Returns the current time. */
  async get() {
    return timeOf(await this.#client.request('GET', '/sandbox'));
  }

  /**
   * Moves the clock forward.
   *
   * @param {string} duration days, hours, minutes and seconds: `20m`, `1d12h`
   * @returns {Promise<Date>} the new time
   */
  async advance(duration) {
    return this.#set({ advance: duration });
  }

  /**
   * Moves the clock forward to a time. An earlier time is refused.
   *
   * @param {Date | string} time
   * @returns {Promise<Date>} the new time
   */
  async set(time) {
    return this.#set({ set: typeof time === 'string' ? time : time.toISOString() });
  }

  /** Stops the clock until it is moved, so that every time in a response is predictable. */
  async freeze() {
    return this.#set({ frozen: true });
  }

  /** Lets the clock run again. */
  async unfreeze() {
    return this.#set({ frozen: false });
  }

  /** @param {import('./api').MoveClock} body */
  async #set(body) {
    return timeOf(await this.#client.request('POST', '/sandbox/clock', { body, timeout: 600 }));
  }
}

/** @param {import('./api').SandboxState} state */
function timeOf({ time }) {
  return new Date(time);
}

module.exports = { Clock };
