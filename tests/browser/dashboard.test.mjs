// The operator pages in a real browser: sign-in, home, invoices, payouts and refunds, webhooks.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, takePicture, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, goTo, createPaidInvoice, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('signed-in user sees the account and the mode until sign-out', async () => {
  const page = await openPage(browser, `${coffer.url}/dashboard`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await checkPageInAllModes(page, 'sign-in');
  await page.getByLabel('Email').fill('operator@sandbox.test');
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Password').fill('sandbox');
  await page.keyboard.press('Enter');
  await page.locator('#content[data-place="/"]').waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('Test mode: nothing here is real money.').waitFor();
  await checkPageInAllModes(page, 'home-empty');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await closePage(page, ['401']);
});

test('page explains that it needs JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/dashboard`, { javaScriptEnabled: false });
  assert.match(await page.locator('noscript').textContent(), /this browser runs none/);
  await closePage(page);
});

test('empty pages say what to do', async () => {
  const page = await signIn(browser, coffer);
  for (const place of ['invoices', 'payouts', 'refunds', 'deliveries', 'events']) {
    await goTo(page, `/${place}`);
    await checkPageInAllModes(page, `${place}-empty`);
  }
  await closePage(page, ['401']);
});

test('invoice is found, shown with its timeline and cancelled, and its data is escaped', async () => {
  const told = { customerEmail: 'ada@shop.test', description: HOSTILE, metadata: { note: HOSTILE } };
  await createPaidInvoice(coffer, '20.00', { orderId: 'order-1', ...told });
  const open = await coffer.test('POST', '/v1/invoices', { amount: '7.00', currency: 'EUR', orderId: 'order-2' });
  const part = await coffer.test('POST', '/v1/invoices', { amount: '8.00', currency: 'EUR', asset: 'LTC' });
  const page = await signIn(browser, coffer);
  await goTo(page, '/invoices');
  await page.getByRole('table', { name: 'Invoices' }).getByText('order-2').waitFor();
  await checkPageInAllModes(page, 'invoices');
  await page.getByLabel('Search').fill(`note=${HOSTILE}`);
  await page.keyboard.press('Enter');
  await page.getByText('order-2').waitFor({ state: 'detached' });
  await page.getByRole('table', { name: 'Invoices' }).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: /20\.00/ }).waitFor();
  await page.getByText(HOSTILE, { exact: true }).first().waitFor();
  await page.getByText('Paid. The amount less the fee is on the balance.').first().waitFor();
  // Times are in the format of the user's locale.
  const texts = await page.locator('.steps').first().innerText();
  assert.ok(!/\d{4}-\d\d-\d\dT/.test(texts), texts);
  await page.locator('.steps p:has-text("Created 20.00 EUR due until") time[datetime]').waitFor();
  await checkPageInAllModes(page, 'invoice');
  await goTo(page, `/invoices/${open.id}`);
  await coffer.test('POST', `/v1/invoices/${part.id}/simulate`, { case: 'under' });
  await goTo(page, `/invoices/${part.id}`);
  await page.getByText('the customer can send the rest').waitFor();
  assert.equal(await page.getByText('The payment window ended').count(), 0);
  await checkPageInAllModes(page, 'invoice-part');
  await goTo(page, `/invoices/${open.id}`);
  await page.getByRole('button', { name: 'Cancel invoice…' }).click();
  await checkPage(page, 'dashboard-invoice-cancel');
  await page.getByRole('button', { name: 'Cancel invoice', exact: true }).click();
  await page.getByText('Cancelled before a payment arrived.').first().waitFor();
  assert.equal((await coffer.test('GET', `/v1/invoices/${open.id}`)).status, 'cancelled');
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  await goTo(page, '/');
  await checkPageInAllModes(page, 'home');
  await closePage(page, ['401']);
});

test('a refund is requested, approved, and sent', async () => {
  const invoice = await createPaidInvoice(coffer, '50.00', { orderId: 'order-3' });
  const page = await signIn(browser, coffer);
  await goTo(page, `/invoices/${invoice.id}`);
  // A double click while the coins are loading sends one request.
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  await page.route('**/dashboard/api/coins', async (route) => {
    await answered;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Refund invoice…' }).dblclick();
  answer();
  await page.getByRole('dialog').first().waitFor();
  assert.equal(page.requests.filter((url) => url.endsWith('/coins')).length, 1);
  assert.equal(await page.getByRole('dialog').count(), 1);
  await page.getByLabel('Amount in EUR').fill('5.00');
  await page.getByLabel('Customer’s address').fill('nowhere');
  await page.getByRole('button', { name: 'Request refund' }).click();
  await page.locator('.wrong:visible').waitFor();
  await checkPage(page, 'dashboard-refund-wrong');
  await page.getByLabel('Customer’s address').fill(invoice.depositAddress);
  await page.getByRole('button', { name: 'Request refund' }).click();
  await page.getByRole('heading', { level: 1, name: /Refund of/ }).waitFor();
  await steps(page, 'refund');
  await checkPageInAllModes(page, 'refund');
  await goTo(page, '/refunds');
  await checkPageInAllModes(page, 'refunds');
  await closePage(page, ['400', '401', '422']);
});

test('a link opens the form of a refund with its amount filled in, and sends nothing', async () => {
  const invoice = await createPaidInvoice(coffer, '40.00', { orderId: 'linked-1' });
  const open = await coffer.test('POST', '/v1/invoices', { amount: '7.00', currency: 'EUR', orderId: 'linked-2' });
  const refunds = async () => (await coffer.test('GET', `/v1/refunds?invoiceId=${invoice.id}`)).data;
  const page = await openPage(browser, `${coffer.url}/dashboard#/invoices/${invoice.id}?mode=test&refund=12.50`);
  await page.getByLabel('Email').fill('operator@sandbox.test');
  await page.getByLabel('Password').fill('sandbox');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Request a refund' });
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('Amount in EUR').inputValue(), '12.50');
  assert.equal(await dialog.getByLabel('Customer’s address').inputValue(), '');
  await checkPage(page, 'dashboard-refund-linked');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await refunds(), []);
  assert.ok(page.url().endsWith(`#/invoices/${invoice.id}?mode=test`), page.url());
  await page.reload();
  await page.getByRole('heading', { level: 1, name: /40\.00 EUR · linked-1/ }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0, 'a reload does not ask again');
  // A wrong amount is shown as it is, and the form refuses it.
  const place = (id, amount) => `/invoices/${id}?mode=test&refund=${encodeURIComponent(amount)}`;
  for (const amount of [HOSTILE, '40.01', '1e1', '-5', '9'.repeat(5000)]) {
    await goTo(page, place(invoice.id, amount));
    await dialog.waitFor();
    assert.equal(await dialog.getByLabel('Amount in EUR').inputValue(), amount);
    await dialog.getByLabel('Customer’s address').fill(invoice.depositAddress);
    await dialog.getByRole('button', { name: 'Request refund' }).click();
    await dialog.locator('.wrong:visible').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  assert.deepEqual(await refunds(), []);
  await goTo(page, place(open.id, '7.00'));
  await page.getByText('There is nothing to refund: no payment of this invoice is confirmed.').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  await goTo(page, `/invoices/${invoice.id}?mode=test&refund=`);
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('Amount in EUR').inputValue(), '');
  await dialog.getByLabel('Amount in EUR').fill('12.50');
  await dialog.getByLabel('Customer’s address').fill(invoice.depositAddress);
  await dialog.getByRole('button', { name: 'Request refund' }).click();
  await page.getByRole('heading', { level: 1, name: 'Refund of 12.50' }).waitFor();
  assert.deepEqual((await refunds()).map(({ amount, status }) => [amount, status]), [['12.50', 'requested']]);
  await closePage(page, ['400', '401', '422']);
});

/** Plays a refund from requested to paid. */
async function steps(page, name) {
  await page.getByRole('button', { name: 'Approve refund…' }).click();
  await checkPage(page, `dashboard-${name}-approve`);
  await page.getByRole('button', { name: 'Approve refund', exact: true }).click();
  await page.getByRole('button', { name: 'Start sending…' }).click();
  await page.getByRole('button', { name: 'Start sending', exact: true }).click();
  await page.getByRole('heading', { name: 'Send it from your wallet' }).waitFor();
  await takePicture(page, `dashboard-${name}-processing`);
  await page.getByRole('button', { name: 'Enter transaction…' }).click();
  await page.getByRole('button', { name: 'Enter transaction', exact: true }).click();
  await page.getByText('Sent.', { exact: true }).first().waitFor();
}

/** Numbers that JavaScript cannot represent exactly and the page must not change. */
const NUMBERS = '"order": 12345678901234567890,';
const METADATA = `{
  ${NUMBERS}
  "rate": 1.10,
  "said": "a \\"{,}\\" b",
  "none": {},
  "2": [
    1e+400
  ]
}`;

/** Creates a paid invoice with this metadata. */
async function exact(coffer) {
  const headers = { 'X-API-Key': coffer.keys.secretTest, 'content-type': 'application/json' };
  const metadata = METADATA.replace(/\n */g, '');
  const body = `{"amount":"3.00","currency":"EUR","asset":"LTC","orderId":"order-4","metadata":${metadata}}`;
  const made = await fetch(`${coffer.url}/v1/invoices`, { method: 'POST', headers, body });
  assert.equal(made.status, 201, await made.clone().text());
  const invoice = await made.json();
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  return invoice;
}

test('endpoint is added, delivery is shown and resent, and signature is verified', async () => {
  await coffer.control('POST', '/inbox/shop', {}).catch(() => null);
  const page = await signIn(browser, coffer);
  await goTo(page, '/webhooks');
  await page.getByRole('button', { name: 'Add endpoint…' }).first().click();
  await page.getByLabel('URL').fill(`${coffer.url}/sandbox/inbox/shop`);
  await checkPage(page, 'dashboard-endpoint-add');
  await page.getByRole('button', { name: 'Add endpoint', exact: true }).click();
  await page.getByRole('heading', { name: 'Signing secret' }).waitFor();
  const secret = await page.locator('.secret code').textContent();
  await page.getByRole('button', { name: 'Done' }).click();
  const invoice = await exact(coffer);
  await goTo(page, '/webhooks');
  await checkPageInAllModes(page, 'webhooks');
  await goTo(page, '/deliveries');
  await page.getByRole('table', { name: 'Deliveries' }).waitFor();
  await checkPageInAllModes(page, 'deliveries');
  await page.getByRole('link', { name: 'invoice.confirmed' }).first().click();
  await page.getByRole('heading', { name: 'Attempt 1' }).waitFor();
  assert.ok((await page.locator('#content pre').last().innerText()).includes(NUMBERS));
  await checkPageInAllModes(page, 'delivery');
  await page.getByRole('button', { name: 'Resend delivery' }).click();
  await page.getByText('Delivery queued.').waitFor();
  await goTo(page, '/events');
  await page.getByRole('button', { name: 'Show body' }).first().click();
  await page.getByRole('dialog').getByText('12345678901234567890').waitFor();
  await checkPage(page, 'dashboard-event-body');
  await page.getByRole('button', { name: 'Close' }).click();
  await checkPageInAllModes(page, 'events');
  await goTo(page, `/invoices/${invoice.id}`);
  assert.equal(await page.getByRole('region', { name: 'Metadata' }).locator('pre').innerText(), METADATA);
  await goTo(page, '/signature');
  const body = '{"a":1}\n';
  const { createHmac } = await import('node:crypto');
  const t = Math.floor(Date.now() / 1000);
  const hex = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  await page.getByLabel('Body, exactly as received').fill(body);
  await page.getByLabel('Headers').fill(`X-Service-Signature: t=${t},v1=${hex}`);
  await page.getByLabel('Secret', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Verify signature', exact: true }).click();
  await page.getByText('The signature is valid.').waitFor();
  const bytes = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const base64 = createHmac('sha256', bytes).update(`evt_1.${t}.${body}`).digest('base64');
  await page.getByLabel('Headers').fill(`webhook-id: evt_1\nwebhook-timestamp: ${t}\nwebhook-signature: v1,${base64}`);
  await page.getByRole('button', { name: 'Verify signature', exact: true }).click();
  await page.getByText('The signature is valid.').waitFor();
  await page.getByLabel('Body, exactly as received').fill(`${body} `);
  await page.getByRole('button', { name: 'Verify signature', exact: true }).click();
  await page.getByText('The signature is not valid.').waitFor();
  await checkPageInAllModes(page, 'signature');
  await closePage(page, ['401', '403']);
});
