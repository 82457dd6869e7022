// Sends a request, and repeats it if another attempt may succeed.

'use strict';

const { NoAnswerError, retryAfterOf } = require('./error.js');

// Saved when this module is loaded. A test that replaces the global ones does not stop the client.
const { AbortSignal, fetch } = globalThis;
const { setTimeout } = require('node:timers');

/** Waits before the second, third and each further attempt, in milliseconds. Each varies by a quarter. */
const WAITS_MS = [250, 500, 1000];
/** Longest `Retry-After` that is waited for, in seconds. */
const RETRY_AFTER_MAX = 30;

/** @typedef {{status: number, headers: import('./api').AnswerHeaders, text: string}} Answer */
/**
 * @typedef {object} Sending
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @property {number} timeout duration of an attempt, in seconds
 * @property {number} attempts maximum number of attempts
 */

/**
 * Sends a request.
 *
 * @param {string} method
 * @param {URL} url
 * @param {Sending} sending
 * @returns {Promise<Answer>} to the last attempt, of any status
 * @throws {NoAnswerError} if the last attempt got no answer
 */
async function send(method, url, sending) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await once(method, url, sending);
    const wait = attempt < sending.attempts ? waitOf(answer, attempt) : undefined;
    if (wait === undefined && 'cause' in answer) {
      const { cause } = answer;
      throw new NoAnswerError(`${method} ${url.pathname}: no answer: ${reasonOf(cause, sending.timeout)}`, { cause });
    }
    if (wait === undefined) return /** @type {Answer} */ (answer);
    await new Promise((resolve) => { setTimeout(resolve, wait); });
  }
}

/**
 * @param {string} method
 * @param {URL} url
 * @param {Sending} sending
 * @returns {Promise<Answer | {cause: unknown}>}
 */
async function once(method, url, { headers, body, timeout }) {
  try {
    // Another place must not get the key: a redirect is an answer.
    const signal = AbortSignal.timeout(Math.ceil(timeout * 1000));
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    return { cause };
  }
}

/**
 * Returns the milliseconds to wait before the next attempt, or undefined if there is to be none.
 *
 * @param {Answer | {cause: unknown}} answer
 * @param {number} attempt
 */
function waitOf(answer, attempt) {
  if ('status' in answer) {
    if (answer.status !== 429 && answer.status !== 503) return undefined;
    const seconds = retryAfterOf(answer.headers);
    if (seconds !== null) return seconds <= RETRY_AFTER_MAX ? seconds * 1000 : undefined;
  }
  return WAITS_MS[Math.min(attempt, WAITS_MS.length) - 1] * (0.75 + Math.random() / 2);
}

/** @param {unknown} cause @param {number} timeout */
function reasonOf(cause, timeout) {
  const { name, cause: inner, message } = /** @type {Error & {cause?: {code?: string, message?: string}}} */ (cause);
  if (name === 'TimeoutError') return `none within ${timeout} s`;
  return inner?.message || inner?.code || message;
}

module.exports = { send };
