// Tests of a shop with vitest. `coffer` is a fixture, which a test gets by naming it. The tests can run concurrently.
//
//   npm install --save-dev ./coffer-client-*.tgz ./coffer-sandbox-[0-9]*.tgz vitest       (files of a release)
//   npm install --save-optional ./coffer-sandbox-linux-x64-*.tgz
//   npx vitest run

import { startCoffer } from 'coffer-sandbox';
import { test as base, describe, expect } from 'vitest';
import { Shop } from '../node-test/shop.cjs';

const test = base.extend({
  // It stops at the end of the test. A test that fails shows its log.
  coffer: async ({ onTestFailed, onTestFinished }, use) => {
    await use(await startCoffer({ test: { onTestFailed, onTestFinished } }));
  },
  shop: async ({ coffer }, use) => {
    const shop = await new Shop({ ...coffer, key: coffer.keys.secretTest }).open();
    await coffer.account({ endpoints: [{ url: shop.url }] });
    await use(shop);
    shop.close();
  },
});

describe.concurrent('a shop', () => {
  test('ships an order when it is paid', async ({ coffer, shop }) => {
    const invoice = await shop.order('order-1', '20.00');
    expect(await coffer.pay(invoice)).toMatchObject({ status: 'confirmed', paid: true, orderId: 'order-1' });
    await coffer.delivered();
    expect(shop.orders.get('order-1')).toBe('shipped');
  });

  test('does not ship what is paid too late', async ({ coffer, shop }) => {
    const invoice = await shop.order('order-1', '20.00');
    expect((await coffer.pay(invoice, { case: 'late' })).status).toBe('paid_late');
    await coffer.delivered();
    expect(shop.orders.get('order-1')).toBe('expired');
  });

  test('is sent what a webhook needs', async ({ coffer, shop }) => {
    // A separate receiver beside that of the shop.
    const receiver = await coffer.receiver();
    const invoice = await shop.order('order-1', '20.00');
    await coffer.pay(invoice);
    const { event } = await receiver.next('invoice.confirmed', { about: invoice });
    expect(event.data.object.orderId).toBe('order-1');
  });
});
