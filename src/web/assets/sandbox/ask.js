// Requests to the sandbox: its controls, which need no key, and the merchant API with the sandbox's keys.
//
// Invariant: an error has the server's message. Requests by the page itself do not appear in the activity list.

import { root, toast } from '../shared/dom.js';

/** Header of requests that do not appear in the activity list. */
const UNLISTED = { 'X-Coffer-Untold': '1' };

export const keys = /** @type {const} */ ({ test: 'sk_test_sandbox', live: 'sk_live_sandbox' });

/**
 * @template T
 * @param {string} method
 * @param {string} path without a slash at its beginning
 * @param {{ body?: unknown, key?: string, isOwn?: boolean }} [options]
 * @returns {Promise<T>}
 */
export async function request(method, path, { body, key, isOwn = false } = {}) {
  const response = await fetch(new URL(path, root), {
    method,
    headers: { ...(isOwn ? UNLISTED : {}), ...(key ? { 'X-API-Key': key } : {}) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const json = text === '' ? null : JSON.parse(text);
  if (!response.ok) throw new Error(json?.message ?? `the sandbox answered ${response.status}`);
  return json;
}

/**
 * Runs `work` while the button is disabled, and shows its errors.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function runDisabled(button, work) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  try {
    await work();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    toast(`That did not work: ${text}.`);
  } finally {
    button.removeAttribute('aria-busy');
  }
}
