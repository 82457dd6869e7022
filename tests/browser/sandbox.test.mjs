// The activity page of the sandbox: events appear as they happen, and each button works.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });
beforeEach(() => coffer.control('POST', '/reset'));

/** Opens the page and waits until it is connected. */
async function open(options) {
  const page = await openPage(browser, `${coffer.url}/`, options);
  await page.getByText('Live', { exact: true }).waitFor();
  return page;
}

const entries = (page, kind) => page.locator(`.list [data-kind="${kind}"]`);

/** Waits until the newest entry contains this text. Entries arrive in order, so the list no longer moves then. */
const newest = (page, text) => page.locator('.list > li').first().filter({ hasText: text }).waitFor();

test('an invoice is paid, and its events and signed webhooks appear', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Receive them here' }).click();
  await page.locator('code', { hasText: '/sandbox/inbox/page' }).first().waitFor();
  await page.getByRole('button', { name: 'Make an invoice' }).click();
  await entries(page, 'event').filter({ hasText: 'invoice.created' }).waitFor();
  await page.getByRole('button', { name: 'Pay exact' }).click();
  await entries(page, 'event').filter({ hasText: 'invoice.confirmed' }).waitFor();
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  const webhook = entries(page, 'delivery').filter({ hasText: 'invoice.confirmed' });
  await webhook.locator('summary').click();
  await webhook.getByText('The signature verifies with').waitFor();
  assert.match(await webhook.locator('pre').first().textContent(), /X-Service-Signature: t=\d+,v1=[0-9a-f]{64}/);
  assert.match(await webhook.locator('pre').nth(1).textContent(), /"type": "invoice.confirmed"/);
  await checkPage(page, 'sandbox-paid');
  // A call by another client appears. The same call by the page itself does not.
  await coffer.test('GET', '/v1/balances');
  await entries(page, 'call').filter({ hasText: 'GET /v1/balances' }).waitFor();
  assert.equal(await entries(page, 'call').filter({ hasText: 'limit=20' }).count(), 0);
  await page.getByRole('button', { name: 'Webhooks', exact: true }).click();
  assert.equal(await page.locator('.list [data-kind="call"]:visible').count(), 0);
  await closePage(page);
});

for (const [name, status] of [['Pay under', 'Underpaid'], ['Pay over', 'Overpaid'], ['Pay late', 'Paid late']]) {
  test(`${name}: ${status}`, async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Make an invoice' }).click();
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator('.made .badge', { hasText: status }).waitFor();
    if (name === 'Pay under') {
      await page.getByRole('button', { name: 'Pay the rest' }).click();
      await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
    }
    await closePage(page);
  });
}

test('a payment is dropped, reorganised and confirmed again', async () => {
  const page = await open();
  await page.getByLabel('Coin', { exact: true }).selectOption('none yet');
  await page.getByLabel('Mode', { exact: true }).selectOption('live');
  await page.getByRole('button', { name: 'Make an invoice' }).click();
  await page.locator('.made .badge', { hasText: 'Created' }).waitFor();
  await page.getByRole('button', { name: 'Pay exact' }).click();
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await page.getByRole('button', { name: 'Reorganise' }).click();
  await page.locator('.made .badge', { hasText: 'Detected' }).waitFor();
  await page.getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await page.getByRole('button', { name: 'Drop the payment' }).click();
  await page.locator('.made .badge', { hasText: 'Failed' }).waitFor();
  await closePage(page);
});

test('clock advances, a call fails, and the sandbox is reset', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Make an invoice' }).click();
  await page.locator('.made .badge', { hasText: 'Awaiting payment' }).waitFor();
  await page.getByRole('button', { name: 'Advance an hour' }).click();
  await page.locator('.made .badge', { hasText: 'Expired' }).waitFor();
  await page.getByRole('button', { name: 'Stop the clock' }).click();
  await page.getByText('it stands still').waitFor();
  await page.getByLabel('Which call').selectOption('POST /v1/invoices');
  await page.getByLabel('How it fails').selectOption('503');
  await page.getByRole('button', { name: 'Fail the next call' }).click();
  await page.getByText('The next one of POST /v1/invoices will.').waitFor();
  const order = { amount: '20.00', currency: 'EUR' };
  assert.equal((await coffer.call('POST', '/v1/invoices', order, coffer.keys.secretTest)).status, 503);
  // The pattern includes the path, because an id can contain the digits 503, too.
  await entries(page, 'call').filter({ hasText: /\/v1\/invoices\s*503/ }).waitFor();
  await page.getByRole('button', { name: 'End all faults' }).click();
  await page.getByText('No call fails.').waitFor();
  await page.getByRole('button', { name: 'Reset the sandbox' }).click();
  await checkPage(page, 'sandbox-reset');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
  await page.getByText('There is none yet.').waitFor();
  assert.equal((await coffer.control('GET', '')).frozen, false);
  await closePage(page);
});

test('received data is escaped', async () => {
  const page = await open();
  const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const hostile = { description: markup, metadata: { [markup]: markup } };
  await coffer.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR', ...hostile });
  const part = encodeURIComponent(markup);
  await coffer.call('GET', `/v1/invoices/${part}?${part}`, undefined, markup.slice(0, 20));
  await newest(page, 'GET /v1/invoices/%3Cimg');
  for (const [kind, text] of [['call', 'POST /v1/invoices'], ['event', 'invoice.created']]) {
    const entry = entries(page, kind).filter({ hasText: text }).first();
    await entry.locator('summary').click();
    await entry.locator('pre').first().waitFor();
  }
  assert.equal(await page.locator('.list img, .list script').count(), 0);
  assert.equal(await page.title(), 'Coffer sandbox');
  assert.match(await entries(page, 'event').locator('pre').first().textContent(), /<img src=x/);
  await closePage(page);
});

test('oldest entry can be reached and opened', async () => {
  for (const viewport of [{ width: 1280, height: 800 }, { width: 320, height: 700 }]) {
    const page = await open({ viewport });
    for (let n = 0; n < 30; n += 1) await coffer.test('GET', '/v1/balances');
    const last = `/v1/customers/${viewport.width}`;
    await coffer.call('GET', last);
    await newest(page, last);
    const first = page.locator('.list > li').last();
    await first.locator('summary').click();
    await first.locator('.inside').waitFor();
    await closePage(page);
  }
});

test('page reconnects after being offline', async () => {
  const page = await open();
  await page.context().setOffline(true);
  await page.context().setOffline(false);
  await coffer.test('GET', '/v1/ledger');
  await entries(page, 'call').filter({ hasText: 'GET /v1/ledger' }).waitFor({ timeout: 20_000 });
  await page.context().close();
});

test('page shows keys and commands without JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/`, { javaScriptEnabled: false });
  assert.match(await page.locator('#lines').textContent(), new RegExp(`${coffer.url}/v1/invoices -H`));
  assert.ok(await page.locator('noscript p').isVisible());
  await page.context().close();
});

for (const [name, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  narrow: { viewport: { width: 320, height: 700 } },
})) {
  test(`page passes all checks: ${name}`, async () => {
    const page = await open(options);
    await checkPage(page, `sandbox-${name}-empty`);
    await page.getByRole('button', { name: 'Receive them here' }).click();
    await page.getByRole('button', { name: 'Make an invoice' }).click();
    await page.getByRole('button', { name: 'Pay exact' }).click();
    await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
    await entries(page, 'delivery').filter({ hasText: 'invoice.confirmed' }).first().waitFor();
    await checkPage(page, `sandbox-${name}`);
    await closePage(page);
  });
}
