// Verifies webhooks: X-Service-Signature, or the headers of Standard Webhooks.

'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');
const { SignatureError } = require('./error.js');
const { withDefaults } = require('./options.js');

/** Prefix of the secrets of endpoints. The key of Standard Webhooks follows in base64. */
const PREFIX = 'whsec_';
const { now: clock } = Date;

/**
 * Returns the event of a webhook that is signed with one of the secrets. It may be a test event, or come twice or late:
 * look at its `livemode` and `id`.
 *
 * @param {string | Uint8Array} payload the raw body as received, not parsed and serialised again
 * @param {import('./api').RequestHeaders} headers those of the request, their names in any case
 * @param {string | string[]} secret of the endpoint, or the legacy secret for an invoice's own `webhookUrl`; several
 *   while it is changed
 * @param {{tolerance?: number, now?: number}} [given] `tolerance`: largest difference between the signature's time
 *   and now, in seconds, default 300; `now`: Unix time in seconds, default the clock's time
 * @returns {import('./api').Event | import('./api').LegacyEvent}
 * @throws {SignatureError} if no signature is valid and recent, or the body is not an event
 * @throws {TypeError} if there is no secret or an empty one, the payload was parsed, or an option is unknown
 */
function verify(payload, headers, secret, given = {}) {
  const { now, tolerance } = withDefaults({ now: clock() / 1000, tolerance: 300 }, given, 'verify');
  const secrets = Array.isArray(secret) ? secret : [secret];
  // Anyone could sign with an empty key.
  if (secrets.length === 0 || secrets.some((each) => typeof each !== 'string' || ['', PREFIX].includes(each))) {
    throw new TypeError('secret must be a text that is not empty, or several');
  }
  if (typeof payload !== 'string' && !ArrayBuffer.isView(payload)) {
    throw new TypeError('payload must be the raw body, a string or bytes: it was parsed before it came here');
  }
  const header = readerOf(headers);
  const time = serviceTime(payload, header, secrets) ?? standardTime(payload, header, secrets);
  if (time === undefined) {
    throw new SignatureError('no signature fits: the secret is another, or the body is not as it was sent');
  }
  // This form of the comparison also refuses NaN.
  if (!(Math.abs(now - Number(time)) <= tolerance)) {
    throw new SignatureError(`the signature's time is not within ${tolerance} s of now`);
  }
  return eventOf(payload);
}

/** @typedef {(name: string) => string} Reader */

/** @param {import('./api').RequestHeaders} headers @returns {Reader} of a header, by its name in lower case */
function readerOf(headers) {
  const entries = typeof headers?.entries === 'function' ? headers.entries() : Object.entries(headers ?? {});
  const found = new Map(Array.from(
    /** @type {Iterable<[string, unknown]>} */ (entries), ([name, value]) => [name.toLowerCase(), value]));
  return (name) => String(found.get(name) ?? '');
}

/**
 * Returns the time of X-Service-Signature, `t=<unix seconds>,v1=<hex>`, if one of its signatures fits.
 *
 * @param {string | Uint8Array} payload
 * @param {Reader} header
 * @param {string[]} secrets
 */
function serviceTime(payload, header, secrets) {
  const parts = header('x-service-signature').split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t='));
  const time = times.length === 1 ? times[0].slice(2) : '';
  if (!isTime(time)) return undefined;
  const sign = (/** @type {string} */ secret) => (
    `v1=${createHmac('sha256', secret).update(`${time}.`).update(payload).digest('hex')}`);
  return hasCommon(secrets.map(sign), parts) ? time : undefined;
}

/**
 * Returns the time of Standard Webhooks, if one of their signatures fits.
 *
 * @param {string | Uint8Array} payload
 * @param {Reader} header
 * @param {string[]} secrets
 */
function standardTime(payload, header, secrets) {
  const [id, time] = [header('webhook-id'), header('webhook-timestamp')];
  if (!isTime(time)) return undefined;
  const sign = (/** @type {string} */ secret) => (
    `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${time}.`).update(payload).digest('base64')}`);
  return hasCommon(secrets.map(sign), header('webhook-signature').split(' ')) ? time : undefined;
}

/** @param {string} text */
function isTime(text) {
  return /^[0-9]{1,15}$/.test(text);
}

/**
 * Returns the key of Standard Webhooks: the bytes after the prefix, or the text where it has none.
 *
 * @param {string} secret
 */
function keyOf(secret) {
  if (!secret.startsWith(PREFIX)) return secret;
  const encoded = secret.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  return key.toString('base64') === encoded ? key : secret;
}

/**
 * Returns true if one of the given texts is wanted. Compares each pair in constant time.
 *
 * @param {string[]} wanted
 * @param {string[]} given
 */
function hasCommon(wanted, given) {
  let found = false;
  for (const one of wanted.map((text) => Buffer.from(text))) {
    for (const other of given.map((text) => Buffer.from(text))) {
      if (one.length === other.length && timingSafeEqual(one, other)) found = true;
    }
  }
  return found;
}

/** @param {string | Uint8Array} payload */
function eventOf(payload) {
  let event;
  try {
    event = JSON.parse(typeof payload === 'string' ? payload : Buffer.from(payload).toString('utf8'));
  } catch {
    // Reported below.
  }
  if (event === null || typeof event !== 'object' || Array.isArray(event)) {
    throw new SignatureError('the signature fits, but the body is not an event');
  }
  return event;
}

module.exports = { verify };
