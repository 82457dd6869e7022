// Verifies the header X-Service-Signature: `t=<unix seconds>,v1=<hex>`, with several `v1=` while a secret is rolled.

'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');
const { now } = require('./timers.js');

/** Prefix of the secrets of endpoints. */
const PREFIX = 'whsec_';

/**
 * Returns true if a webhook's signature fits its raw body and its time is recent.
 *
 * @param {string | Uint8Array} body the raw body as received, not parsed and serialised again
 * @param {string | string[] | null | undefined} header the value of X-Service-Signature
 * @param {string} secret the endpoint's complete secret, or the legacy secret for an invoice's own webhookUrl
 * @param {{toleranceSeconds?: number, now?: number}} [options] `toleranceSeconds`: maximum difference between the
 *   signature's time and now, default 300; `now`: Unix time in seconds, default the clock's time
 * @returns {boolean} also false if the header is missing or malformed
 * @throws {TypeError} if the secret is empty, even after `whsec_`, or the body is not the raw body
 */
function verifySignature(body, header, secret, { toleranceSeconds = 300, now: at = now() / 1000 } = {}) {
  // Anyone could sign with an empty key.
  if (typeof secret !== 'string' || ['', PREFIX].includes(secret)) {
    throw new TypeError('secret must be a text that is not empty');
  }
  if (typeof body !== 'string' && !ArrayBuffer.isView(body)) {
    throw new TypeError('body must be the raw body, a string or bytes: it was parsed before it came here');
  }
  const parts = String(header ?? '').split(',').map((part) => part.trim().split('='));
  const times = parts.filter(([name]) => name === 't').map(([, value]) => value ?? '');
  const [time] = times;
  if (times.length !== 1 || !/^[0-9]{1,15}$/.test(time)) return false;
  // This form of the comparison also refuses NaN.
  if (!(Math.abs(at - Number(time)) <= toleranceSeconds)) return false;
  const wanted = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  let fits = false;
  for (const [name, hex = ''] of parts) {
    if (name === 'v1' && /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(Buffer.from(hex, 'hex'), wanted)) fits = true;
  }
  return fits;
}

module.exports = { verifySignature };
