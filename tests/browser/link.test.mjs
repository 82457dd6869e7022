// Payment links in a real browser, as payers see them: the page, its limits, the created invoice, and the printable QR
// code, which is for merchants.

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

test('the QR code to print is not offered to the payer', async () => {
  const { url } = await link({ name: 'A coffee', amount: '3.50' });
  const page = await openPage(browser, url);
  await page.getByRole('button', { name: 'Go to payment' }).waitFor();
  assert.equal(await page.locator('main a').count(), 0);
  await closePage(page);
});

test('print contains only the QR code', async () => {
  const { url } = await link({ name: 'A coffee', amount: '3.50' });
  const page = await openPage(browser, `${url}/qr`);
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

const HOUR_MS = 3600 * 1000;

test('an expired link says so, and takes no payment from a page that was open before', async () => {
  const { time } = await coffer.control('GET', '');
  const { url } = await link({
    name: 'A coffee', amount: '3.50', expiresAt: new Date(Date.parse(time) + HOUR_MS).toISOString(),
  });
  const page = await openPage(browser, url, PHONE);
  await page.getByText(/^Pay until \d{4}-\d\d-\d\d \d\d:\d\d UTC$/).waitFor();
  await checkPage(page, 'link_until');
  await coffer.control('POST', '/clock', { advance: '1h' });
  await page.getByRole('button', { name: 'Go to payment' }).click();
  await heading(page, 'This link has expired');
  await page.reload();
  await page.goto(url);
  await heading(page, 'This link has expired');
  assert.equal(await page.getByRole('button').count(), 0);
  await checkPage(page, 'link_expired');
  await page.emulateMedia({ colorScheme: 'dark' });
  await checkPage(page, 'link_expired_dark');
  await page.getByRole('link', { name: 'Deutsch' }).click();
  await heading(page, 'Dieser Link ist abgelaufen');
  await closePage(page, ['409 (Conflict)']);
});

test('two payers pay the last use at once: both are paid, and the link is used up', async () => {
  const { id, url } = await link({
    name: 'A ticket', amount: '3.50', paidUsesMax: 1, redirectUrl: 'https://shop.example/thanks',
  });
  const pages = await Promise.all([openPage(browser, url), openPage(browser, url)]);
  await Promise.all(pages.map(async (page) => {
    await page.getByRole('button', { name: 'Go to payment' }).click();
    await page.getByRole('button', { name: /LTC/ }).click();
    await page.getByRole('button', { name: 'Pay exactly' }).waitFor();
  }));
  await Promise.all(pages.map((page) => page.getByRole('button', { name: 'Pay exactly' }).click()));
  for (const page of pages) {
    await heading(page, 'Paid');
    assert.equal(await page.locator('a[href="https://shop.example/thanks"]').count(), 1);
    await closePage(page);
  }
  const page = await openPage(browser, url);
  await heading(page, 'This link is used up');
  await checkPage(page, 'link_used_up');
  await closePage(page);
  const { id: account } = await coffer.test('GET', '/v1/merchant');
  const path = `${coffer.url}/dashboard/api/accounts/${account}/payment-links/${id}?mode=test`;
  const { paidUses, state } = await (await fetch(path, { headers: { cookie } })).json();
  assert.deepEqual({ paidUses, state }, { paidUses: 2, state: 'used_up' });
});
