// The steps of a checkout in a real browser: the choice of a coin and its focus, a server that is away, the links back to
// the shop, the receipt on paper, and the bytes of each page.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import {
  assertAccessible, checkPage, closePage, openPage, startBrowser, startCoffer, takePicture,
} from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

const PHONE = { viewport: { width: 360, height: 780 } };
const HOSTILE = '"><b>{{x}}</b>';
const THANKS = 'https://shop.example/thanks';
const CART = 'https://shop.example/cart?order=7';

const invoice = (more = {}) => coffer.test('POST', '/v1/invoices', {
  amount: '20.00', currency: 'EUR', description: 'Two novels, one of them long', ...more,
});
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const focused = (page) => page.evaluate(() => document.activeElement?.textContent);
const progress = (page) => page.getByRole('list', { name: 'Progress of the payment' }).getByRole('listitem')
  .allTextContents();
const back = (page) => page.getByRole('link', { name: 'Back to the shop' });

/** Changes the settings of the sandbox's account as its operator. */
async function changeAccount(settings) {
  const signedIn = await fetch(`${coffer.url}/dashboard/api/session`, {
    method: 'POST', body: JSON.stringify({ email: 'operator@sandbox.test', password: 'sandbox' }),
  });
  const headers = { cookie: signedIn.headers.get('set-cookie').split(';')[0] };
  const { id } = await coffer.test('GET', '/v1/merchant');
  const path = `${coffer.url}/dashboard/api/accounts/${id}`;
  const changed = await fetch(path, { method: 'PATCH', headers, body: JSON.stringify(settings) });
  assert.equal(changed.status, 200, await changed.text());
}

/** Takes pictures at 360 and at 1280 px, in light and dark mode, and checks each for accessibility. */
async function checkEveryWay(page, name) {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await checkPage(page, `${name}_${width}_${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Starts a proxy of the sandbox, whose connection can be cut and restored. */
async function startProxy() {
  const { hostname, port } = new URL(coffer.url);
  const proxy = http.createServer((request, response) => {
    const { url: path, method } = request;
    const headers = { ...request.headers, host: `${hostname}:${port}` };
    const inner = http.request({ hostname, port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    inner.on('error', () => response.destroy());
    response.on('close', () => inner.destroy());
    request.pipe(inner);
  });
  const listen = (at) => new Promise((resolve) => { proxy.listen(at, '127.0.0.1', resolve); });
  await listen(0);
  const { port: own } = proxy.address();
  return {
    address: (url) => url.replace(coffer.url, `http://127.0.0.1:${own}`),
    restore: () => listen(own),
    async cut() {
      const closed = new Promise((resolve) => { proxy.close(resolve); });
      proxy.closeAllConnections();
      await closed;
    },
  };
}

test('coin comes first, then its network, and the favorites lead', async () => {
  await changeAccount({ favoriteCoins: ['USDC-POLYGON', 'USDC-BASE', 'SOL'] });
  const page = await openPage(browser, (await invoice()).checkoutUrl, PHONE);
  const names = await page.locator('.coins > li').evaluateAll((all) =>
    all.map((one) => one.querySelector('.coin > :first-child').textContent.trim()));
  assert.deepEqual(names, ['USD Coin', 'Solana', 'Bitcoin', 'Litecoin', 'Dogecoin', 'Ether', 'Tether USD', 'Tron']);
  assert.deepEqual(await progress(page), ['Coin', 'Seen', 'Confirming', 'Paid']);
  await page.getByText('Polygon · Base · Ethereum · Solana').click();
  const networks = page.locator('#coin-USDC').getByRole('button');
  assert.match((await networks.allTextContents())[0], /Polygon network/);
  assert.equal(await networks.locator('.mark img:nth-child(2)').count(), 4, 'each has the badge of its network');
  await checkEveryWay(page, 'steps_choose');
  await networks.nth(1).click();
  await heading(page, /^Send 21\.739131 USDC/);
  await page.getByText('only on the Base network').waitFor();
  assert.deepEqual(await progress(page), ['Coin (done)', 'Seen', 'Confirming', 'Paid']);
  await checkEveryWay(page, 'steps_pay');
  await closePage(page);
  await changeAccount({ favoriteCoins: [] });
});

test('choice of a coin moves the focus to the new heading, with a script and without', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await openPage(browser, (await invoice()).checkoutUrl, { ...PHONE, javaScriptEnabled });
    await page.getByText('USD Coin').click();
    await page.getByRole('button', { name: /^Base network/ }).press('Enter');
    await heading(page, /^Send 21\.739131 USDC/);
    await page.waitForFunction(() => document.activeElement?.id === 'heading');
    assert.match(await focused(page), /^Send 21\.739131 USDC/);
    assert.equal(await page.evaluate(() => scrollY < 200), true, 'the amount stays in sight');
    await closePage(page);
  }
});

test('server that is away is not an error page, and the checkout recovers by itself', async () => {
  const proxy = await startProxy();
  const of = await invoice({ redirectUrl: THANKS });
  const page = await openPage(browser, proxy.address(of.checkoutUrl), PHONE);
  await heading(page, 'Pay 20.00 EUR');
  await proxy.cut();
  await page.getByRole('button', { name: /Litecoin/ }).click();
  const away = page.getByText('No connection. Your payment is safe. This page updates by itself.');
  await away.waitFor();
  await heading(page, 'Pay 20.00 EUR');
  await checkEveryWay(page, 'steps_away');
  await proxy.restore();
  await away.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /Litecoin/ }).click();
  await heading(page, 'Send 0.25 LTC');
  await proxy.cut();
  await away.waitFor();
  const { id } = await coffer.control('POST', '/payments', { invoice: of.id });
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await proxy.restore();
  await heading(page, 'Paid');
  await away.waitFor({ state: 'hidden' });
  await closePage(page, ['net::ERR', 'ERR_']);
  await proxy.cut();
});

test('seen payment shows its transaction and a way back that cancels nothing', async () => {
  const both = await invoice({ asset: 'LTC', redirectUrl: THANKS, cancelUrl: CART });
  const page = await openPage(browser, both.checkoutUrl, PHONE);
  const { id, txid } = await coffer.control('POST', '/payments', { invoice: both.id });
  await heading(page, 'Payment received, confirming');
  await page.getByText('Confirmations: 0 of 3 · usually 2 to 15 minutes').waitFor();
  assert.equal(await back(page).getAttribute('href'), THANKS);
  await page.getByText(txid).waitFor();
  assert.deepEqual(await page.locator('#checkout dt').allTextContents(), ['Invoice number'], 'no amount is repeated');
  assert.deepEqual(await progress(page), ['Coin (done)', 'Seen (done)', 'Confirming', 'Paid']);
  await checkEveryWay(page, 'steps_detected');
  await coffer.control('POST', `/payments/${id}`, { confirmations: 2 });
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.locator('.count', { hasText: 'Confirmations: 2 of 3 · usually up to 7 minutes' }).waitFor();
  assert.equal(await page.getByRole('progressbar').getAttribute('value'), '2');
  await coffer.control('POST', `/payments/${id}`, { confirmations: 3 });
  await heading(page, 'Paid');
  await closePage(page);
  for (const [urls, href] of [[{ cancelUrl: CART }, 'https://shop.example'], [{ cancelUrl: 'myshop://cart' }, null]]) {
    const of = await invoice({ asset: 'LTC', ...urls });
    await coffer.control('POST', '/payments', { invoice: of.id });
    const other = await openPage(browser, of.checkoutUrl, PHONE);
    await heading(other, 'Payment received, confirming');
    assert.equal(await back(other).count(), href ? 1 : 0);
    if (href) assert.equal(await back(other).getAttribute('href'), href);
    await closePage(other);
  }
});

test('expired, late, short and cancelled invoices have a way back and their own icon', async () => {
  const urls = { redirectUrl: THANKS, cancelUrl: CART };
  const [expired, late, short, cancelled, only] = await Promise.all([
    invoice({ asset: 'LTC', ...urls }), invoice({ asset: 'LTC', ...urls }), invoice({ asset: 'LTC', ...urls }),
    invoice(urls), invoice({ redirectUrl: THANKS }),
  ]);
  await coffer.test('POST', `/v1/invoices/${short.id}/simulate`, { case: 'under' });
  await coffer.control('POST', `/invoices/${cancelled.id}/cancel`);
  await coffer.control('POST', '/clock', { advance: '21m' });
  await coffer.test('POST', `/v1/invoices/${late.id}/simulate`, { case: 'exact' });
  const seen = await invoice({ asset: 'LTC', ...urls });
  await coffer.control('POST', '/payments', { invoice: seen.id, amount: '0.1' });
  const part = await openPage(browser, seen.checkoutUrl, PHONE);
  await heading(part, 'Send 0.15 LTC more');
  assert.equal(await back(part).getAttribute('class'), 'back', 'the way out is not the main action');
  await closePage(part);
  const icons = new Set();
  for (const [of, name, title, href] of [
    [expired, 'expired', 'The time to pay is over', CART], [late, 'late', 'Paid too late', THANKS],
    [short, 'short', 'Not paid in full', THANKS], [cancelled, 'cancelled', 'Cancelled', CART],
    [only, 'expired_without_cart', 'The time to pay is over', 'https://shop.example'],
  ]) {
    const page = await openPage(browser, of.checkoutUrl, PHONE);
    await heading(page, title);
    assert.equal(await back(page).getAttribute('href'), href, name);
    icons.add(await page.locator('.sign').innerHTML());
    await checkEveryWay(page, `steps_${name}`);
    await closePage(page);
  }
  assert.equal(icons.size, 4);
});

test('receipt of a paid invoice fits on a sheet of A4', async () => {
  const lines = ['1 Example Street', HOSTILE, 'VAT DE123456789'];
  await changeAccount({ addressLines: lines, branding: { color: '#7a1f5c' } });
  const of = await invoice({ asset: 'LTC', redirectUrl: THANKS });
  const { id, txid } = await coffer.control('POST', '/payments', { invoice: of.id });
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  const page = await openPage(browser, of.checkoutUrl, PHONE);
  await heading(page, 'Paid');
  const done = ['Coin (done)', 'Seen (done)', 'Confirming (done)', 'Paid (done)'];
  assert.deepEqual(await progress(page), done);
  const receipt = page.getByRole('region', { name: 'Receipt' });
  const { confirmedAt } = await coffer.test('GET', `/v1/invoices/${of.id}`);
  const date = `${confirmedAt.slice(0, 10)} ${confirmedAt.slice(11, 16)} UTC`;
  const shown = [...lines, of.id, date, '20.00 EUR', 'Litecoin · Litecoin network', '1 LTC = 80 EUR', '0.25 LTC', txid];
  for (const text of shown) await receipt.getByText(text, { exact: true }).waitFor();
  await checkEveryWay(page, 'steps_paid');
  await page.evaluate(() => { window.print = () => { document.title = 'printed'; }; });
  await receipt.getByRole('button', { name: 'Print receipt' }).click();
  assert.equal(await page.title(), 'printed');
  // A dark screen prints black on white. The sheet is 210 mm wide, less the margins of 18 mm.
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 658, height: 985 });
  for (const text of shown) assert.ok(await receipt.getByText(text, { exact: true }).isVisible(), text);
  assert.equal(await page.locator('button:visible, footer:visible, .steps:visible, .go:visible').count(), 0);
  assert.ok(await page.getByText('Two novels').isVisible());
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.receipt dd')).color), 'rgb(0, 0, 0)');
  assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), 'one sheet');
  await takePicture(page, 'steps_receipt_on_paper');
  await closePage(page);
  await changeAccount({ addressLines: [], branding: { color: null } });
});

test('mistyped address is a page for a browser, and JSON for a program', async () => {
  const page = await openPage(browser, `${coffer.url}/checout/019d9f7b`, { ...PHONE, locale: 'de' });
  await heading(page, 'Seite nicht gefunden');
  assert.ok(await page.locator('.sign').isVisible());
  await checkPage(page, 'steps_mistyped_de');
  await closePage(page, ['404']);
  const english = await openPage(browser, `${coffer.url}/${encodeURIComponent(HOSTILE)}`, PHONE);
  await heading(english, 'Page not found');
  await assertAccessible(english, 'mistyped');
  await closePage(english, ['404']);
  for (const accept of ['*/*', 'application/json', 'application/json, text/plain, */*']) {
    const answer = await fetch(`${coffer.url}/v1/nothing`, { headers: { accept } });
    assert.equal((await answer.json()).error, 'not_found');
  }
});

test('pages are small on the wire', async (t) => {
  const bytes = async (of) => {
    const page = await openPage(browser, 'about:blank', { origins: [coffer.url] });
    const client = await page.context().newCDPSession(page);
    await client.send('Network.enable');
    let sum = 0;
    client.on('Network.loadingFinished', ({ encodedDataLength }) => { sum += encodedDataLength; });
    await page.goto(of.checkoutUrl, { waitUntil: 'load' });
    await closePage(page);
    return sum;
  };
  const [picker, checkout] = [await bytes(await invoice()), await bytes(await invoice({ asset: 'BTC' }))];
  t.diagnostic(`picker ${picker} bytes, checkout with QR code ${checkout} bytes`);
  assert.ok(picker <= 28_000, `picker: ${picker} bytes`);
  assert.ok(checkout <= 36_000, `checkout: ${checkout} bytes`);
});
