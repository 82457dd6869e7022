// Requests to the sandbox: its controls, which need no key, and the merchant API with the sandbox's keys.
//
// Invariant: an error has the server's message. Requests by the page itself do not appear in the activity list.

import { root, toast } from '../shared/dom.js';

/** Header of requests that do not appear in the activity list. */
const UNLISTED = { 'X-Coffer-Untold': '1' };

export const keys = /** @type {const} */ ({ test: 'sk_test_sandbox', live: 'sk_live_sandbox' });

/** Functions that the page sets: `lost` is called when a request gets no response. */
export const connection = { lost: () => {} };

/** The sandbox did not respond. The page says so in one place, so no other message is shown. */
export class Unreachable extends Error {}

/** An error response of the sandbox. */
export class Refused extends Error {
  /** @param {number} status @param {{ message?: string, param?: string } | null} body */
  constructor(status, body) {
    super(body?.message ?? `The sandbox responded with status ${status}.`);
    this.status = status;
    /** Name of the wrong field, if there is one. */
    this.param = body?.param ?? null;
  }
}

/**
 * @template T
 * @param {string} method
 * @param {string} path without a slash at its beginning
 * @param {{ body?: unknown, key?: string, isOwn?: boolean }} [options]
 * @returns {Promise<T>}
 */
export async function request(method, path, { body, key, isOwn = false } = {}) {
  let status = 0;
  let text = '';
  try {
    const response = await fetch(new URL(path, root), {
      method,
      headers: { ...(isOwn ? UNLISTED : {}), ...(key ? { 'X-API-Key': key } : {}) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    ({ status } = response);
    text = await response.text();
  } catch {
    connection.lost();
    throw new Unreachable();
  }
  let json = null;
  try {
    json = text === '' ? null : JSON.parse(text);
  } catch {
    // The response of another server at this address.
    throw new Refused(status, null);
  }
  if (status < 200 || status > 299) throw new Refused(status, json);
  return json;
}

/**
 * Runs `work` while the button is busy, and shows its errors.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function runDisabled(button, work) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Unreachable)) toast(error instanceof Error ? error.message : String(error));
  } finally {
    button.removeAttribute('aria-busy');
  }
}
