// Operator pages that update by themselves: changes, several tabs, hidden tabs, and a server that is away.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { closePage, checkPage, startBrowser, startCoffer } from './harness.mjs';
import { createPaidInvoice, goTo, signIn } from './operator_pages.mjs';

/** Text of the band while there is no connection. */
const AWAY = 'No connection to the server. This page updates by itself when it is back.';
/** Parts of browser messages about a server that is away, and of the request before the sign-in. */
const EXPECTED = ['401', 'ERR_CONNECTION_REFUSED', 'ERR_INCOMPLETE_CHUNKED_ENCODING', 'ERR_CONNECTION_RESET',
  'ERR_EMPTY_RESPONSE', 'Failed to fetch'];

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

const createInvoice = (orderId, fields = {}) =>
  coffer.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR', orderId, ...fields });

/** Marks the document, so that a test can tell that the page was not loaded again. */
const mark = (page) => page.evaluate(() => { window.isSame = true; });
const isMarked = (page) => page.evaluate(() => window.isSame === true);

/** Returns the number of streams that a page has begun. */
const streams = (page) => page.requests.filter((url) => url.includes('/dashboard/api/changes')).length;

/** Opens a further tab of the same browser. */
async function openTab(page, place) {
  const tab = await page.context().newPage();
  tab.requests = [];
  tab.on('request', (request) => tab.requests.push(request.url()));
  await tab.goto(`${coffer.url}/dashboard#${place}`);
  await tab.locator(`#content[data-place="${place}"]:not([aria-busy])`).waitFor();
  return tab;
}

/** Makes a tab believe that it is hidden or visible. A headless browser shows every tab. */
const setVisible = (page, isVisible) => page.evaluate((is) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (is ? 'visible' : 'hidden') });
  document.dispatchEvent(new Event('visibilitychange'));
}, isVisible);

test('invoices, home, refunds and payouts show changes without a reload', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  await mark(page);
  const open = await createInvoice('live-1', { asset: 'LTC' });
  const row = page.getByRole('row', { name: /live-1/ });
  await row.waitFor();
  await coffer.test('POST', `/v1/invoices/${open.id}/simulate`, {});
  await row.getByText('Confirmed').waitFor();
  await goTo(page, `/invoices/${open.id}`);
  await coffer.control('POST', '/refunds', { invoice: open.id, amount: '5.00' });
  await page.getByText('5.00').first().waitFor();
  await goTo(page, '/refunds');
  await coffer.control('POST', '/refunds', { invoice: open.id, amount: '6.00' });
  await page.getByText('6.00').first().waitFor();
  await goTo(page, '/');
  const sales = page.getByRole('region', { name: 'Sales', exact: true });
  const before = await sales.locator('.stat').first().innerText();
  await createPaidInvoice(coffer, '333.00');
  await page.waitForFunction((text) => document.querySelector('[aria-labelledby="sales"] .stat').innerText !== text, before);
  assert.ok(await isMarked(page));
  assert.equal(streams(page), 1);
  await closePage(page, ['401']);
});

test('attempt of a delivery that is sent again appears without a reload', async () => {
  await coffer.control('PUT', '/inbox/live', { status: 200 });
  await coffer.control('PATCH', '/account', {
    endpoints: [{ url: `${coffer.url}/sandbox/inbox/live`, secret: 'whsec_bGl2ZQ==', format: 'event', types: null, mode: 'test' }],
  });
  const page = await signIn(browser, coffer);
  await goTo(page, '/deliveries');
  await mark(page);
  await createInvoice('live-2');
  await page.getByRole('link', { name: 'invoice.created' }).first().click();
  await page.getByRole('heading', { name: 'Attempt 1' }).waitFor();
  await page.getByRole('button', { name: 'Resend delivery' }).click();
  await page.getByRole('heading', { name: 'Attempt 2' }).waitFor();
  assert.ok(await isMarked(page));
  await coffer.control('PATCH', '/account', { endpoints: [] });
  await closePage(page, ['401']);
});

test('update keeps focus, scroll position and typed text, and waits for a dialog', async () => {
  for (let count = 0; count < 30; count += 1) await createInvoice(`kept-${count}`);
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  const link = page.getByRole('row', { name: /kept-3\b/ }).getByRole('link').first();
  await link.focus();
  const href = await link.getAttribute('href');
  const top = () => page.evaluate(() => document.activeElement.getBoundingClientRect().top);
  await page.evaluate(() => scrollTo(0, 300));
  const place = await top();
  await createInvoice('kept-by-focus');
  await page.getByRole('row', { name: /kept-by-focus/ }).waitFor({ state: 'attached' });
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), href);
  assert.ok(Math.abs(await top() - place) < 2, 'the row stays where it was on the screen');
  const search = page.getByRole('search').getByRole('searchbox').first();
  await search.pressSequentially('half a wo');
  await createInvoice('kept-by-search');
  await page.getByRole('row', { name: /kept-by-search/ }).waitFor({ state: 'attached' });
  assert.equal(await search.inputValue(), 'half a wo');
  await page.keyboard.type('rd');
  assert.equal(await search.inputValue(), 'half a word');
  await goTo(page, '/deliveries');
  await page.getByRole('button', { name: 'Resend events…' }).click();
  const since = page.locator('dialog [name="since"]');
  await since.fill('2026-01-02T03:04');
  await coffer.control('PATCH', '/account', {
    endpoints: [{ url: `${coffer.url}/sandbox/inbox/live`, secret: 'whsec_bGl2ZQ==', format: 'event', types: null, mode: 'test' }],
  });
  const count = await page.locator('#content tbody tr').count();
  const other = await openTab(page, '/deliveries');
  await createInvoice('kept-by-dialog');
  // The other tab, which has no dialog, shows the delivery first.
  const more = (least) => document.querySelectorAll('#content tbody tr').length > least;
  await other.waitForFunction(more, count);
  assert.equal(await since.inputValue(), '2026-01-02T03:04');
  assert.equal(await page.locator('#content tbody tr').count(), count);
  await page.keyboard.press('Escape');
  await page.waitForFunction(more, count);
  await coffer.control('PATCH', '/account', { endpoints: [] });
  await closePage(page, ['401']);
});

test('burst of changes causes at most one update a second', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  const reads = () => page.requests.filter((url) => url.includes('/invoices?')).length;
  const [first, start] = [reads(), Date.now()];
  for (let count = 0; count < 40; count += 1) await createInvoice(`burst-${count}`);
  await page.getByRole('row', { name: /burst-39\b/ }).waitFor();
  const seconds = (Date.now() - start) / 1000;
  assert.ok(reads() - first <= seconds + 2, `${reads() - first} reads in ${seconds} s`);
  await closePage(page, ['401']);
});

// A browser opens six connections to a server at most, so with a stream for each tab the seventh would wait for ever.
test('ten tabs share one stream, and each of them works', async () => {
  const first = await signIn(browser, coffer);
  await goTo(first, '/invoices');
  const tabs = [first];
  while (tabs.length < 10) tabs.push(await openTab(first, '/invoices'));
  assert.equal(tabs.reduce((sum, tab) => sum + streams(tab), 0), 1);
  await createInvoice('ten-tabs');
  for (const tab of tabs) await tab.getByRole('row', { name: /ten-tabs/ }).waitFor();
  // The tab with the stream is closed. Another takes over, and no change is lost.
  await first.close();
  await createInvoice('nine-tabs');
  for (const tab of tabs.slice(1)) await tab.getByRole('row', { name: /nine-tabs/ }).waitFor();
  assert.equal(tabs.slice(1).reduce((sum, tab) => sum + streams(tab), 0), 1);
  assert.deepEqual(first.problems.filter((problem) => !problem.includes('401')), []);
  await first.context().close();
});

test('hidden tab closes its stream and catches up when it is shown', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/changes'));
  await setVisible(page, false);
  await ended;
  const other = await openTab(page, '/invoices');
  await createInvoice('while-hidden');
  await other.getByRole('row', { name: /while-hidden/ }).waitFor();
  assert.equal(await page.getByRole('row', { name: /while-hidden/ }).count(), 0);
  await setVisible(page, true);
  await page.getByRole('row', { name: /while-hidden/ }).waitFor();
  await closePage(page, ['401']);
});

test('server that is away is told in one place, and pages open when it is back', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-live-'));
  let second;
  t.after(async () => {
    await second?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = ['--file', join(folder, 'kept.db')];
  const first = await startCoffer({ args: file });
  const page = await signIn(browser, first);
  await goTo(page, '/invoices');
  await mark(page);
  await first.stop();
  const band = page.getByText(AWAY);
  await band.waitFor();
  assert.equal(await page.getByRole('heading', { level: 1, name: 'Invoices' }).count(), 1, 'the page stays');
  await checkPage(page, 'dashboard-away');
  // A page whose module was never loaded, and one whose data cannot be read.
  for (const place of ['customers', 'invoices', 'payouts']) {
    await page.evaluate((hash) => { location.hash = hash; }, `/${place}`);
    await page.locator(`#content[data-place="/${place}"] [data-unread]`).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal(await page.getByText(/Failed to fetch|module|TypeError|No connection/).count(), 1);
  }
  await checkPage(page, 'dashboard-away-page');
  second = await startCoffer({ args: [...file, '--listen', new URL(first.url).host] });
  await page.locator('#content[data-place="/payouts"]:not(:has([data-unread]))').waitFor();
  await page.getByRole('heading', { level: 1, name: 'Payouts' }).waitFor();
  await band.waitFor({ state: 'hidden' });
  await goTo(page, '/invoices');
  await second.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR', orderId: 'after-restart' });
  await page.getByRole('row', { name: /after-restart/ }).waitFor();
  await closePage(page, EXPECTED);
});

test('page of an older version loads itself again, once', async () => {
  const page = await signIn(browser, coffer);
  let failures = 0;
  await page.route('**/assets/*/dashboard/customers.js', async (route) => {
    failures += 1;
    if (failures === 1) await route.fulfill({ status: 404, body: '' });
    else await route.continue();
  });
  await mark(page);
  await page.evaluate(() => { location.hash = '/customers'; });
  await page.locator('#content[data-place="/customers"]:not([aria-busy]) h1').waitFor();
  await page.waitForFunction(() => window.isSame === undefined);
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor();
  assert.equal(await page.getByText(/Failed to fetch/).count(), 0);
  // The stream of another version loads the page again, but only once.
  const page2 = await page.context().newPage();
  let loads = 0;
  let told = () => {};
  const toldOften = new Promise((resolve) => { told = resolve; });
  let streamed = 0;
  page2.on('request', (request) => { if (request.isNavigationRequest()) loads += 1; });
  await page2.route('**/dashboard/api/changes*', (route) => {
    streamed += 1;
    if (streamed === 4) told();
    return route.fulfill({
      contentType: 'text/event-stream',
      body: 'event: changes\nid: 1-1\ndata: {"version":"0000000000000000","everything":false,"changed":[]}\n\n',
    });
  });
  await page.close();
  await page2.goto(`${coffer.url}/dashboard#/invoices`);
  await page2.waitForFunction(() => sessionStorage.getItem('coffer.reloaded.version') === '0000000000000000');
  await page2.locator('#content[data-place="/invoices"]').waitFor();
  await toldOften;
  assert.equal(loads, 2);
  await page2.context().close();
  assert.deepEqual(page.problems.filter((problem) => !problem.includes('401') && !problem.includes('404')), []);
});

test('ended session is said, and the page goes on after the next sign-in', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  await mark(page);
  await page.evaluate(() => fetch('dashboard/api/session', { method: 'DELETE' }));
  const band = page.locator('#connection', { hasText: 'Your session has ended.' });
  await band.waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0, 'no dialog takes the focus');
  await checkPage(page, 'dashboard-session-ended');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByLabel('Password').fill('sandbox');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await band.waitFor({ state: 'hidden' });
  await createInvoice('signed-in-again');
  await page.getByRole('row', { name: /signed-in-again/ }).waitFor();
  assert.ok(await isMarked(page));
  await closePage(page, ['401']);
});
