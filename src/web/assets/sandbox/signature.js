// Verifies a webhook signature as its receiver would, with the endpoint's secret and the sent bytes.

import { hmac, toHex } from '../shared/hmac.js';
import { state } from './controls.js';

/** Secret that signs webhooks to an invoice's own webhookUrl in a sandbox. */
const LEGACY_SECRET = 'legacy_sandbox';

/**
 * Returns true if a secret of this sandbox made the signature, and a sentence about it.
 * @param {Extract<import("controls").components["schemas"]["SandboxActivity"], { kind: 'delivery' }>} delivery
 * @returns {Promise<[boolean, string]>}
 */
export async function verify({ url, headers, sent }) {
  if (sent.cut) return [false, 'The body is too long to check its signature here.'];
  if (!crypto.subtle) return [false, 'This browser checks signatures on https and localhost only.'];
  const header = headers['X-Service-Signature'] ?? '';
  const [, at = '', ...signatures] =
    /^t=(\d+)((?:,v1=[0-9a-f]{64})+)$/
      .exec(header)
      ?.flatMap((part, index) => (index === 2 ? part.slice(4).split(',v1=') : [part])) ?? [];
  const known = (await state.get()).account.endpoints.filter((endpoint) => endpoint.url === url);
  const secrets = [...known.map((endpoint) => endpoint.secret), LEGACY_SECRET];
  for (const secret of secrets) {
    const signed = toHex(await hmac(new TextEncoder().encode(secret), `${at}.${sent.text}`));
    if (signatures.includes(signed)) return [true, `The signature verifies with ${secret}.`];
  }
  return [false, 'No secret of this sandbox verifies the signature. The endpoint may have been replaced.'];
}
