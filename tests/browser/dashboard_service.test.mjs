// The operator pages in a real browser: first steps, books, keys, settings, and pages for operators only.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closePage, checkPage, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, goTo, createPaidInvoice, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** A name that is markup and too long for a line, without a space to break it. */
const LONG = `${HOSTILE}${'W'.repeat(100)}`;

test('empty pages say what to do', async () => {
  const page = await signIn(browser, coffer);
  const ofAccount = ['start', 'links', 'customers', 'unmatched', 'ledger', 'settings', 'keys', 'tokens', 'audit'];
  const ofService = ['accounts', 'users', 'wallets', 'chains', 'coins', 'servers', 'service', 'me'];
  for (const place of [...ofAccount, ...ofService]) {
    await goTo(page, `/${place}`);
    await checkPageInAllModes(page, `${place}-empty`);
  }
  await closePage(page, ['401']);
});

test('first steps end with a paid test invoice', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/start');
  await page.getByRole('button', { name: 'Create test key' }).click();
  await page.getByRole('heading', { name: 'Your new key' }).waitFor();
  assert.match(await page.locator('dialog .secret code').textContent(), /^sk_test_|^[a-z_]*test/);
  await checkPage(page, 'dashboard-key-shown');
  const key = await page.locator('dialog .secret code').textContent();
  await keptUntilSaid(page, key);
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.getByRole('button', { name: 'Pay invoice' }).click();
  await page.getByRole('heading', { name: 'Your first invoice is paid' }).waitFor();
  await page.getByText('"type": "invoice.confirmed"').waitFor();
  await checkPageInAllModes(page, 'start');
  await revoked(page, key);
  await goTo(page, '/tokens');
  await goTo(page, '/start');
  await page.getByRole('button', { name: 'Create test key' }).waitFor();
  await goTo(page, '/tokens');
  await page.getByRole('button', { name: 'Create token' }).click();
  await keptUntilSaid(page, await page.locator('dialog .secret code').textContent());
  await closePage(page, ['401', '403']);
});

/** Asserts that a secret stays visible until the user confirms, because it is shown only once. */
async function keptUntilSaid(page, text) {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').getByText(text).waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Revokes a key as another user. */
async function revoked(page, key) {
  const status = await page.evaluate(async (last4) => {
    const ask = (path, method = 'GET') => fetch(`dashboard/api/accounts${path}`, { method });
    const { data: [{ id }] } = await (await ask('')).json();
    const { data } = await (await ask(`/${id}/keys`)).json();
    return (await ask(`/${id}/keys/${data.find((one) => one.last4 === last4).id}`, 'DELETE')).status;
  }, key.slice(-4));
  assert.equal(status, 204);
}

test('the books: ledger, customers, keys and settings with data', async () => {
  await createPaidInvoice(coffer, '1200.00', { orderId: 'order-1' });
  await coffer.test('POST', '/v1/customers/ada/addresses');
  await coffer.test('POST', '/v1/customers/ada/simulate', { asset: 'SOL', amount: '2' });
  const page = await signIn(browser, coffer);
  await goTo(page, '/ledger');
  await page.getByRole('table', { name: 'Ledger' }).waitFor();
  await checkPageInAllModes(page, 'ledger');
  await lastDayCounts(page);
  await goTo(page, '/customers?customer=ada');
  await page.getByRole('heading', { name: 'Addresses of ada' }).waitFor();
  await checkPageInAllModes(page, 'customers');
  await goTo(page, '/keys');
  await checkPageInAllModes(page, 'keys');
  await goTo(page, '/settings');
  await page.frameLocator('iframe').locator('h1').waitFor();
  await page.getByLabel('Color').fill('red');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText(/branding|color/i).first().waitFor();
  await page.getByLabel('Color').fill('#336699');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Settings saved.').waitFor();
  await checkPage(page, 'dashboard-settings');
  await onlyNumbers(page);
  await onlyWhatIsDifferent(page);
  await favoriteCoins(page);
  await closePage(page, ['400', '401', '403']);
});

/** Asserts that the export and the invoice list of one day contain that whole day. */
async function lastDayCounts(page) {
  const booked = await page.getByRole('table', { name: 'Ledger' }).locator('time').first().getAttribute('datetime');
  const day = booked.slice(0, 10);
  const before = new Date(Date.parse(day) - 24 * 3600 * 1000).toISOString().slice(0, 10);
  const file = async (from, until) => {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('From').fill(from);
    await dialog.getByLabel('Until').fill(until);
    const begun = page.waitForEvent('download');
    await dialog.getByRole('link', { name: 'ledger.csv' }).click();
    const download = await begun;
    assert.equal(download.suggestedFilename(), 'ledger-test.csv');
    return readFileSync(await download.path(), 'utf8');
  };
  await page.getByRole('button', { name: 'Export for bookkeeping…' }).click();
  await checkPage(page, 'dashboard-export');
  assert.ok((await file(day, day)).includes(booked));
  assert.ok(!(await file(before, before)).includes(booked));
  await page.getByRole('button', { name: 'Close' }).click();
  await goTo(page, `/invoices?from=${day}&to=${day}`);
  await page.getByRole('table', { name: 'Invoices' }).getByText('order-1').waitFor();
  await goTo(page, `/invoices?from=${before}&to=${before}`);
  await page.getByRole('heading', { name: 'No matching invoices' }).waitFor();
}

/** Asserts that an invalid number shows an error next to its field, and that no request is sent. */
async function onlyNumbers(page) {
  const sent = [];
  page.on('request', (request) => sent.push(request.method()));
  for (const [name, label, text] of [
    ['Checkout', 'Payment window', '1,000'],
    ['Terms', 'Server quota', '1 000'],
    ['Terms', 'Server quota', '1e3'],
  ]) {
    const form = page.getByRole('form', { name });
    await form.getByLabel(label).fill(text);
    await form.getByRole('button', { name: /^Save/ }).click();
    await form.locator('.wrong:visible', { hasText: 'digits' }).waitFor();
    assert.equal(await form.locator('[aria-invalid]').inputValue(), text);
    await form.getByLabel(label).fill('900');
  }
  await checkPage(page, 'dashboard-settings-no-number');
  assert.deepEqual(sent.filter((method) => method !== 'GET'), []);
}

/** Asserts that saving keeps the changes that another operator made since the page was opened. */
async function onlyWhatIsDifferent(page) {
  const account = (method, json) => page.evaluate(async ([method, json]) => {
    const headers = { 'content-type': 'application/json' };
    const { data: [{ id }] } = await (await fetch('dashboard/api/accounts')).json();
    const body = json && JSON.stringify(json);
    return (await fetch(`dashboard/api/accounts/${id}`, { method, headers, body })).json();
  }, [method, json]);
  // Removes the message of an earlier save, so that the next message is a new one.
  const nothingSaid = () => page.locator('.toast').evaluateAll((all) => all.forEach((one) => one.remove()));
  await account('PATCH', { feeBps: 77, payoutMinimum: '33.00', cancelUrl: 'https://shop.test/' });
  await nothingSaid();
  await page.getByRole('button', { name: 'Save terms' }).click();
  await page.getByText('Settings saved.').waitFor();
  const terms = await account('GET');
  assert.deepEqual([terms.serverQuota, terms.feeBps, terms.payoutMinimum], [900, 77, '33.00']);
  await account('PATCH', { cancelUrl: 'https://shop.test/2', branding: { color: null }, allowedOrigins: [] });
  await page.getByLabel('Payment window').fill('15');
  await nothingSaid();
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Settings saved.').waitFor();
  const settings = await account('GET');
  assert.deepEqual([settings.ttlSeconds, settings.cancelUrl], [900, 'https://shop.test/2']);
  assert.deepEqual(settings.branding, { color: null, logoUrl: null });
}

/** Asserts that favorite coins are chosen by name, in order, and removed. */
async function favoriteCoins(page) {
  await goTo(page, '/keys');
  await goTo(page, '/settings');
  const chosen = page.getByRole('list', { name: 'Favorite coins' }).getByRole('listitem');
  for (const name of ['USD Coin on Base', 'Litecoin', 'Bitcoin']) {
    await page.getByLabel('Favorite coins').and(page.getByRole('combobox')).selectOption(name);
    await page.getByRole('button', { name: 'Add coin' }).dblclick();
    await chosen.filter({ hasText: name }).waitFor();
  }
  await page.getByRole('button', { name: 'Remove Litecoin' }).click();
  assert.deepEqual(await chosen.evaluateAll((all) => all.map((one) => one.firstChild.textContent)),
    ['USD Coin on Base', 'Bitcoin']);
  await page.getByLabel('Receipt lines').fill('Sandbox Shop Ltd');
  await checkPageInAllModes(page, 'settings-favorites');
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'PATCH'),
    page.getByRole('button', { name: 'Save settings' }).click(),
  ]);
  assert.deepEqual(sent.postDataJSON(), { favoriteCoins: ['USDC-BASE', 'BTC'], addressLines: ['Sandbox Shop Ltd'] });
}

test('merchant sees only the own account', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/accounts');
  await page.getByRole('button', { name: 'Add account…' }).first().click();
  await page.getByLabel('Merchant name').fill(LONG);
  await page.getByRole('button', { name: 'Add account', exact: true }).click();
  await page.getByRole('table', { name: 'Accounts' }).getByText(LONG).waitFor();
  await checkPageInAllModes(page, 'accounts');
  await goTo(page, '/users');
  await page.getByRole('button', { name: 'Add user…' }).click();
  await page.getByLabel('Email').fill('merchant@shop.test');
  await page.getByLabel('Initial password').fill('a long password 1');
  await page.getByLabel('Role').selectOption({ label: 'Merchant: Sandbox Shop' });
  await page.getByRole('button', { name: 'Add user', exact: true }).click();
  const again = page.getByRole('heading', { name: 'Confirm with your password' });
  const added = page.getByText('merchant@shop.test', { exact: true });
  await again.or(added).first().waitFor();
  await page.getByRole('cell', { name: 'merchant@shop.test' }).waitFor();
  await checkPageInAllModes(page, 'users');
  await closePage(page, ['401', '403']);
  const invoice = await createPaidInvoice(coffer, '30.00');
  const refund = await coffer.control('POST', '/refunds', { invoice: invoice.id });
  const merchant = await signIn(browser, coffer, { email: 'merchant@shop.test', password: 'a long password 1' });
  const side = await merchant.locator('#side').textContent();
  for (const hidden of ['Accounts', 'Team', 'Wallets', 'Maintenance', 'Unmatched payments']) {
    assert.ok(!side.includes(hidden), hidden);
  }
  for (const place of ['/accounts', '/users', '/unmatched', '/service', '/wallets']) {
    await goTo(merchant, place);
    await merchant.getByRole('heading', { name: 'Page not found' }).waitFor();
  }
  const money = ['/invoices', '/payouts', '/refunds', '/ledger'];
  for (const place of [...money, '/settings', '/keys', '/webhooks', '/audit', '/start', '/tokens']) {
    await goTo(merchant, place);
    assert.equal(await merchant.locator('#content .note.bad:visible').count(), 0, place);
  }
  assert.equal(await merchant.locator('select#account').count(), 0);
  // A merchant has no button for the operations of operators, and requests for them are rejected.
  await goTo(merchant, `/refunds/${refund.id}`);
  await merchant.getByText('An operator approves or rejects it.').first().waitFor();
  for (const name of ['Approve refund…', 'Reject refund…', 'Cancel refund…']) {
    assert.equal(await merchant.getByRole('button', { name }).count(), 0, name);
  }
  await checkPageInAllModes(merchant, 'refund-of-merchant');
  const refused = await merchant.evaluate(async (id) => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"action":"approve"}';
    return (await fetch(`dashboard/api/refunds/${id}`, { method: 'POST', headers, body })).status;
  }, refund.id);
  assert.equal(refused, 403);
  await goTo(merchant, '/ledger');
  assert.equal(await merchant.getByRole('button', { name: 'Correct balance…' }).count(), 0);
  await closePage(merchant, ['401', '403']);
});

test('every page works by keyboard, and dialogs restore the focus', async () => {
  const page = await signIn(browser, coffer, { viewport: { width: 320, height: 640 } });
  await page.getByRole('button', { name: 'Menu' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Developers' }).focus();
  await checkPage(page, 'dashboard-menu-phone');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  const make = page.getByRole('button', { name: 'Create key…' }).first();
  await make.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(await make.evaluate((button) => button === document.activeElement));
  await closePage(page, ['401']);
});

test('late page does not move the focus', async () => {
  const page = await signIn(browser, coffer, { viewport: { width: 320, height: 640 } });
  await goTo(page, '/payouts');
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  await page.route('**/api/accounts/*/keys', async (route) => {
    await answered;
    await route.continue();
  });
  const asked = page.waitForRequest('**/api/accounts/*/keys');
  await page.evaluate(() => { location.hash = '/keys'; });
  await asked;
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.focus();
  answer();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  assert.ok(await menu.evaluate((button) => button === document.activeElement));
  await closePage(page, ['401']);
});

test('page stays visible during a reload', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/chains');
  await page.clock.install();
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  await page.route('**/dashboard/api/chains', async (route) => {
    await answered;
    await route.continue();
  });
  const asked = page.waitForRequest('**/dashboard/api/chains');
  await page.getByRole('button', { name: 'Refresh chains' }).click();
  await asked;
  await page.clock.runFor(1000);
  assert.equal(await page.getByRole('heading', { level: 1, name: 'Chains' }).count(), 1);
  answer();
  await page.locator('#content:not([aria-busy])').waitFor();
  await closePage(page, ['401']);
});

test('failed reload after a change shows the reason', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/accounts');
  await page.route('**/dashboard/api/session', (route) => route.abort());
  await page.getByRole('button', { name: 'Add account…' }).first().click();
  await page.getByLabel('Merchant name').fill('Offline Shop');
  await page.getByRole('button', { name: 'Add account', exact: true }).click();
  await page.getByText('No connection to the server').waitFor();
  await page.unroute('**/dashboard/api/session');
  await page.reload();
  await goTo(page, '/accounts');
  await page.getByRole('cell', { name: 'Offline Shop' }).waitFor();
  await closePage(page, ['401', 'ERR_FAILED']);
});

test('maintenance and coin switches explain their effect first', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/service');
  await page.getByRole('button', { name: 'Start maintenance…' }).click();
  await checkPage(page, 'dashboard-maintenance');
  await page.getByRole('button', { name: 'Start maintenance', exact: true }).click();
  await page.getByRole('button', { name: 'End maintenance' }).waitFor();
  await goTo(page, '/');
  await page.getByText('Maintenance is on').waitFor();
  await checkPageInAllModes(page, 'home-needs');
  await goTo(page, '/service');
  await page.getByRole('button', { name: 'End maintenance' }).click();
  await page.getByRole('button', { name: 'Start maintenance…' }).waitFor();
  await goTo(page, '/coins');
  await page.getByRole('row', { name: /Dogecoin/ }).getByRole('button', { name: 'Set confirmations…' }).click();
  await page.getByLabel('Rules, one on each line').fill('100: 1\n3');
  await page.getByRole('button', { name: 'Save confirmations' }).click();
  await page.getByText('1 below 100').waitFor();
  await checkPageInAllModes(page, 'coins');
  await goTo(page, '/audit');
  await checkPageInAllModes(page, 'audit');
  await closePage(page, ['401', '403']);
});
