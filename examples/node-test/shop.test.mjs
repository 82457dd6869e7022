// Tests of a shop with node:test: a paid order is shipped, an order expires, and Coffer is unreachable.
//
//   npm install --save-dev ./coffer-client-*.tgz ./coffer-sandbox-[0-9]*.tgz       (files of a release)
//   npm install --save-optional ./coffer-sandbox-linux-x64-*.tgz
//   node --test shop.test.mjs

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { startCoffer } from 'coffer-sandbox';
import { Shop } from './shop.cjs';

// A sandbox for each test. It starts in milliseconds, so tests need not share one.
let coffer;
let shop;
beforeEach(async (t) => {
  // It stops at the end of the test. A test that fails shows its log.
  coffer = await startCoffer({ test: t });
  await openShop(coffer.keys.secretTest);
});
/** Opens the shop with this key, in the place of one that is open. */
async function openShop(key) {
  shop?.close();
  shop = await new Shop({ ...coffer, key }).open();
  await coffer.account({ endpoints: [{ url: shop.url }] });
}
afterEach(() => shop?.close());

test('an order is shipped when it is paid', async () => {
  const invoice = await shop.order('order-1', '20.00');
  await coffer.payments.under(invoice);
  await coffer.delivered();
  assert.equal(shop.orders.get('order-1'), 'open');
  // The remaining half.
  assert.equal((await coffer.pay(invoice)).status, 'confirmed');
  await coffer.delivered();
  assert.equal(shop.orders.get('order-1'), 'shipped');
});

test('nobody pays', async () => {
  const invoice = await shop.order('order-1', '20.00');
  // All work that becomes due while the clock is advanced is done when this call returns. The test does not sleep.
  await coffer.clock.advance('20m');
  assert.equal((await coffer.getInvoice(invoice)).status, 'expired');
  assert.equal(shop.orders.get('order-1'), 'expired');
});

test('an expired order is shipped when it turns out to have been paid in time', async () => {
  await openShop(coffer.keys.secretLive);
  const chain = 'litecoin';
  await coffer.request('PATCH', '/sandbox/chains/{chain}', { params: { chain }, body: { lagging: true } });
  const invoice = await shop.order('order-1', '20.00');
  await coffer.live.selectCoin(invoice, { asset: 'LTC' });
  const seenAt = (await coffer.clock.get()).toISOString();
  // Coffer waits for a chain that lags, but only for a limited time.
  await coffer.clock.advance('6h20m');
  assert.equal(shop.orders.get('order-1'), 'expired');
  await coffer.payments.confirm(await coffer.payments.see({ invoice: invoice.id, seenAt }));
  await coffer.delivered();
  assert.equal(shop.orders.get('order-1'), 'shipped');
});

test('a test payment ships nothing of a shop that takes money', async () => {
  await openShop(coffer.keys.secretLive);
  await shop.order('order-1', '20.00');
  // An order id identifies one invoice in each mode, and the endpoint gets events of both modes.
  await coffer.pay(await coffer.createInvoice({ amount: '1.00', currency: 'EUR', orderId: 'order-1' }));
  await coffer.delivered();
  assert.equal(shop.orders.get('order-1'), 'open');
});

test('Coffer cannot be reached for a moment', async () => {
  await coffer.faults.dropAnswer('POST /v1/invoices', 2);
  assert.equal((await shop.order('order-1', '20.00')).status, 'created');
  assert.equal((await coffer.state()).counts.invoices, 1);
  await coffer.faults.refuse('POST /v1/invoices', 500);
  await assert.rejects(shop.order('order-2', '20.00'), { name: 'ApiError', status: 500 });
  assert.equal(shop.orders.get('order-2'), undefined);
});

test('eight at once do not meet', async () => {
  const sandboxes = await Promise.all(Array.from({ length: 8 }, () => startCoffer()));
  try {
    assert.equal(new Set(sandboxes.map(({ url }) => url)).size, 8);
    const counts = await Promise.all(sandboxes.map(async (sandbox, number) => {
      for (let count = 0; count <= number; count += 1) {
        // All tests use the same order ids. In a shared sandbox they would be one order.
        await sandbox.createInvoice({ amount: '20.00', currency: 'EUR', orderId: `order-${count}` });
      }
      await sandbox.clock.advance(`${number}h`);
      return (await sandbox.state()).counts.invoices;
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
    await sandbox.createInvoice({ amount: '20.00', currency: 'EUR' });
    tookMs.push(performance.now() - begun);
    await sandbox.stop();
  }
  tookMs.sort((a, b) => a - b);
  t.diagnostic(`exec to first created invoice, median of 20: ${((tookMs[9] + tookMs[10]) / 2).toFixed(1)} ms`);
});
