// The checkout in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, looked, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('an invoice is paid exactly', async () => {
  const invoice = await coffer.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR' });
  const page = await openPage(browser, invoice.checkoutUrl);
  await page.getByRole('button', { name: /Litecoin/ }).click();
  await page.getByRole('heading', { name: /^Send 0\.25 LTC/ }).waitFor();
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  await page.reload();
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Paid');
  await looked(page, 'paid');
  await closePage(page);
});
