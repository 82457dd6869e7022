// Payment links in a real browser: the page, the created invoice, and the printable QR code.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, takePicture, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
let cookie;
before(async () => {
  [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]);
  const signedIn = await fetch(`${coffer.url}/dashboard/api/session`, {
    method: 'POST', body: JSON.stringify({ email: 'operator@sandbox.test', password: 'sandbox' }),
  });
  cookie = signedIn.headers.get('set-cookie').split(';')[0];
});
after(async () => { await browser?.close(); await coffer?.stop(); });

const PHONE = { viewport: { width: 390, height: 844 } };
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();

async function link(body) {
  const { id } = await coffer.test('GET', '/v1/merchant');
  const made = await fetch(`${coffer.url}/dashboard/api/accounts/${id}/payment-links?mode=test`, {
    method: 'POST', headers: { cookie }, body: JSON.stringify({ currency: 'EUR', ...body }),
  });
  assert.equal(made.status, 201);
  return made.json();
}

test('a link with a price leads to its checkout, and keeps the language', async () => {
  const { url } = await link({ name: 'A coffee', amount: '3.50', description: 'Hot and strong' });
  const page = await openPage(browser, url, PHONE);
  await heading(page, 'A coffee');
  await checkPage(page, 'link');
  await page.emulateMedia({ colorScheme: 'dark' });
  await checkPage(page, 'link_dark');
  await page.getByRole('link', { name: 'Deutsch' }).click();
  await page.getByText('3,50 EUR').waitFor();
  await page.getByRole('button', { name: 'Weiter zur Zahlung' }).click();
  await heading(page, '3,50 EUR bezahlen');
  await closePage(page);
});

test('payer enters an open price, and an invalid one shows an error', async () => {
  const { url } = await link({ name: 'A gift' });
  const page = await openPage(browser, url, { viewport: { width: 320, height: 640 } });
  await page.getByLabel('Amount in EUR').fill('much');
  await page.getByRole('button', { name: 'Go to payment' }).click();
  await page.getByRole('alert').waitFor();
  await checkPage(page, 'link_problem');
  await page.getByLabel('Amount in EUR').fill('12,50');
  await page.getByRole('button', { name: 'Go to payment' }).click();
  await heading(page, 'Pay 12.50 EUR');
  await closePage(page, ['400 (Bad Request)']);
});

test('print contains only the QR code', async () => {
  const { url } = await link({ name: 'A coffee', amount: '3.50' });
  const page = await openPage(browser, url);
  await page.getByRole('link', { name: 'QR code to print' }).click();
  await page.getByRole('img', { name: /^Scan to pay/ }).waitFor();
  await page.evaluate(() => { window.print = () => { document.title = 'printed'; }; });
  await page.getByRole('button', { name: 'Print this page' }).click();
  assert.equal(await page.title(), 'printed');
  await checkPage(page, 'link_code');
  await page.emulateMedia({ media: 'print' });
  assert.deepEqual(await page.locator('footer:visible, button:visible').count(), 0);
  await page.getByText('No real money is paid here.').waitFor();
  await takePicture(page, 'link_code_on_paper');
  await page.emulateMedia({ media: 'screen' });
  const [saved] = await Promise.all([
    page.waitForEvent('download'), page.getByRole('link', { name: 'Save as a picture' }).click(),
  ]);
  assert.equal(saved.suggestedFilename(), 'payment-link.svg');
  await page.getByRole('link', { name: 'Open the page' }).click();
  await page.getByRole('button', { name: 'Go to payment' }).waitFor();
  await closePage(page);
});
