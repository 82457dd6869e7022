// Tests of the example with Express: an order is paid by a real webhook, and by nothing else.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startCoffer } from 'coffer-sandbox';

const SHOP = process.env.COFFER_EXPRESS_SHOP ?? fileURLToPath(new URL('../express/shop.mjs', import.meta.url));

test('an order is paid by its own invoice only', async (t) => {
  const coffer = await startCoffer({ test: t });
  const shop = spawn(process.execPath, [SHOP], {
    env: {
      ...process.env, PORT: '0', COFFER_URL: coffer.url, COFFER_KEY: coffer.keys.secretTest,
      COFFER_WEBHOOK_SECRET: coffer.webhookSecret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => shop.kill());
  const [url] = await once(createInterface({ input: shop.stdout }), 'line');
  await coffer.account({ endpoints: [{ url: `${url}/webhooks` }] });
  const isPaid = async () => (await (await fetch(`${url}/orders/1001`)).json()).paid;

  // A live payment of the same order, and a forged webhook, pay nothing.
  await coffer.pay(await coffer.live.createInvoice({ amount: '20.00', currency: 'EUR', orderId: '1001' }));
  await coffer.delivered();
  const body = JSON.stringify({ livemode: false, data: { object: { object: 'invoice', orderId: '1001', paid: true } } });
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': `t=1,v1=${'0'.repeat(64)}` };
  assert.equal((await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status, 400);
  assert.equal((await fetch(`${url}/orders/1002/pay`, { method: 'POST' })).status, 500);
  assert.equal(await isPaid(), false);

  const answer = await fetch(`${url}/orders/1001/pay`, { method: 'POST', redirect: 'manual' });
  assert.equal(answer.status, 303);
  const invoices = [];
  for await (const invoice of coffer.listInvoices({ orderId: '1001' })) invoices.push(invoice);
  assert.equal(answer.headers.get('location'), invoices[0].checkoutUrl);
  await coffer.pay(invoices[0], { case: 'under' });
  await coffer.delivered();
  assert.equal(await isPaid(), false);
  await coffer.pay(invoices[0]);
  await coffer.delivered();
  assert.equal(await isPaid(), true);
});
