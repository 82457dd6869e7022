// Timers and the time as they are when this is loaded: a test that replaces them later does not stop the sandbox.

'use strict';

const { clearTimeout, setTimeout } = require('node:timers');

const RealDate = Date;

/** Unix time in milliseconds. */
const now = () => RealDate.now();

/**
 * The promise's result; after so long an error instead.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {number} milliseconds
 * @param {() => Error} late makes the error
 * @returns {Promise<T>}
 */
function within(promise, milliseconds, late) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

module.exports = { clearTimeout, now, setTimeout, within };
