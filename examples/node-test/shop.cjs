// The shop under test here, in ../vitest and in ../jest. It creates an invoice for an order, and ships the order when a
// webhook reports the payment. It knows Coffer's URL, a secret key and the webhook secret.

'use strict';

const { createServer } = require('node:http');
const { Client, verify } = require('coffer-client');

class Shop {
  /** What became of each order: open, shipped, or the status of its invoice. */
  orders = new Map();

  constructor({ url, key, webhookSecret }) {
    this.coffer = new Client(url, key);
    /** Does it take money? Test payments are worth nothing. */
    this.livemode = !key.startsWith('sk_test_');
    this.server = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      try {
        this.told(verify(Buffer.concat(parts), request.headers, webhookSecret));
        response.writeHead(204).end();
      } catch {
        response.writeHead(400).end();
      }
    });
  }

  /** Takes an order: what the customer has to pay, and where. The same order always gets the same invoice. */
  async order(number, price) {
    const invoice = await this.coffer.createInvoice({ amount: price, currency: 'EUR', orderId: number });
    this.orders.set(number, 'open');
    return invoice;
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
