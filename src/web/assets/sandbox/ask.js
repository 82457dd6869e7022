// What the sandbox is asked: its controls, which take no key, and the merchant's interface with the sandbox's keys.
//
// What always holds: a refusal is an error whose message is the server's; what the page reads for itself is not told
// among what happens.

import { root, toast } from '../shared/dom.js';

/** Sent with what is not to be told among what happens. */
const UNTOLD = { 'X-Coffer-Untold': '1' };

export const keys = /** @type {const} */ ({ test: 'sk_test_sandbox', live: 'sk_live_sandbox' });

/**
 * @template T
 * @param {string} method
 * @param {string} path without a slash at its beginning
 * @param {{ body?: unknown, key?: string, isOwn?: boolean }} [options]
 * @returns {Promise<T>}
 */
export async function ask(method, path, { body, key, isOwn = false } = {}) {
  const response = await fetch(new URL(path, root), {
    method,
    headers: { ...(isOwn ? UNTOLD : {}), ...(key ? { 'X-API-Key': key } : {}) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const json = text === '' ? null : JSON.parse(text);
  if (!response.ok) throw new Error(json?.message ?? `the sandbox answered ${response.status}`);
  return json;
}

/**
 * A button that does something, and cannot be pressed again until it is done; what goes wrong is said.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function doing(button, work) {
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
