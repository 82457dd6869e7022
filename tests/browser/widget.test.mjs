// The widget in a page of another origin, and in the example shop (examples/shop).

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { assertAccessible, closePage, openPage, takePicture, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
/** Server of a shop page at its own origin. Each test sets `content`, the content of the page. */
let site;
let content = '';
before(async () => {
  [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]);
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    // The policy is strict, because the widget needs only the origin of Coffer.
    response.setHeader('Content-Security-Policy', `default-src 'none'; script-src ${coffer.url}; \
connect-src ${coffer.url}; frame-src ${coffer.url}; img-src data:`);
    response.end(`<!doctype html><html lang="en"><head><title>A shop</title><link rel="icon" href="data:,">
<script src="${coffer.url}/widget.js"></script></head><body><main><h1>A shop</h1>${content}</main></body></html>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  site = { url: `http://127.0.0.1:${server.address().port}`, close };
});
after(async () => { site?.close(); await browser?.close(); await coffer?.stop(); });

const invoiceOf = () => coffer.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR' });
const element = (invoice) =>
  `<coffer-checkout public-key="${coffer.keys.publicTest}" invoice="${invoice.id}">Pay now</coffer-checkout>`;

/** Sets the origins whose pages may show the checkout. An empty list allows all origins. */
async function allow(allowedOrigins) {
  const operator = { email: 'operator@sandbox.test', password: 'sandbox' };
  const answer = await fetch(`${coffer.url}/dashboard/api/session`, { method: 'POST', body: JSON.stringify(operator) });
  const cookie = answer.headers.get('set-cookie').split(';')[0];
  const accounts = await fetch(`${coffer.url}/dashboard/api/accounts`, { headers: { cookie } });
  const { data: [{ id }] } = await accounts.json();
  const change = { method: 'PATCH', headers: { cookie }, body: JSON.stringify({ allowedOrigins }) };
  assert.equal((await fetch(`${coffer.url}/dashboard/api/accounts/${id}`, change)).status, 200);
}

/** Opens the shop's page with this content and records the widget's events. */
async function shopWith(html) {
  content = html;
  const page = await openPage(browser, site.url, { origins: [coffer.url] });
  await page.evaluate(() => {
    window.told = [];
    for (const name of ['open', 'status', 'close', 'error']) {
      document.addEventListener(`coffer-${name}`, ({ detail }) => {
        window.told.push([name, detail?.status ?? detail?.code]);
      });
    }
  });
  return page;
}
const told = (page) => page.evaluate(() => window.told);

test('checkout opens over the page, sends events, and restores the focus', async () => {
  const invoice = await invoiceOf();
  const page = await shopWith(element(invoice));
  const button = page.getByRole('button', { name: 'Pay now' });
  await button.focus();
  await page.keyboard.press('Enter');
  const frame = page.frameLocator('iframe[title="Payment"]');
  await frame.getByRole('button', { name: /Litecoin/ }).click();
  await frame.getByRole('heading', { level: 1, name: /Send/ }).waitFor();
  await takePicture(page, 'widget');
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  await frame.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
  await page.waitForFunction(() => window.told.some(([, status]) => status === 'confirmed'));
  await assertAccessible(page, 'widget');
  // Escape is pressed inside the frame, which has the focus.
  await frame.locator('body').press('Escape');
  await page.waitForFunction(() => window.told.at(-1)[0] === 'close');
  assert.equal(await page.locator('dialog').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'coffer-checkout');
  const names = (await told(page)).map((one) => one.join(' ').trim());
  assert.deepEqual([names[0], names[1], names.at(-1)], ['open', 'status created', 'close']);
  assert.ok(names.includes('status awaiting_payment') && names.includes('status confirmed'), names);
  await closePage(page);
});

test('error is shown in the dialog with a way back', async () => {
  const invoice = await invoiceOf();
  await allow([site.url]);
  const faults = (method, body) => fetch(`${coffer.url}/sandbox/faults`, { method, body: JSON.stringify(body) });
  try {
    const page = await shopWith(element(invoice));
    await page.getByRole('button', { name: 'Pay now' }).click();
    const frame = page.frameLocator('iframe[title="Payment"]');
    await frame.getByRole('button', { name: /Litecoin/ }).waitFor();
    assert.equal((await faults('POST', { pool: 'empty' })).status, 200);
    await frame.getByRole('button', { name: /Litecoin/ }).click();
    await frame.getByRole('heading', { level: 1, name: 'That did not work' }).waitFor();
    await takePicture(page, 'widget-refused');
    await assertAccessible(page, 'widget-refused');
    assert.ok((await faults('DELETE')).ok);
    await frame.getByRole('link', { name: 'Back to the payment' }).click();
    await frame.getByRole('button', { name: /Litecoin/ }).click();
    await frame.getByRole('heading', { level: 1, name: /Send/ }).waitFor();
    await closePage(page, ['400']);
  } finally {
    await faults('DELETE');
    await allow([]);
  }
});

test('only the named page gets events', async () => {
  const invoice = await invoiceOf();
  const page = await shopWith('');
  await page.evaluate((url) => {
    window.heard = [];
    addEventListener('message', ({ data }) => window.heard.push(data));
    const frame = document.createElement('iframe');
    frame.title = 'Checkout';
    frame.src = `${url}&parent=${encodeURIComponent('https://shop.example')}`;
    document.body.append(frame);
  }, invoice.checkoutUrl);
  await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  await page.frameLocator('iframe').getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
  assert.deepEqual(await page.evaluate(() => window.heard), []);
  await closePage(page, ['postMessage']);
});

test('unlisted origin is rejected, and a blocked frame becomes a redirect', async () => {
  const invoice = await invoiceOf();
  await allow(['https://shop.example']);
  try {
    const page = await shopWith(element(invoice));
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.waitForFunction(() => window.told.length > 0);
    assert.deepEqual(await told(page), [['error', 'forbidden']]);
    await closePage(page, ['403', 'Coffer:']);
    // The test replaces the session response, as if the origin was allowed. The browser still blocks the frame.
    const framed = await shopWith(element(invoice));
    await framed.route('**/v1/public/checkout-sessions', (route) => route.fulfill({
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' },
      json: { invoiceId: invoice.id, checkoutUrl: invoice.checkoutUrl },
    }));
    await framed.getByRole('button', { name: 'Pay now' }).click();
    await framed.waitForURL(invoice.checkoutUrl);
    await closePage(framed, ['frame-ancestors']);
  } finally {
    await allow([]);
  }
});

test('browser without dialogs is redirected to the checkout', async () => {
  const invoice = await invoiceOf();
  const without = [
    () => { delete window.CSSStyleSheet; },
    () => { delete window.HTMLDialogElement; },
    () => { HTMLDialogElement.prototype.showModal = () => { throw new Error('not here'); }; },
  ];
  for (const take of without) {
    content = element(invoice);
    const page = await openPage(browser, 'about:blank', { origins: [site.url, coffer.url] });
    await page.addInitScript(take);
    await page.goto(site.url);
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.waitForURL(invoice.checkoutUrl);
    await page.getByRole('heading', { level: 1, name: /^Pay 20/ }).waitFor();
    await closePage(page);
  }
});

/** Resends the webhook of this type and waits for it. */
async function resend(service, type) {
  const api = `${service}/dashboard/api`;
  const operator = { email: 'operator@sandbox.test', password: 'sandbox' };
  const session = await fetch(`${api}/session`, { method: 'POST', body: JSON.stringify(operator) });
  const headers = { cookie: session.headers.get('set-cookie').split(';')[0] };
  const { data: [{ id: account }] } = await (await fetch(`${api}/accounts`, { headers })).json();
  const deliveries = `${api}/accounts/${account}/deliveries`;
  const found = async () => {
    const { data } = await (await fetch(`${deliveries}?mode=test`, { headers })).json();
    return data.filter((each) => each.type === type);
  };
  const [{ id }] = await found();
  assert.equal((await fetch(`${deliveries}/${id}/resend?mode=test`, { method: 'POST', headers })).status, 200);
  while ((await found())[0].attempts.length < 2) await new Promise(setImmediate);
}

/** Pays a live invoice with this order id, and waits until the shop has received the webhook. */
async function payLive(service, orderId) {
  const post = async (path, body) => {
    const answer = await fetch(`${service}${path}`, {
      method: 'POST', headers: { 'X-API-Key': 'sk_live_sandbox' }, body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer.json();
  };
  const { id } = await post('/v1/invoices', { amount: '1.00', currency: 'EUR', orderId, asset: 'LTC' });
  const payment = await post('/sandbox/payments', { invoice: id });
  await post(`/sandbox/payments/${payment.id}`, { state: 'confirmed' });
  await post('/sandbox/clock', { advance: '0s' });
}

test('example shop ships after the webhook', async () => {
  const shop = spawn('node', [new URL('../../examples/shop/shop.mjs', import.meta.url).pathname], {
    env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(shop, 'exit');
  try {
    const [line] = await once(createInterface({ input: shop.stdout }), 'line');
    const [, url, service] = line.match(/at (\S+), its Coffer at (\S+)/);
    const page = await openPage(browser, url, { origins: [service] });
    await assertAccessible(page, 'shop');
    const answer = page.waitForResponse(`${url}orders`);
    await page.getByRole('button', { name: 'Buy beans' }).click();
    const { order } = await (await answer).json();
    // A payment in the other mode belongs to another invoice with the same order id.
    await payLive(service, order);
    const status = async () => (await (await fetch(`${url}orders/${order}`)).json()).status;
    // The loop waits until the shop has the event of its own invoice.
    for (let asked = 0; asked < 10_000 && await status() === 'open'; asked += 1);
    assert.equal(await status(), 'created');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: /Litecoin/ }).click();
    await frame.getByRole('button', { name: /exact/i }).click();
    await frame.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Coffee beans, 1 kg: paid. We ship it today.').waitFor();
    await takePicture(page, 'shop');
    // A late event changes nothing.
    await resend(service, 'invoice.created');
    assert.equal(await status(), 'paid');
    // A webhook without a valid signature is rejected.
    const forged = await fetch(`${url}webhooks`, { method: 'POST', body: '{}' });
    assert.equal(forged.status, 400);
    await closePage(page);
  } finally {
    // The shop is stopped even after a failure, because a running server would keep the tests from ending.
    shop.kill();
  }
  const [code] = await ended;
  assert.equal(code, 0);
});
