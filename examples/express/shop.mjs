// A shop with Express: an order gets an invoice, and is paid when a webhook of Coffer says so.
//
//   npm install express ./coffer-client-[0-9]*.tgz
//   COFFER_URL=… COFFER_KEY=sk_… COFFER_WEBHOOK_SECRET=whsec_… node shop.mjs

import { Client, verify } from 'coffer-client';
import express from 'express';

const { COFFER_URL, COFFER_KEY, COFFER_WEBHOOK_SECRET, PORT = '3000' } = process.env;
const coffer = new Client(COFFER_URL, COFFER_KEY);
const { livemode } = await coffer.getMerchant();
const orders = new Map([['1001', { amount: '20.00', currency: 'EUR', paid: false }]]);
const app = express();

app.post('/orders/:number/pay', async ({ params: { number } }, response) => {
  const { amount, currency } = orders.get(number);
  const invoice = await coffer.createInvoice({ amount, currency, orderId: number });
  response.redirect(303, invoice.checkoutUrl);
});

app.post('/webhooks', express.raw({ type: 'application/json' }), ({ body, headers }, response) => {
  const { livemode: isLive, data: { object } } = verify(body, headers, COFFER_WEBHOOK_SECRET);
  const order = isLive === livemode && object.object === 'invoice' ? orders.get(object.orderId) : undefined;
  if (order && object.paid && object.amount === order.amount && object.currency === order.currency) order.paid = true;
  response.sendStatus(204);
});

app.get('/orders/:number', ({ params: { number } }, response) => response.json(orders.get(number)));

// A wrong signature is 400, any other error 500, without details.
app.use((error, request, response, next) => response.sendStatus(error.name === 'SignatureError' ? 400 : 500));

const server = app.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
