// A form that verifies the signature of a webhook.
//
// Invariant: body, headers and secret stay in the browser.

import { form } from '../shared/api.js';
import { fill, h } from '../shared/dom.js';
import { hmac, toHex } from '../shared/hmac.js';
import { head, tabs } from './list.js';
import { nextToVerify, webhookTabs } from './webhook_pages.js';

/** Maximum difference between a signature's time and now, in seconds. Receivers check the same. */
const TOLERANCE_SECONDS = 300;

export async function show() {
  const { body, headers } = nextToVerify;
  Object.assign(nextToVerify, { body: '', headers: '' });
  const result = h('div', { role: 'status' });
  return h(
    'div',
    { class: 'page' },
    head('Verify signature', 'Paste a webhook that your shop received. Your browser verifies it and sends nothing.'),
    tabs('Webhooks', webhookTabs),
    h(
      'div',
      { class: 'card' },
      form({
        fields: [
          { name: 'body', label: 'Body, exactly as received', type: 'textarea', rows: 6, required: true, value: body },
          {
            name: 'headers',
            label: 'Headers',
            type: 'textarea',
            rows: 4,
            required: true,
            value: headers,
            hint: 'One per line: X-Service-Signature, or webhook-id, webhook-timestamp and webhook-signature.',
          },
          {
            name: 'secret',
            label: 'Secret',
            required: true,
            hint: 'The endpoint’s signing secret, or the legacy secret for the webhookUrl of an invoice.',
          },
        ],
        submit: 'Verify signature',
        send: async (values) => {
          const checked = await verify(values.body, values.headers, values.secret);
          fill(
            result,
            h(
              'div',
              { class: `note ${checked.fits ? 'good' : 'bad'}` },
              h(
                'p',
                null,
                h('strong', null, checked.fits ? 'The signature is valid. ' : 'The signature is not valid. '),
                checked.text,
              ),
            ),
          );
        },
      }),
      result,
    ),
  );
}

/**
 * Verifies a signature.
 * @param {string} body
 * @param {string} headers
 * @param {string} secret
 * @returns {Promise<{ fits: boolean, text: string }>}
 */
export async function verify(body, headers, secret) {
  if (!globalThis.crypto?.subtle) {
    throw new Error(
      'This browser cannot compute signatures on a plain http page. Open the page by https or at localhost.',
    );
  }
  /** @type {Map<string, string>} */
  const named = new Map();
  for (const line of headers.split('\n')) {
    const [name, ...rest] = line.split(':');
    if (name && rest.length > 0) named.set(name.trim().toLowerCase(), rest.join(':').trim());
    else if (/^t=\d+,/.test(line.trim())) named.set('x-service-signature', line.trim());
  }
  const own = named.get('x-service-signature');
  if (own) {
    const parts = own.split(',').map((part) => part.trim());
    const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? '';
    const made = await hmac(new TextEncoder().encode(secret), `${time}.${body}`);
    return verdict(parts.includes(`v1=${toHex(made)}`), time);
  }
  const [id, time, sent] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => named.get(name));
  if (!id || !time || !sent)
    throw new Error('Headers must contain X-Service-Signature, or webhook-id, webhook-timestamp and webhook-signature.');
  let key = new TextEncoder().encode(secret);
  if (secret.startsWith('whsec_')) {
    try {
      key = Uint8Array.from(atob(secret.slice('whsec_'.length)), (one) => one.charCodeAt(0));
    } catch {
      throw new Error('Secret must be base64 after whsec_.');
    }
  }
  const made = btoa(String.fromCharCode(...(await hmac(key, `${id}.${time}.${body}`))));
  return verdict(sent.split(' ').includes(`v1,${made}`), time);
}

/** @param {boolean} fits @param {string} time */
function verdict(fits, time) {
  if (!fits) {
    return {
      fits,
      text:
        'The secret is different, or the body was changed. One space or another order of fields is enough.',
    };
  }
  const age = Math.abs(Date.now() / 1000 - Number(time));
  return {
    fits,
    text:
      age > TOLERANCE_SECONDS
        ? 'Its timestamp differs from now by more than five minutes, so a receiver rejects it.'
        : 'Its timestamp is within five minutes.',
  };
}
