// Invoices that are created by hand, in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, goTo, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('an invoice is created by hand in live and test mode', async () => {
  const page = await signIn(browser, coffer);
  for (const mode of ['Test', 'Live']) {
    await page.getByRole('button', { name: mode, exact: true }).click();
    await page.locator('#content:not([aria-busy])').waitFor();
    await goTo(page, '/invoices');
    await page.getByRole('link', { name: 'New invoice' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'New invoice' }).waitFor();
    if (mode === 'Live') await checkPageInAllModes(page, 'new-invoice');
    await page.getByLabel('Amount').fill('20');
    await page.getByLabel('Description').fill(HOSTILE);
    await page.getByLabel('Order ID').fill('order-7');
    await page.getByLabel('Payment window, in minutes').fill('x');
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await page.locator('.wrong:visible').waitFor();
    await page.getByLabel('Payment window, in minutes').fill('30');
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await page.getByRole('heading', { name: 'Send this link to the customer' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'created');
    const checkout = await page.locator('.secret code').textContent();
    if (mode === 'Live') await checkPageInAllModes(page, 'new-invoice-made');
    const payer = await openPage(browser, checkout);
    await payer.getByRole('heading', { level: 1, name: 'Pay 20.00 EUR' }).waitFor();
    await closePage(payer);
    await page.getByRole('link', { name: 'Open invoice' }).click();
    await page.getByRole('heading', { level: 1, name: /20\.00.*order-7/ }).waitFor();
  }
  await closePage(page, ['401']);
});
