// One story in a real browser, with the real program, a real chain and two days: from the setup link to a customer's
// payment and a refund, and on the next day, after a restore, to a payout.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser } from './harness.mjs';
import { goTo, checkPageInAllModes } from './operator_pages.mjs';
import { ANVIL, clockIn, coffer, missing, scratch, serve, startChain } from './served.mjs';

const WHO = { email: 'anna@shop.test', password: 'a long word of Anna' };
/** Extended public key of the well-known test phrase. Coffer derives receiving addresses from the key. */
const XPUB =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';
const RATES = { ETH: { EUR: '2000', USD: '2200' } };
/** More than a day, in seconds: a day and an hour. */
const A_DAY = 25 * 3600;
/** Parts of browser messages about expected error responses. */
const SAYS_NO = ['400', '401', '403'];

test('from the first-run link to a refund and a payout that were sent', { skip: missing(ANVIL, 'cc') }, async (t) => {
  const folder = scratch(t);
  const file = join(folder, 'shop.db');
  const rates = join(folder, 'rates.json');
  writeFileSync(rates, JSON.stringify(RATES));
  const [chain, browser] = await Promise.all([startChain(t), startBrowser()]);
  t.after(() => browser.close());
  const settings = ['--test-networks', '--rates', `fixed:${rates}`];
  const [customer, bank] = chain.others;

  const server = await serve(t, file, settings);
  const page = await openPage(browser, await server.setUpLink());
  await firstOperator(page);
  await firstSteps(page, chain);
  await payoutsGoTo(page, bank);
  await chainIsRead(page);
  const invoice = await customerPays(browser, server, await liveKey(page), chain);
  await refunded(page, invoice, customer, chain);
  await waits(page);
  await closePage(page, SAYS_NO);
  assert.equal(await server.stop(), 0);

  await chain.pass(A_DAY);
  const clock = { ahead: A_DAY, library: clockIn(folder) };
  const next = await serve(t, file, settings, clock);
  const later = await openPage(browser, `${next.url}/dashboard`);
  await signIn(later);
  const payout = await requested(later);
  await closePage(later, SAYS_NO);
  assert.equal(await next.stop(), 0);

  const copy = join(folder, 'copy.db');
  coffer('backup', copy, '--file', file);
  coffer('restore', copy, '--force', '--file', file);
  const restored = await serve(t, file, settings, clock);
  const last = await openPage(browser, `${restored.url}/dashboard`);
  await signIn(last);
  await goTo(last, '/chains');
  await last.getByText('A restore under another public URL removed the node.').waitFor();
  await chainConnected(last, chain);
  await released(last, payout);
  await paidOut(last, bank, chain);
  await closePage(last, SAYS_NO);
  assert.equal(await restored.stop(), 0);
  const audit = JSON.parse(coffer('audit', '--json', '--file', file));
  assert.deepEqual([audit.findingCount, audit.findings], [0, []]);
});

/** Creates the first operator and the shop on the page of the setup link, which signs in. */
async function firstOperator(page) {
  await page.getByRole('heading', { name: 'Set up Coffer' }).waitFor();
  await checkPage(page, 'first-run-set-up');
  await page.getByLabel('Email').fill(WHO.email);
  await page.getByLabel('Password').fill(WHO.password);
  await page.getByLabel('Name of the shop').fill('Anna’s Books');
  await page.getByRole('button', { name: 'Create operator' }).click();
  await page.locator('#content:not([aria-busy])').waitFor();
  await page.getByText(WHO.email).waitFor();
}

async function signIn(page) {
  await page.getByLabel('Email').fill(WHO.email);
  await page.getByLabel('Password').fill(WHO.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content:not([aria-busy])').waitFor();
}

/** Enters the node of the chain. The page shows only its host, and every operator is told on Home. */
async function chainConnected(page, chain) {
  const card = page.getByRole('region', { name: 'Node of Ethereum' });
  await card.getByRole('button', { name: 'Connect chain…' }).click();
  await checkPage(page, 'first-run-connect-chain');
  await page.getByLabel('Node URL').fill('http://169.254.169.254/');
  await page.getByRole('button', { name: 'Connect node' }).click();
  await page.locator('.wrong:visible', { hasText: 'link-local' }).waitFor();
  await page.getByLabel('Node URL').fill(chain.url.replace('http://', 'http://anna:secret@'));
  await page.getByRole('button', { name: 'Connect node' }).click();
  await page.getByText(/Ethereum is connected: network \d+, block \d+/).waitFor();
  await card.getByText(chain.url.replace(/\/$/, '')).waitFor();
  assert.equal((await page.content()).includes('anna:secret'), false);
  await goTo(page, '/');
  await page.getByRole('region', { name: 'Changes of nodes' }).getByText('was entered by anna@shop.test').waitFor();
}

/** Takes the first steps: a chain, a wallet, a test key, and a paid test invoice. The account is active already. */
async function firstSteps(page, chain) {
  await page.getByRole('heading', { level: 1, name: 'Anna’s Books' }).waitFor();
  await page.getByText('0 of 7 done').waitFor();
  await checkPageInAllModes(page, 'first-run-home-first');
  await page.getByRole('link', { name: 'Connect chain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Chains' }).waitFor();
  await chainConnected(page, chain);
  await checkPageInAllModes(page, 'first-run-node-entered');
  await page.getByRole('link', { name: 'Add wallet' }).click();
  await page.getByRole('heading', { level: 1, name: 'Wallets' }).waitFor();
  await page.getByRole('button', { name: 'Add wallet…' }).first().click();
  await page.getByLabel('Chain').selectOption('evm');
  await page.getByLabel('Extended public key or descriptor').fill(XPUB);
  await page.getByRole('button', { name: 'Check key' }).click();
  await page.getByRole('button', { name: 'Add wallet', exact: true }).click();
  await page.getByText('Wallet added.').waitFor();
  await goTo(page, '/start');
  await page.locator('[data-step="wallet"].good').waitFor();
  await page.getByRole('button', { name: 'Create test key' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Create invoice' }).click();
  await page.getByRole('button', { name: 'Pay invoice' }).click();
  await page.getByRole('heading', { name: 'Your first invoice is paid' }).waitFor();
  await page.locator('[data-step="test_payment"].good').waitFor();
  await checkPageInAllModes(page, 'first-run-steps');
}

/** Switches to live mode and sets the payout address, which is valid a day later. */
async function payoutsGoTo(page, address) {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(page, '/settings');
  await page.getByLabel('Payout coin').selectOption('ETH');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Settings saved.').waitFor();
  await page.getByRole('button', { name: 'Set address…' }).click();
  await page.getByLabel('Chain').selectOption('ethereum');
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill(address);
  await page.getByRole('button', { name: 'Set address', exact: true }).click();
  await page.getByRole('table', { name: 'Payout addresses' }).getByText(new RegExp(address, 'i')).waitFor();
}

/** Waits until the server keeps up with the chain, so that its coin is on offer. */
async function chainIsRead(page) {
  await goTo(page, '/chains');
  await page.getByRole('heading', { level: 2, name: 'Ethereum' }).waitFor();
  for (let looks = 0; looks < 100 && await page.getByText('Up to date').count() === 0; looks += 1) {
    await page.getByRole('button', { name: 'Refresh chains' }).click();
    await page.locator('#content:not([aria-busy])').waitFor();
  }
  await page.getByText('Up to date').waitFor();
  await checkPageInAllModes(page, 'first-run-chains');
}

/** Creates the live key of the shop. */
async function liveKey(page) {
  await goTo(page, '/keys');
  await page.getByRole('button', { name: 'Create key…' }).click();
  await page.getByRole('combobox', { name: 'Mode' }).selectOption('live');
  await page.getByRole('button', { name: 'Create key', exact: true }).click();
  const key = await page.locator('dialog .secret code').textContent();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  assert.match(key, /^sk_live_/);
  return key;
}

/** Creates an invoice as the shop, and pays it as the customer from a wallet on the chain. */
async function customerPays(browser, server, key, chain) {
  const headers = { 'X-API-Key': key, 'content-type': 'application/json' };
  const order = JSON.stringify({ amount: '400.00', currency: 'EUR', orderId: 'order-1' });
  const made = await fetch(`${server.url}/v1/invoices`, { method: 'POST', headers, body: order });
  assert.equal(made.status, 201, await made.clone().text());
  const invoice = await made.json();
  const page = await openPage(browser, invoice.checkoutUrl, { viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: /Ether/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Send 0.2 ETH' }).waitFor();
  await checkPage(page, 'first-run-checkout');
  await chain.pay(await page.getByRole('link', { name: 'Open in wallet' }).getAttribute('href'));
  await page.getByRole('heading', { level: 1, name: 'Paid' }).waitFor({ timeout: 60_000 });
  await checkPage(page, 'first-run-checkout-paid');
  await closePage(page);
  return invoice;
}

/** Refunds a part of the invoice: requests, approves, sends from a wallet and records it. */
async function refunded(page, invoice, customer, chain) {
  await goTo(page, '/invoices');
  await page.getByRole('table', { name: 'Invoices' }).getByText('order-1').waitFor();
  await goTo(page, `/invoices/${invoice.id}`);
  await page.getByRole('button', { name: 'Refund invoice…' }).click();
  await page.getByLabel('Amount in EUR').fill('50.00');
  await page.getByLabel('Customer’s address').fill(customer);
  await page.getByRole('button', { name: 'Request refund' }).click();
  await page.getByRole('heading', { level: 1, name: 'Refund of 50.00' }).waitFor();
  await sent(page, customer, chain);
  await checkPageInAllModes(page, 'first-run-refund');
}

/** Asserts that a payout is rejected until the payout address is a day old, and that the page shows this time. */
async function waits(page) {
  await requestPayout(page);
  await page.getByRole('dialog').getByText(/payouts to it are possible from \d/).locator('time').waitFor();
  await checkPage(page, 'first-run-payout-waits');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
}

async function requestPayout(page) {
  await goTo(page, '/payouts');
  await page.getByRole('button', { name: 'Request payout…' }).click();
  await page.getByRole('dialog').locator('dd').getByText('ETH', { exact: true }).waitFor();
  await page.getByLabel('Amount').fill('300.00');
  await page.getByRole('button', { name: 'Request payout', exact: true }).click();
}

/** Requests the payout a day later and returns its id. */
async function requested(page) {
  await requestPayout(page);
  await page.getByRole('heading', { level: 1, name: 'Payout of 300.00' }).waitFor();
  return new URL(page.url()).hash.split('/')[2].split('?')[0];
}

/** Releases a payout in a restored file. The page first asks to check on the chain that it was not sent. */
async function released(page, payout) {
  await goTo(page, '/');
  await page.getByText('Payouts and refunds with unknown outcome').waitFor();
  await goTo(page, `/payouts/${payout}`);
  await page.getByText('If it was not sent, release it.').waitFor();
  assert.equal(await page.locator('#content button.primary').innerText(), 'Release payout…');
  await checkPageInAllModes(page, 'first-run-held');
  await page.getByRole('button', { name: 'Release payout…' }).click();
  await page.getByRole('button', { name: 'Release payout', exact: true }).click();
  await page.getByText('Payout released.').waitFor();
  await page.getByRole('button', { name: /^Approve (payout|refund)…$/ }).waitFor();
  assert.equal(await page.getByText('Look for it on the chain').count(), 0);
}

/** Approves, sends and records the payout. The home page shows the remaining balance. */
async function paidOut(page, bank, chain) {
  await sent(page, bank, chain);
  await checkPageInAllModes(page, 'first-run-payout');
  await goTo(page, '/');
  await checkPageInAllModes(page, 'first-run-home');
}

/** Plays a transfer from requested to paid. Asserts that the address receives exactly the amount of the page's link. */
async function sent(page, address, chain) {
  await page.getByRole('button', { name: /^Approve (payout|refund)…$/ }).click();
  await page.getByRole('dialog').getByText('estimated by the node').waitFor();
  await aSlipIsRefused(page);
  await page.getByLabel('Network fee in ETH').fill('0.001');
  await page.getByRole('button', { name: /^Approve (payout|refund)$/ }).click();
  await page.getByRole('button', { name: 'Start sending…' }).click();
  await page.getByRole('button', { name: 'Start sending', exact: true }).click();
  await page.getByRole('img', { name: 'QR code of the payment' }).waitFor();
  const link = await page.getByRole('link', { name: 'open it in a wallet' }).getAttribute('href');
  const before = await chain.balance(address);
  const { txid, to, value } = await chain.send(link);
  assert.equal(to.toLowerCase(), address.toLowerCase());
  assert.equal(await chain.balance(address) - before, value);
  await page.getByRole('button', { name: 'Enter transaction…' }).click();
  await page.getByRole('textbox', { name: 'Transaction' }).fill(txid);
  await page.getByRole('button', { name: 'Enter transaction', exact: true }).click();
  await page.getByRole('button', { name: 'Change transaction…' }).waitFor();
  await checkPage(page, 'first-run-entered');
  await chain.settle();
  const isPaid = page.getByText('Sent.', { exact: true }).first();
  const until = Date.now() + 60_000;
  while (Date.now() < until && !await isPaid.waitFor({ timeout: 1_000 }).then(() => true, () => false)) {
    await page.reload();
    await page.locator('#content:not([aria-busy])').waitFor();
  }
  await isPaid.waitFor();
  await page.getByText(txid).first().waitFor();
}

/** Asserts that a rate with missing zeros is rejected with the expected rate, and that a checkbox to use it appears. */
async function aSlipIsRefused(page) {
  const rate = page.getByLabel('Rate: EUR for one ETH');
  assert.equal(await page.getByLabel('Use this rate anyway').isVisible(), false);
  await rate.fill('2');
  await page.getByRole('button', { name: /^Approve (payout|refund)$/ }).click();
  await page.getByText(/Rate 2 is 99\.9 % below the (market rate of ETH in EUR|rate of what came in), 2000/).waitFor();
  await page.getByLabel('Use this rate anyway').waitFor();
  await checkPage(page, 'first-run-far-rate');
  await rate.fill('');
}
