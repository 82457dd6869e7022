// Verifies the header X-Service-Signature: `t=<unix seconds>,v1=<hex>`, with several `v1=` while a secret is rolled.

'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');
const { now } = require('./timers.js');

/** What the secrets of endpoints begin with. */
const PREFIX = 'whsec_';

/**
 * Whether a webhook's signature fits its raw body and its time is near.
 *
 * @param {string | Uint8Array} body the raw body, as it came: not parsed and written again
 * @param {string | string[] | null | undefined} header the value of X-Service-Signature
 * @param {string} secret the endpoint's secret as it stands; of an invoice's own webhookUrl the legacy secret
 * @param {{toleranceSeconds?: number, now?: number}} [options] `toleranceSeconds`: how far the signature's time may be
 *   from now, 300 if not given; `now`: Unix time in seconds, the clock's if not given
 * @returns {boolean} false too where the header is missing or is no such text
 * @throws {TypeError} where the secret is empty, also behind `whsec_`, or the body is not the raw one
 */
function verifySignature(body, header, secret, { toleranceSeconds = 300, now: at = now() / 1000 } = {}) {
  // Anybody could sign with an empty key.
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
  // In this form, so that what is no number is too far away.
  if (!(Math.abs(at - Number(time)) <= toleranceSeconds)) return false;
  const wanted = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  let fits = false;
  for (const [name, hex = ''] of parts) {
    if (name === 'v1' && /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(Buffer.from(hex, 'hex'), wanted)) fits = true;
  }
  return fits;
}

module.exports = { verifySignature };
