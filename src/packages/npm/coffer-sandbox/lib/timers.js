// The original timers and time of node, saved when this module is loaded. A test that replaces the global ones does not
// stop the sandbox.

'use strict';

const { performance } = require('node:perf_hooks');
const { clearTimeout, setTimeout } = require('node:timers');

const RealDate = Date;

/** Unix time in milliseconds. */
const now = () => RealDate.now();

const readElapsed = performance.now.bind(performance);

/** Milliseconds since this process began, on the monotonic clock. */
const elapsed = () => readElapsed();

/** @param {number} milliseconds @returns {Promise<void>} */
const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/**
 * Returns the promise's result, or rejects after a timeout.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {number} milliseconds
 * @param {() => Error} late creates the error
 * @returns {Promise<T>}
 */
function within(promise, milliseconds, late) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

module.exports = { clearTimeout, elapsed, now, pause, setTimeout, within };
