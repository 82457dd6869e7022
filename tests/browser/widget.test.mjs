// The widget in a page of another origin, and in the small shop of examples/shop.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { accessible, closePage, openPage, picture, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
/** A shop's page at an origin of its own; each test puts in what it shows. */
let site;
let content = '';
before(async () => {
  [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]);
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    // A strict policy of the shop's own: the widget needs no more than its own origin.
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

/** Lists the origins whose pages may show the checkout; none: all. */
async function allow(allowedOrigins) {
  const operator = { email: 'operator@sandbox.test', password: 'sandbox' };
  const answer = await fetch(`${coffer.url}/dashboard/api/session`, { method: 'POST', body: JSON.stringify(operator) });
  const cookie = answer.headers.get('set-cookie').split(';')[0];
  const accounts = await fetch(`${coffer.url}/dashboard/api/accounts`, { headers: { cookie } });
  const { data: [{ id }] } = await accounts.json();
  const change = { method: 'PATCH', headers: { cookie }, body: JSON.stringify({ allowedOrigins }) };
  assert.equal((await fetch(`${coffer.url}/dashboard/api/accounts/${id}`, change)).status, 200);
}

/** Opens the shop's page with this in it, and notes the widget's events. */
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

test('the checkout opens over the page, tells it what happens, and gives the focus back', async () => {
  const invoice = await invoiceOf();
  const page = await shopWith(element(invoice));
  const button = page.getByRole('button', { name: 'Pay now' });
  await button.focus();
  await page.keyboard.press('Enter');
  const frame = page.frameLocator('iframe[title="Payment"]');
  await frame.getByRole('button', { name: /Litecoin/ }).click();
  await frame.getByRole('heading', { level: 1, name: /Send/ }).waitFor();
  await picture(page, 'widget');
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  await frame.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
  await page.waitForFunction(() => window.told.some(([, status]) => status === 'confirmed'));
  await accessible(page, 'widget');
  // Escape is pressed inside the frame, where the payer is.
  await frame.locator('body').press('Escape');
  await page.waitForFunction(() => window.told.at(-1)[0] === 'close');
  assert.equal(await page.locator('dialog').count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'coffer-checkout');
  const names = (await told(page)).map((one) => one.join(' ').trim());
  assert.deepEqual([names[0], names[1], names.at(-1)], ['open', 'status created', 'close']);
  assert.ok(names.includes('status awaiting_payment') && names.includes('status confirmed'), names);
  await closePage(page);
});

test('a refusal is read in the dialog, and leads back', async () => {
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
    await picture(page, 'widget-refused');
    await accessible(page, 'widget-refused');
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

test('nobody but the page that was named is told anything', async () => {
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

test('a page whose origin is not listed is refused, and a frame that is refused becomes a redirect', async () => {
  const invoice = await invoiceOf();
  await allow(['https://shop.example']);
  try {
    const page = await shopWith(element(invoice));
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.waitForFunction(() => window.told.length > 0);
    assert.deepEqual(await told(page), [['error', 'forbidden']]);
    await closePage(page, ['403', 'Coffer:']);
    // The session is answered as if the page were listed; the frame is not shown.
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

test('a browser without dialogs or style sheets of scripts goes to the checkout', async () => {
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

/** Sends the webhook of this type again, and waits until it has come. */
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

/** Pays a live invoice of this order, and waits until the shop has been told. */
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

test('the small shop sells, and ships when the webhook says so', async () => {
  const shop = spawn('node', [new URL('../../examples/shop/shop.mjs', import.meta.url).pathname], {
    env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(shop, 'exit');
  try {
    const [line] = await once(createInterface({ input: shop.stdout }), 'line');
    const [, url, service] = line.match(/at (\S+), its Coffer at (\S+)/);
    const page = await openPage(browser, url, { origins: [service] });
    await accessible(page, 'shop');
    const answer = page.waitForResponse(`${url}orders`);
    await page.getByRole('button', { name: 'Buy beans' }).click();
    const { order } = await (await answer).json();
    // What is paid in the other mode is another invoice, though it has the same order.
    await payLive(service, order);
    const status = async () => (await (await fetch(`${url}orders/${order}`)).json()).status;
    // The shop hears of its own one when it hears of it.
    for (let asked = 0; asked < 10_000 && await status() === 'open'; asked += 1);
    assert.equal(await status(), 'created');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: /Litecoin/ }).click();
    await frame.getByRole('button', { name: /exact/i }).click();
    await frame.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Coffee beans, 1 kg: paid. We ship it today.').waitFor();
    await picture(page, 'shop');
    // What comes late undoes nothing.
    await resend(service, 'invoice.created');
    assert.equal(await status(), 'paid');
    // A webhook that nobody signed is refused.
    const forged = await fetch(`${url}webhooks`, { method: 'POST', body: '{}' });
    assert.equal(forged.status, 400);
    await closePage(page);
  } finally {
    // Also after a failure: what runs on keeps the tests from ending.
    shop.kill();
  }
  const [code] = await ended;
  assert.equal(code, 0);
});
