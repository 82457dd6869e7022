// The activity page of the sandbox: events appear as they happen, and each button works.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, beforeEach, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { goTo, signIn } from './operator_pages.mjs';

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
  await page.getByRole('button', { name: 'Receive webhooks here' }).click();
  await page.locator('code', { hasText: '/sandbox/inbox/page' }).first().waitFor();
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await entries(page, 'event').filter({ hasText: 'invoice.created' }).waitFor();
  await page.getByRole('button', { name: 'Pay exactly' }).click();
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

for (const [name, status] of [['Pay half', 'Underpaid'], ['Pay double', 'Overpaid'], ['Pay late', 'Paid late']]) {
  test(`${name}: ${status}`, async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator('.made .badge', { hasText: status }).waitFor();
    if (name === 'Pay half') {
      await page.getByRole('button', { name: 'Pay the rest' }).click();
      await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
    }
    await closePage(page);
  });
}

test('a payment is orphaned, confirmed again, dropped and restored', async () => {
  const page = await open();
  await page.getByLabel('Coin', { exact: true }).selectOption('none yet');
  await page.getByLabel('Mode', { exact: true }).selectOption('live');
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.locator('.made .badge', { hasText: 'Created' }).waitFor();
  await page.getByRole('button', { name: 'Pay exactly' }).click();
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await page.getByRole('button', { name: 'Orphan payment' }).click();
  await page.locator('.made .badge', { hasText: 'Detected' }).waitFor();
  await page.getByRole('button', { name: 'Confirm payment' }).click();
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await page.getByRole('button', { name: 'Drop payment' }).click();
  await page.locator('.made .badge', { hasText: 'Failed' }).waitFor();
  await page.getByRole('button', { name: 'Restore payment' }).click();
  await page.locator('.made .badge', { hasText: 'Detected' }).waitFor();
  await closePage(page);
});

test('clock advances, a call fails, and the sandbox is reset', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.locator('.made .badge', { hasText: 'Awaiting payment' }).waitFor();
  await page.getByRole('button', { name: 'Advance 1 hour' }).click();
  await page.locator('.made .badge', { hasText: 'Expired' }).waitFor();
  await page.getByRole('button', { name: 'Stop clock' }).click();
  await page.getByText(', stopped').waitFor();
  await page.getByLabel('Call', { exact: true }).selectOption('POST /v1/invoices');
  await page.getByLabel('Fault', { exact: true }).selectOption('503');
  await page.getByRole('button', { name: 'Fail next call' }).click();
  await page.getByText('POST /v1/invoices: the next one will fail.').waitFor();
  const order = { amount: '20.00', currency: 'EUR' };
  assert.equal((await coffer.call('POST', '/v1/invoices', order, coffer.keys.secretTest)).status, 503);
  // The pattern includes the path, because an id can contain the digits 503, too.
  await entries(page, 'call').filter({ hasText: /\/v1\/invoices\s*503/ }).waitFor();
  await page.getByRole('button', { name: 'End all faults' }).click();
  await page.getByText('No faults.').waitFor();
  await page.getByRole('button', { name: 'Reset sandbox' }).click();
  await checkPage(page, 'sandbox-reset');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset sandbox' }).click();
  await page.getByText('No invoices yet.').waitFor();
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

/** Waits until the page says that the sandbox began anew, and shows nothing from before. */
async function waitUntilAnew(page, text) {
  await entries(page, 'run').filter({ hasText: text }).waitFor();
  await page.getByText('No invoices yet.').waitFor();
  assert.equal(await page.locator('.list').getByText('invoice.created').count(), 0);
}

test('page begins anew after a reset by another client', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await entries(page, 'event').filter({ hasText: 'invoice.created' }).waitFor();
  await page.locator('.made .badge', { hasText: 'Awaiting payment' }).waitFor();
  await coffer.control('POST', '/reset');
  await waitUntilAnew(page, 'The sandbox was reset.');
  // The page continues.
  await coffer.test('GET', '/v1/ledger');
  await entries(page, 'call').filter({ hasText: 'GET /v1/ledger' }).waitFor();
  await closePage(page);
});

test('page says once that the sandbox is away, and begins anew when it was started again', async () => {
  const first = await startCoffer();
  const page = await openPage(browser, `${first.url}/`);
  let second;
  try {
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await entries(page, 'event').filter({ hasText: 'invoice.created' }).waitFor();
    await first.stop();
    await page.getByText('No connection to the sandbox.').waitFor();
    await page.getByRole('button', { name: 'Advance 1 hour' }).click();
    await page.locator('button[aria-busy]').waitFor({ state: 'detached' });
    assert.equal(await page.getByText('No connection').count(), 1);
    assert.equal(await page.locator('.toast').count(), 0);
    await checkPage(page, 'sandbox-away');
    second = await startCoffer({ args: ['--listen', new URL(first.url).host] });
    // The new sandbox has more activity than the old one, so a last id of the old one would skip some.
    for (let n = 0; n < 20; n += 1) await second.test('GET', '/v1/balances');
    await waitUntilAnew(page, 'The sandbox was started again.');
    await page.getByText('No connection to the sandbox.').waitFor({ state: 'detached' });
    await second.test('GET', '/v1/ledger');
    await entries(page, 'call').filter({ hasText: 'GET /v1/ledger' }).waitFor();
    assert.equal(await entries(page, 'call').filter({ hasText: 'GET /v1/balances' }).count(), 20);
    await closePage(page, ['ERR_CONNECTION_REFUSED', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_EMPTY_RESPONSE', 'ERR_CONNECTION_RESET']);
  } finally {
    await second?.stop();
  }
});

/** Returns the steps of a run as `class: text`. */
const steps = (page) => page.locator('.steps.run li').evaluateAll((all) => (
  all.map((one) => `${one.className}: ${one.textContent.replace('\u00a0', ' ')}`)));

test('Run a payment plays a payment with its confirmations and webhooks', async () => {
  const page = await open();
  const begun = performance.now();
  await page.getByRole('button', { name: 'Run a payment' }).click();
  await page.locator('.steps.run').getByText('1 of 3 confirmations').waitFor();
  const [checkout] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'Open checkout' }).click(),
  ]);
  await checkout.getByText(/1 of 3/).waitFor();
  // A hidden page would wait for its turn.
  await page.bringToFront();
  await checkPage(page, 'sandbox-running');
  await page.locator('.steps.run li.good', { hasText: 'Paid' }).waitFor();
  const seconds = (performance.now() - begun) / 1000;
  assert.ok(seconds > 8, `${seconds} s`);
  assert.deepEqual(await steps(page), [
    'good: Invoice created 20.00 EUR', 'good: Coin picked 0.25 LTC', 'good: Payment seen in the mempool',
    'good: Confirming 3 confirmations', 'good: Paid Ship the order when your webhook says so.',
  ]);
  await checkout.getByRole('heading', { name: /paid|received/i }).waitFor();
  for (const type of ['created', 'detected', 'confirmed']) {
    await entries(page, 'event').filter({ hasText: `invoice.${type}` }).waitFor();
    await entries(page, 'delivery').filter({ hasText: `invoice.${type}` }).waitFor();
  }
  assert.equal(await entries(page, 'call').filter({ hasText: 'POST /sandbox/payments/' }).count(), 3);
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await checkPage(page, 'sandbox-run');
  await checkout.close();
  await closePage(page);
});

test('a reset ends a run, and two pages run one payment each', async () => {
  const [page, other] = [await open(), await open()];
  for (const one of [page, other]) await one.getByRole('button', { name: 'Run a payment' }).click();
  await page.locator('.steps.run li.now', { hasText: 'Payment seen' }).waitFor();
  await coffer.control('POST', '/reset');
  for (const one of [page, other]) await waitUntilAnew(one, 'The sandbox was reset.');
  for (const one of [page, other]) {
    await one.locator('button[aria-busy]').waitFor({ state: 'detached' });
    assert.equal(await one.locator('.steps.run').isVisible(), false);
    await one.getByRole('button', { name: 'Run a payment' }).click();
  }
  for (const one of [page, other]) await one.locator('.steps.run li.good', { hasText: 'Paid' }).waitFor({ timeout: 20_000 });
  const { data } = await coffer.test('GET', '/v1/invoices');
  assert.deepEqual(data.map(({ status }) => status), ['confirmed', 'confirmed']);
  // The reset may come between two requests of a run, which then names an invoice that is gone.
  for (const one of [page, other]) await closePage(one, ['404']);
});

test('a run stops at its first error and says why', async () => {
  const page = await open();
  await coffer.control('POST', '/faults', { route: 'POST /v1/invoices/{id}/select', status: 503, times: 1 });
  await page.getByRole('button', { name: 'Run a payment' }).click();
  await page.locator('.steps.run li.bad', { hasText: 'a fault of the sandbox' }).waitFor();
  assert.deepEqual((await steps(page)).map((text) => text.split(':')[0]), ['good', 'bad', '', '', '']);
  await closePage(page, ['503']);
});

test('confirmations are added one after the other', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.getByRole('button', { name: 'Pay without confirming' }).click();
  await page.getByText('0 of 3 confirmations').waitFor();
  for (const count of [1, 2]) {
    await page.getByRole('button', { name: 'Add confirmation' }).click();
    await page.getByText(`${count} of 3 confirmations`).waitFor();
  }
  await checkPage(page, 'sandbox-confirmations');
  const [invoice] = (await coffer.test('GET', '/v1/invoices')).data;
  const operator = await signIn(browser, coffer);
  await goTo(operator, `/invoices/${invoice.id}`);
  await operator.getByText('2 of 3', { exact: true }).waitFor();
  await closePage(operator, ['401']);
  await page.getByRole('button', { name: 'Orphan payment' }).click();
  await page.getByText('0 of 3 confirmations').waitFor();
  for (let count = 0; count < 3; count += 1) {
    await page.getByText(`${count} of 3 confirmations`).waitFor();
    await page.getByRole('button', { name: 'Add confirmation' }).click();
  }
  await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
  await closePage(page);
});

test('calls by the operator pages are hidden until they are asked for', async () => {
  const page = await open();
  await coffer.call('GET', '/dashboard/api/session');
  await coffer.call('GET', '/dashboardish');
  await newest(page, 'GET /dashboardish');
  const shown = () => page.locator('.list [data-kind="call"]:visible').filter({ hasText: 'GET /dashboard/' }).count();
  assert.equal(await shown(), 0);
  await page.getByLabel('Show calls by the operator pages').check();
  assert.equal(await shown(), 1);
  // The browser's own test pages load files of the operator pages only.
  await page.getByRole('button', { name: 'Events' }).click();
  assert.equal(await shown(), 0);
  await closePage(page);
});

test('a call is copied as a command that does the same', async () => {
  const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  const hostile = { description: "it's $(touch /tmp/no) `id` \"x\" \\ !\n@file", metadata: { '<b>': '&' } };
  const sent = { amount: '20.00', currency: 'EUR', ...hostile };
  const idempotencyKey = "a 'b' $HOME";
  const made = await coffer.createInvoice(sent, { idempotencyKey });
  const call = entries(page, 'call').filter({ hasText: /POST \/v1\/invoices\s*201/ });
  await call.locator('summary').click();
  await call.getByRole('button', { name: 'Copy as curl' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(command, /^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/v1\/invoices' .*-H 'X-API-Key: sk_test_sandbox' /);
  // The Idempotency-Key is in the command, so the response is the same invoice.
  const answer = JSON.parse(execFileSync('bash', ['-c', `${command} -s`]));
  assert.equal(answer.id, made.id);
  assert.equal(answer.description, hostile.description);
  // An unknown key and a secret in the body stay hidden.
  await coffer.call('POST', '/dashboard/api/session', { email: 'a@b.test', password: 'hidden words' }, 'sk_live_x1x_secret');
  await page.getByLabel('Show calls by the operator pages').check();
  const login = entries(page, 'call').filter({ hasText: 'POST /dashboard/api/session' }).first();
  await login.locator('summary').click();
  await login.getByRole('button', { name: 'Copy as curl' }).click();
  const masked = await page.evaluate(() => navigator.clipboard.readText());
  assert.doesNotMatch(masked, /hidden words|x1x/);
  assert.match(masked, /"password":"\(hidden\)"/);
  await closePage(page);
});

test('operator pages say in live mode that the sandbox has no real money and fixed rates', async () => {
  const page = await signIn(browser, coffer);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.getByText('Sandbox: live mode is simulated too.').waitFor();
  await goTo(page, '/coins');
  await page.getByText('Rates are fixed in a sandbox.').waitFor();
  assert.equal(await page.locator('#content .bad').count(), 0);
  assert.equal(await page.getByText('80.00 EUR, fixed').count() + await page.getByText('80 EUR, fixed').count(), 1);
  await checkPage(page, 'sandbox-coins');
  await coffer.control('POST', '/faults', { rates: 'stale' });
  await goTo(page, '/');
  await goTo(page, '/coins');
  await page.getByText('EUR: a fault of the sandbox makes rates stale').first().waitFor();
  await coffer.control('DELETE', '/faults');
  await closePage(page, ['401']);
});

/** Returns the bytes of the page and its assets on the wire, as the browser counted them. */
async function wireBytes(page) {
  await page.waitForLoadState('load');
  return page.evaluate(() => performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
    .filter(({ name }) => !name.includes('/sandbox') || name.includes('/assets/'))
    .reduce((sum, { transferSize }) => sum + transferSize, 0));
}

// Assets that replace those of the program are not compressed.
const skip = process.env.COFFER_ASSETS !== undefined;
test('page has at most 45 KB on the wire', { skip }, async () => {
  const page = await open();
  const bytes = await wireBytes(page);
  console.log(`sandbox page: ${bytes} bytes`);
  assert.ok(bytes > 10_000 && bytes <= 45_000, `${bytes} bytes`);
  await closePage(page);
});

for (const [name, options] of Object.entries({
  light: { viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  narrow: { viewport: { width: 320, height: 700 } },
})) {
  test(`page passes all checks: ${name}`, async () => {
    const page = await open(options);
    await checkPage(page, `sandbox-${name}-empty`);
    await page.getByRole('button', { name: 'Receive webhooks here' }).click();
    await page.getByRole('button', { name: 'Create invoice' }).click();
    await page.getByRole('button', { name: 'Pay exactly' }).click();
    await page.locator('.made .badge', { hasText: 'Confirmed' }).waitFor();
    await entries(page, 'delivery').filter({ hasText: 'invoice.confirmed' }).first().waitFor();
    await checkPage(page, `sandbox-${name}`);
    await closePage(page);
  });
}
