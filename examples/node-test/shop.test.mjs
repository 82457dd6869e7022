// What a shop's tests look like: an invoice is paid, the webhook comes and its signature fits; time passes.
// Run it with: node --test shop.test.mjs

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { startCoffer } from './coffer.mjs';

const ORDER = { amount: '20.00', currency: 'EUR', asset: 'LTC', orderId: 'order-1' };

// A sandbox for each test. It starts in milliseconds, so there is no need to share one.
let coffer;
beforeEach(async () => { coffer = await startCoffer(); });
afterEach(() => coffer.stop());

/** Does one of the signatures fit the raw body? A receiver also refuses a time that is far from its own. */
function signatureFits(secret, { headers, body }) {
  const parts = headers['x-service-signature'].split(',').map((part) => part.split('='));
  const [, at] = parts.find(([name]) => name === 't');
  const wanted = createHmac('sha256', secret).update(`${at}.${body}`).digest();
  const fits = (hex) => hex.length === 64 && timingSafeEqual(Buffer.from(hex, 'hex'), wanted);
  return parts.some(([name, text]) => name === 'v1' && fits(text));
}

test('a payment is told', async () => {
  // The sandbox receives webhooks itself, so a test needs no server of its own.
  await coffer.control('PATCH', '/account', { endpoints: [{ url: `${coffer.url}/sandbox/inbox/shop` }] });
  const invoice = await coffer.test('POST', '/v1/invoices', ORDER);
  const payment = await coffer.control('POST', '/payments', { invoice: invoice.id });
  await coffer.control('POST', `/payments/${payment.id}`, { state: 'confirmed' });
  assert.equal((await coffer.test('GET', `/v1/invoices/${invoice.id}`)).paid, true);
  const { data: [message] } = await coffer.control('GET', '/inbox/shop?type=invoice.confirmed&wait=30s');
  assert.ok(signatureFits(coffer.webhookSecret, message));
  const { id, orderId, paid } = JSON.parse(message.body).data.object;
  assert.deepEqual({ id, orderId, paid }, { id: invoice.id, orderId: 'order-1', paid: true });
});

test('nobody pays', async () => {
  const invoice = await coffer.test('POST', '/v1/invoices', ORDER);
  // The clock is moved, and all that falls due on the way is done when this answers: nothing sleeps.
  await coffer.control('POST', '/clock', { advance: '20m' });
  assert.equal((await coffer.test('GET', `/v1/invoices/${invoice.id}`)).status, 'expired');
});

test('Coffer cannot be reached for a moment', async () => {
  await coffer.control('POST', '/faults', { route: 'POST /v1/invoices', status: 503, times: 1 });
  const create = () => coffer.call('POST', '/v1/invoices', ORDER, coffer.keys.secretTest);
  const refused = await create();
  assert.deepEqual([refused.status, refused.json.error], [503, 'maintenance']);
  assert.equal((await create()).status, 201);
});

test('eight at once do not meet', async () => {
  const sandboxes = await Promise.all(Array.from({ length: 8 }, startCoffer));
  try {
    assert.equal(new Set(sandboxes.map(({ url }) => url)).size, 8);
    const counts = await Promise.all(sandboxes.map(async (sandbox, number) => {
      for (let count = 0; count <= number; count += 1) {
        // The same order ids everywhere: in one and the same service they would be one order.
        await sandbox.test('POST', '/v1/invoices', { ...ORDER, orderId: `order-${count}` });
      }
      await sandbox.control('POST', '/clock', { advance: `${number}h` });
      return (await sandbox.test('GET', '/v1/invoices')).data.length;
    }));
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8]);
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.stop()));
  }
});

test('how long a start takes', async (t) => {
  const tookMs = [];
  for (let round = 0; round < 20; round += 1) {
    const begun = performance.now();
    const sandbox = await startCoffer();
    await sandbox.test('POST', '/v1/invoices', ORDER);
    tookMs.push(performance.now() - begun);
    await sandbox.stop();
  }
  tookMs.sort((a, b) => a - b);
  t.diagnostic(`exec to first created invoice, median of 20: ${((tookMs[9] + tookMs[10]) / 2).toFixed(1)} ms`);
});
