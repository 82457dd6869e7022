// A small shop that uses Coffer: a page with the widget, and a webhook receiver that ships paid orders.
//
//   node examples/shop/shop.mjs
//
// Starts the shop at 127.0.0.1:3000 (or PORT) and a Coffer sandbox: `coffer` of your PATH, or the program that
// COFFER_BINARY names. It needs only Node 18.18 or newer. Orders are kept in memory.
//
// Invariant: the price comes from this server, never from the browser. Only a webhook with a valid signature makes an
// order paid.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
// In your own shop: `verify` from 'coffer-client'.
import { startCoffer, verify } from '../../src/packages/npm/coffer-sandbox/index.js';

const PRODUCTS = {
  beans: { name: 'Coffee beans, 1 kg', price: '18.50' },
  mug: { name: 'A mug', price: '9.90' },
};
/** Its orders are paid with test payments. A shop that takes money has a live key, and `true` here. */
const LIVEMODE = false;
const BODY_BYTES_MAX = 1024 * 1024;

const file = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const FILES = {
  '/': ['text/html; charset=utf-8', file('shop.html')],
  '/shop.js': ['text/javascript; charset=utf-8', file('shop.js')],
  '/shop.css': ['text/css; charset=utf-8', file('shop.css')],
};

const coffer = await startCoffer();
/** Orders by their number, which the invoice carries as its orderId. */
const orders = new Map();

async function bodyOf(request) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Makes an order and its invoice; the page needs no more than the invoice's id. */
async function buy(request) {
  const { product } = JSON.parse(await bodyOf(request));
  if (!Object.hasOwn(PRODUCTS, product)) return [404, { message: 'no such product' }];
  const { name, price } = PRODUCTS[product];
  const order = { number: randomUUID(), name, status: 'open' };
  // Stored before the invoice is created, because its first webhook can arrive before the response.
  orders.set(order.number, order);
  const invoice = await coffer.createInvoice({
    amount: price, currency: 'EUR', orderId: order.number, description: name, redirectUrl: url,
  });
  return [201, { order: order.number, invoice: invoice.id, publicKey: coffer.keys.publicTest }];
}

/**
 * Takes a webhook. The same event may come twice, and an older one after a newer: what it does is the same the second
 * time, and what was paid stays so. The endpoint is told of both modes, in each of which an order can have an invoice.
 */
async function receive(request) {
  const { livemode, data: { object } } = verify(await bodyOf(request), request.headers, coffer.webhookSecret);
  const order = livemode === LIVEMODE && object.object === 'invoice' ? orders.get(object.orderId) : undefined;
  if (order && order.status !== 'paid') order.status = object.paid ? 'paid' : object.status;
  return [200, {}];
}

async function answer(request) {
  const { method, url: path } = request;
  if (method === 'POST' && path === '/orders') return buy(request);
  if (method === 'POST' && path === '/webhooks') return receive(request);
  const order = method === 'GET' && orders.get(path.replace(/^\/orders\//, ''));
  return order ? [200, order] : [404, { message: 'not found' }];
}

const server = createServer(async (request, response) => {
  const [type, text] = (request.method === 'GET' && FILES[request.url]) || [];
  if (text) {
    response.writeHead(200, { 'Content-Type': type }).end(text.replaceAll('{{service}}', coffer.url));
    return;
  }
  const [status, body] = await answer(request).catch((error) => [400, { message: error.message }]);
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});
await new Promise((resolve) => { server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', resolve); });
const url = `http://127.0.0.1:${server.address().port}/`;
await coffer.account({ endpoints: [{ url: `${url}webhooks` }] });
console.log(`the shop is at ${url}, its Coffer at ${coffer.url}`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close();
    server.closeAllConnections();
    await coffer.stop();
  });
}
