// The shop under test here, in ../vitest and in ../jest. It creates an invoice for an order, and ships the order when a
// webhook reports the payment. It knows Coffer's URL, a secret key and the webhook secret.

'use strict';

const { createHmac, timingSafeEqual } = require('node:crypto');
const { createServer } = require('node:http');

/** Does one of the signatures fit the raw body, and is it of now? */
function signatureFits(secret, header, body) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const at = parts.find(([name]) => name === 't')?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false;
  const wanted = createHmac('sha256', secret).update(`${at}.`).update(body).digest();
  const fits = (hex) => /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(Buffer.from(hex, 'hex'), wanted);
  return parts.some(([name, hex]) => name === 'v1' && fits(hex));
}

class Shop {
  /** What became of each order: open, shipped, or the status of its invoice. */
  orders = new Map();

  constructor({ url, key, webhookSecret }) {
    Object.assign(this, { coffer: url, key, webhookSecret });
    /** Does it take money? Test payments are worth nothing. */
    this.livemode = !key.startsWith('sk_test_');
    this.server = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      const body = Buffer.concat(parts);
      const fits = signatureFits(this.webhookSecret, request.headers['x-service-signature'], body);
      if (fits) this.told(JSON.parse(body));
      response.writeHead(fits ? 200 : 400).end();
    });
  }

  /** Takes an order: what the customer has to pay, and where. Where Coffer cannot be reached it is tried once more. */
  async order(number, price) {
    const create = () => fetch(`${this.coffer}/v1/invoices`, {
      method: 'POST',
      headers: { 'X-API-Key': this.key, 'Content-Type': 'application/json' },
      // The same order always gets the same invoice.
      body: JSON.stringify({ amount: price, currency: 'EUR', orderId: number }),
    });
    let answer = await create();
    if (answer.status === 503) answer = await create();
    if (!answer.ok) throw new Error(`no invoice: ${answer.status}`);
    this.orders.set(number, 'open');
    return answer.json();
  }

  /**
   * Events can come twice and out of order: what is shipped stays shipped, whatever an older one says. What has expired is
   * shipped where it turns out to be paid. An endpoint can be told of both modes, which have order ids of their own.
   */
  told({ livemode, data: { object } }) {
    if (livemode !== this.livemode || object.object !== 'invoice') return;
    const state = this.orders.get(object.orderId);
    if (state === undefined || state === 'shipped') return;
    if (object.paid) this.orders.set(object.orderId, 'shipped');
    else if (object.status === 'expired') this.orders.set(object.orderId, 'expired');
  }

  async open() {
    await new Promise((resolve) => { this.server.listen(0, '127.0.0.1', resolve); });
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
    return this;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

module.exports = { Shop };
