// Tests of a shop with jest and its default settings.
//
//   npm install --save-dev ./coffer-client-*.tgz ./coffer-sandbox-[0-9]*.tgz jest       (files of a release)
//   npm install --save-optional ./coffer-sandbox-linux-x64-*.tgz
//   npx jest

'use strict';

const { ApiError, startCoffer } = require('coffer-sandbox');
const { Shop } = require('../node-test/shop.cjs');

let coffer;
let shop;
beforeEach(async () => {
  coffer = await startCoffer();
  shop = await new Shop({ ...coffer, key: coffer.keys.secretTest }).open();
  await coffer.account({ endpoints: [{ url: shop.url }] });
});
afterEach(async () => {
  shop?.close();
  await coffer?.stop();
});

test('an order is shipped when it is paid', async () => {
  const invoice = await shop.order('order-1', '20.00');
  expect(await coffer.pay(invoice)).toMatchObject({ status: 'confirmed', paid: true });
  await coffer.delivered();
  expect(shop.orders.get('order-1')).toBe('shipped');
});

test('what is refused is said', async () => {
  const refused = coffer.createInvoice({ amount: '0.00', currency: 'EUR' });
  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_request', field: 'amount' });
});

test('time that the test holds still does not hold the sandbox', async () => {
  jest.useFakeTimers();
  try {
    const invoice = await coffer.createInvoice({ amount: '20.00', currency: 'EUR' });
    expect((await coffer.pay(invoice)).paid).toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
