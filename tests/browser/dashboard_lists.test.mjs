// The lists of the operator pages in a real browser: search, rows, times, exports and navigation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { checkPage, closePage, startBrowser, startCoffer, takePicture } from './harness.mjs';
import { HOSTILE, checkPageInAllModes, createPaidInvoice, goTo, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** A description that is much longer than a line. */
const LONG = `${HOSTILE} ${'A long description of an order. '.repeat(12)}the end`;

/** Maximum size of an operator page with its scripts and styles, in bytes on the wire. */
const PAGE_BYTES_MAX = 46_000;

const rows = (page, name = 'Invoices') => page.getByRole('table', { name }).locator('tbody tr');

/** Types a text into the search box and presses Enter. */
async function search(page, text) {
  await page.getByRole('searchbox', { name: 'Search' }).fill(text);
  await page.keyboard.press('Enter');
  await page.locator('#content .head', { hasText: `Results for “${text}”` }).waitFor();
}

test('one search box finds a whole order id, email, transaction, address and invoice id', async () => {
  const order = { amount: '20.00', currency: 'EUR', asset: 'LTC' };
  const wanted = await coffer.test('POST', '/v1/invoices', {
    ...order, orderId: 'ORD-123456', customerEmail: 'Grace@Shop.test', description: 'the first',
  });
  await coffer.test('POST', `/v1/invoices/${wanted.id}/simulate`, {});
  // So much metadata fits into no page of a text search: an older invoice is found by an index alone.
  const metadata = { large: 'x'.repeat(60_000) };
  await Promise.all(Array.from({ length: 40 }, () => coffer.test('POST', '/v1/invoices', { ...order, metadata })));
  const page = await signIn(browser, coffer);
  const { payments: [{ txid }] } = await page.evaluate(async (id) => {
    const { data: [account] } = await (await fetch('dashboard/api/accounts')).json();
    return (await fetch(`dashboard/api/accounts/${account.id}/invoices/${id}?mode=test`)).json();
  }, wanted.id);
  const seen = [];
  page.on('request', (request) => { if (/\/invoices\?/.test(request.url())) seen.push(request.url()); });
  const texts = ['ORD-123456', 'grace@shop.test', txid, wanted.depositAddress, wanted.id];
  for (const text of texts) {
    await page.locator('body').focus();
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
    await search(page, text);
    assert.equal(await rows(page).count(), 1, text);
    assert.match(await rows(page).first().innerText(), /ORD-123456/);
  }
  assert.equal(seen.length, texts.length, 'each is found by one request');
  assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), wanted.id);
  await checkPageInAllModes(page, 'search');
  // A slash in a field is a character.
  await page.getByRole('searchbox', { name: 'Search' }).fill('');
  await page.keyboard.type('a/b');
  assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), 'a/b');
  // A part of a text continues through older invoices by itself.
  await search(page, 'RD-12345');
  assert.equal(await rows(page).count(), 1);
  await search(page, HOSTILE);
  await page.getByRole('heading', { name: 'No matching invoices' }).waitFor();
  await closePage(page, ['401']);
});

test('search also finds a customer, a payout and a refund', async () => {
  const invoice = await createPaidInvoice(coffer, '30.00', { orderId: 'with-refund' });
  const refund = await coffer.control('POST', '/refunds', { invoice: invoice.id });
  await coffer.test('POST', '/v1/customers/ada/addresses');
  const page = await signIn(browser, coffer);
  await search(page, refund.id);
  await page.getByRole('heading', { name: 'No matching invoices' }).waitFor();
  await rows(page, 'Other results').click();
  await page.getByRole('heading', { level: 1, name: 'Refund of 30.00' }).waitFor();
  await search(page, 'ada');
  await rows(page, 'Other results').filter({ hasText: 'Customer' }).click();
  await page.getByRole('heading', { name: 'Addresses of ada' }).waitFor();
  const paid = await coffer.control('POST', '/payments', {
    address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', asset: 'BTC', amount: '0.25',
  });
  await search(page, paid.txid);
  await rows(page, 'Other results').filter({ hasText: 'Unmatched payment' }).click();
  await page.getByRole('heading', { level: 1, name: 'Unmatched payments' }).waitFor();
  await closePage(page, ['401']);
});

test('table with a long text stays a table, and shows the whole text on focus', async () => {
  const fields = { orderId: 'long-1', description: LONG, customerEmail: 'ada@shop.test' };
  const invoice = await createPaidInvoice(coffer, '40.00', fields);
  const page = await signIn(browser, coffer, { viewport: { width: 1024, height: 800 } });
  await goTo(page, '/invoices?text=long-1');
  const row = rows(page).first();
  assert.equal(await page.getByRole('columnheader', { name: 'Description' }).isVisible(), true);
  assert.ok((await row.boundingBox()).height < 45, 'the row is one line');
  const overflow = await page.locator('.card.table').evaluate((card) => card.scrollWidth - card.clientWidth);
  assert.equal(overflow, 0, 'the table fits');
  const cell = row.locator('td > div[data-clipped]', { hasText: 'A long description' });
  await cell.focus();
  await page.getByRole('tooltip').getByText(LONG).waitFor();
  await takePicture(page, 'dashboard-invoices-tip');
  await page.keyboard.press('Escape');
  await page.getByRole('tooltip').waitFor({ state: 'detached' });
  // The order id is first, then the end of the invoice's id.
  assert.equal((await row.getByRole('link').innerText()).trim(), `long-1 …${invoice.id.slice(-6)}`);
  await checkPageInAllModes(page, 'invoices-long');
  await closePage(page, ['401']);
});

test('row is a link', async () => {
  const invoice = await createPaidInvoice(coffer, '50.00', { orderId: 'row-1', description: 'Select me' });
  const page = await signIn(browser, coffer);
  const isOpen = () => page.locator(`#content[data-place="/invoices/${invoice.id}"]:not([aria-busy])`).waitFor();
  const list = async () => { await goTo(page, '/invoices?text=row-1'); };
  await list();
  const row = rows(page).first();
  assert.equal(await row.locator('a').count(), 1);
  await row.getByText('Select me').click();
  await isOpen();
  await list();
  await row.getByRole('link').focus();
  await page.keyboard.press('Enter');
  await isOpen();
  await list();
  for (const options of [{ button: 'middle' }, { modifiers: ['Control'] }]) {
    const opened = page.context().waitForEvent('page');
    await row.getByText('50.00').click(options);
    await (await opened).waitForURL(new RegExp(invoice.id));
    await (await opened).close();
  }
  // Selecting the text of a cell does not follow the link.
  const { x, y, width, height } = await row.getByText('Select me').boundingBox();
  await page.mouse.move(x + 1, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width - 1, y + height / 2, { steps: 5 });
  await page.mouse.up();
  assert.match(await page.evaluate(() => String(getSelection())), /elect m/);
  assert.match(page.url(), /text=row-1/);
  // A button of a row does only its own work.
  await goTo(page, `/events?object=${invoice.id}`);
  await rows(page, 'Events').first().getByRole('button', { name: 'Show body' }).click();
  await page.getByRole('dialog').getByText(invoice.id).first().waitFor();
  assert.match(page.url(), /#\/events/);
  await closePage(page, ['401']);
});

test('times are relative, stay true, and show the exact time on focus', async () => {
  const invoice = await createPaidInvoice(coffer, '60.00', { orderId: 'time-1' });
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices?text=time-1');
  const time = rows(page).first().locator('time');
  assert.match(await time.innerText(), /^(now|\d+ s ago)$/);
  const text = await time.innerText();
  await page.waitForFunction((before) => document.querySelector('tbody time').textContent !== before, text);
  await time.focus();
  const day = invoice.createdAt.slice(0, 19).replace('T', ' ');
  await page.getByRole('tooltip').getByText(`${day} UTC`).waitFor();
  // The sandbox's clock is not that of the browser.
  await coffer.control('POST', '/clock', { advance: '3h' });
  await goTo(page, '/ledger');
  await goTo(page, '/invoices?text=time-1');
  assert.equal(await time.innerText(), '3 h ago');
  await goTo(page, `/invoices/${invoice.id}`);
  const steps = await page.getByRole('region', { name: 'Timeline' }).locator('time').allInnerTexts();
  assert.match(steps.at(-1), /\d\d:\d\d:\d\d$/, 'the timeline has seconds');
  await closePage(page, ['401']);
  await coffer.control('POST', '/clock', { advance: '24h' });
  const later = await signIn(browser, coffer);
  await goTo(later, '/invoices?text=time-1');
  assert.match(await rows(later).first().locator('time').innerText(), /^\d+ \w+ \d{4}, \d\d:\d\d$/);
  await closePage(later, ['401']);
});

test('export has what the list shows', async () => {
  await coffer.test('POST', '/v1/invoices', { amount: '70.00', currency: 'USD', orderId: 'csv-usd' });
  await createPaidInvoice(coffer, '70.00', { orderId: 'csv-paid' });
  const page = await signIn(browser, coffer);
  const ids = async () => {
    const begun = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export CSV' }).click();
    const lines = readFileSync(await (await begun).path(), 'utf8').trim().split('\r\n').slice(1);
    return lines.map((line) => line.split(',')[1]);
  };
  await goTo(page, '/invoices?text=csv-');
  assert.deepEqual(await ids(), ['csv-usd', 'csv-paid']);
  await page.getByLabel('Currency').selectOption('USD');
  await page.waitForFunction(() => location.hash.includes('currency=USD'));
  await page.locator('#content:not([aria-busy])').waitFor();
  assert.match(page.url(), /text=csv-/, 'a filter keeps the search');
  assert.deepEqual(await ids(), ['csv-usd']);
  await goTo(page, '/ledger');
  await goTo(page, '/invoices?text=csv-&status=confirmed');
  assert.deepEqual(await ids(), ['csv-paid']);
  await page.setViewportSize({ width: 1024, height: 800 });
  await goTo(page, '/ledger');
  await goTo(page, '/invoices');
  const height = await page.getByRole('form', { name: 'Filters' }).evaluate((form) => form.clientHeight);
  assert.ok(height < 40, `the filters take ${height} px: more than a line`);
  await closePage(page, ['401']);
});

test('navigation has nine entries and fits', async () => {
  const page = await signIn(browser, coffer, { viewport: { width: 1280, height: 900 } });
  for (const place of ['/', '/keys', '/invoices', '/settings', '/chains']) {
    await goTo(page, place);
    const side = page.getByRole('navigation', { name: 'Pages' });
    assert.ok(await side.locator('> ul').first().locator('> li').count() <= 9);
    const isWhole = await side.evaluate((nav) => nav.scrollHeight <= nav.clientHeight);
    assert.ok(isWhole, `${place}: all entries are visible`);
    assert.equal(await side.locator('[aria-current="page"]').count(), 1, place);
  }
  await goTo(page, '/deliveries');
  assert.equal(await page.locator('#side [aria-current="page"]').innerText(), 'Webhooks');
  await closePage(page, ['401']);
  const phone = await signIn(browser, coffer, { viewport: { width: 360, height: 740 } });
  await phone.getByRole('button', { name: 'Menu' }).click();
  await phone.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Chains' }).waitFor();
  await checkPage(phone, 'dashboard-menu-360');
  await phone.getByRole('link', { name: 'Ledger' }).click();
  await phone.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
  assert.equal(await phone.getByRole('navigation', { name: 'Pages' }).isVisible(), false);
  await closePage(phone, ['401']);
});

test('list adds new rows without losing the focus', async () => {
  await createPaidInvoice(coffer, '80.00', { orderId: 'live-1' });
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices?text=live-');
  const script = await page.evaluate(() => document.querySelector('script[src]').src.replace('dashboard.js', 'list.js'));
  await page.evaluate(async (url) => {
    const { pagedList } = await import(url);
    const load = async () => {
      const { data: [account] } = await (await fetch('dashboard/api/accounts')).json();
      return (await fetch(`dashboard/api/accounts/${account.id}/invoices?mode=test&text=live-`)).json();
    };
    const columns = [{ name: 'Order', cell: (one) => one.orderId }, { name: 'Status', cell: (one) => one.status }];
    window.list = await pagedList({ label: 'Live', columns, none: '', load, href: (one) => `#/invoices/${one.id}` });
    document.getElementById('content').append(window.list);
  }, script);
  const names = () => rows(page, 'Live').getByRole('link').allInnerTexts();
  assert.deepEqual(await names(), ['live-1']);
  await rows(page, 'Live').getByRole('link').focus();
  await createPaidInvoice(coffer, '80.00', { orderId: 'live-2' });
  await page.evaluate(() => window.list.refresh());
  assert.deepEqual(await names(), ['live-2', 'live-1']);
  assert.equal(await page.evaluate(() => document.activeElement.innerText), 'live-1');
  await closePage(page, ['401']);
});

test('operator page is small on the wire', { skip: Boolean(process.env.COFFER_ASSETS) }, async (t) => {
  const page = await signIn(browser, coffer);
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  for (const place of ['/', '/invoices', '/payouts', '/deliveries', '/settings']) {
    // The page is complete before it is loaded again and measured.
    await page.goto(`${coffer.url}/dashboard#${place}`);
    await page.locator(`#content[data-place="${place}"]:not([aria-busy])`).waitFor();
    const sizes = new Map();
    const urls = new Map();
    // Frames, such as the preview of the checkout, are pages of their own.
    const { frameTree: { frame } } = await client.send('Page.getFrameTree');
    client.on('Network.responseReceived', ({ requestId, response, frameId }) => {
      if (frameId === frame.id) urls.set(requestId, response.url);
    });
    client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sizes.set(requestId, encodedDataLength));
    await client.send('Network.setCacheDisabled', { cacheDisabled: true });
    await page.reload();
    await page.locator(`#content[data-place="${place}"]:not([aria-busy])`).waitFor();
    // The stream of changes does not end, and answers of the API are not counted.
    const own = () => [...urls].filter(([, url]) => !/\/dashboard\/api\//.test(url)).map(([id]) => id);
    while (own().some((id) => !sizes.has(id))) await new Promise((done) => client.once('Network.loadingFinished', done));
    const bytes = own().reduce((sum, id) => sum + sizes.get(id), 0);
    t.diagnostic(`${place}: ${bytes} bytes in ${own().length} responses`);
    assert.ok(bytes > 5_000 && bytes <= PAGE_BYTES_MAX, `${place}: ${bytes}`);
    client.removeAllListeners();
  }
  await closePage(page, ['401']);
});
