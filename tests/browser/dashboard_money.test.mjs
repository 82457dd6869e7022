// The operator pages in a real browser: the whole life of a live payout, and unmatched payments.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, goTo, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('a live payout is requested, approved, sent and paid; another one is rejected', async () => {
  const page = await signIn(browser, coffer);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(page, '/ledger');
  await page.getByRole('button', { name: 'Correct balance…' }).click();
  await page.getByLabel('Amount').fill('500.00');
  await page.getByLabel('Reason').fill(HOSTILE);
  await page.getByRole('button', { name: 'Correct balance', exact: true }).click();
  await page.getByRole('cell', { name: HOSTILE }).waitFor();
  await goTo(page, '/settings');
  await page.getByLabel('Payout coin').selectOption('LTC');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Settings saved.').waitFor();
  const order = { amount: '9.00', currency: 'EUR', asset: 'LTC' };
  const address = (await coffer.test('POST', '/v1/invoices', order)).depositAddress;
  await page.getByRole('button', { name: 'Set address…' }).first().click();
  await page.getByLabel('Chain').selectOption('litecoin');
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('nonsense');
  await page.getByRole('button', { name: 'Set address', exact: true }).click();
  await page.locator('.wrong:visible').waitFor();
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill(address);
  await page.getByRole('button', { name: 'Set address', exact: true }).click();
  await page.getByRole('cell', { name: address }).waitFor();
  await checkPageInAllModes(page, 'settings-addresses');
  await closePage(page, ['400', '401', '403']);
  await coffer.control('POST', '/clock', { advance: '25h' });
  const later = await signIn(browser, coffer);
  await later.getByRole('button', { name: 'Live', exact: true }).click();
  for (const amount of ['100.00', '50.00']) {
    await goTo(later, '/payouts');
    await later.getByRole('button', { name: 'Request payout…' }).dblclick();
    await later.getByLabel('Amount').fill(amount);
    await later.getByRole('button', { name: 'Request payout', exact: true }).click();
    await later.getByRole('heading', { level: 1, name: `Payout of ${amount}` }).waitFor();
    if (amount === '100.00') await approveAndPay(later, address);
  }
  await later.getByRole('button', { name: 'Reject payout…' }).click();
  await later.getByLabel('Reason').fill(HOSTILE);
  await checkPage(later, 'dashboard-payout-reject');
  await later.getByRole('button', { name: 'Reject payout', exact: true }).click();
  await later.getByText('Not approved.').first().waitFor();
  await later.getByText(HOSTILE, { exact: true }).waitFor();
  await goTo(later, '/payouts');
  await checkPageInAllModes(later, 'payouts');
  assert.equal(await later.locator('img[src="x"]').count(), 0);
  await closePage(later, ['401']);
});

/** Plays a payout from requested to paid. Each step shows the full address. */
async function approveAndPay(page, address) {
  await page.getByRole('button', { name: 'Approve payout…' }).click();
  await page.getByRole('dialog').getByText(address).waitFor();
  await page.getByText('100.00 EUR = 1.2499 LTC, fee 0.0001 LTC (0.01 EUR)').waitFor();
  await page.getByText('You, from your wallet: nothing real is sent here').waitFor();
  await page.getByLabel('Network fee in LTC').fill('0.001');
  await page.getByLabel('Rate: EUR for one LTC').fill('80');
  await checkPage(page, 'dashboard-payout-approve');
  await page.getByRole('button', { name: 'Approve payout', exact: true }).click();
  await page.getByRole('button', { name: 'Start sending…' }).click();
  await page.getByRole('button', { name: 'Start sending', exact: true }).click();
  await page.getByText('Chains are simulated here, so there is no code to scan').waitFor();
  await page.getByText('You began to send it').waitFor();
  await isNotSentTwice(page);
  await checkPageInAllModes(page, 'payout-processing');
  await onAChain(page, address);
  await page.getByRole('button', { name: 'Enter transaction…' }).click();
  await page.getByRole('dialog').getByText(address).waitFor();
  await page.getByRole('textbox', { name: 'Transaction' }).fill('a'.repeat(64));
  await page.getByRole('button', { name: 'Enter transaction', exact: true }).click();
  await page.getByText('Sent.', { exact: true }).first().waitFor();
}

/** Asserts that another operator sees who sends the payout, and has no button to send it. */
async function isNotSentTwice(page) {
  const other = { email: 'other@shop.test', password: 'a long password 2' };
  await page.evaluate(async (body) => {
    const post = (path, json) => fetch(`dashboard/api/${path}`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json),
    });
    await post('session/confirm', { password: 'sandbox' });
    await post('users', { ...body, role: 'operator' });
  }, other);
  const second = await signIn(browser, coffer, other);
  await second.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(second, '/');
  await second.getByText('Payouts being sent').click();
  await second.locator('#content[data-place="/payouts"]:not([aria-busy])').waitFor();
  await second.getByRole('table', { name: 'Payouts' }).getByRole('link').click();
  await second.getByText('operator@sandbox.test began to send it').waitFor();
  await second.getByText('Do not send it too').waitFor();
  assert.equal(await second.getByText('Chains are simulated here').isVisible(), false);
  await checkPageInAllModes(second, 'payout-of-another');
  await closePage(second, ['401']);
}

/** Checks the page of a payout on a real chain: adds the fields that only real chains have to the response. */
async function onAChain(page, address) {
  const paymentUri = `litecoin:${address}?amount=1.249`;
  const { qr } = await page.evaluate(async () => {
    const answer = await fetch('dashboard/api/session/second-factor', { method: 'POST' });
    return answer.json();
  });
  await page.route(/\/payouts\/[0-9a-f-]{36}\?/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...await answer.json(), paymentUri, qr } });
  });
  await page.reload();
  await page.getByRole('img', { name: 'QR code of the payment' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'open it in a wallet' }).getAttribute('href'), paymentUri);
  await page.getByRole('button', { name: 'Copy the payment link' }).waitFor();
  await checkPageInAllModes(page, 'payout-to-send');
  await page.unrouteAll({ behavior: 'wait' });
}

test('payout changed by another user is shown as it is', async () => {
  const page = await signIn(browser, coffer);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(page, '/payouts');
  await page.getByRole('button', { name: 'Request payout…' }).click();
  await page.getByLabel('Amount').fill('20.00');
  await page.getByRole('button', { name: 'Request payout', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Payout of 20.00' }).waitFor();
  const id = new URL(page.url()).hash.split('/')[2].split('?')[0];
  await page.getByRole('button', { name: 'Approve payout…' }).click();
  await page.getByLabel('Network fee in LTC').fill('0.001');
  await coffer.control('POST', `/payouts/${id}`, { action: 'cancel' });
  await page.getByRole('button', { name: 'Approve payout', exact: true }).click();
  await page.locator('dialog .wrong:visible, dialog .note.bad:visible').first().waitFor();
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await page.getByText('Cancelled.').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Approve payout…' }).count(), 0);
  await goTo(page, '/payouts/01a204f5-8eee-7953-bfe8-1411c026fde3');
  await page.getByRole('heading', { name: 'Payout not found' }).waitFor();
  await checkPage(page, 'dashboard-payout-none');
  await closePage(page, ['401', '404', '409']);
});

test('proposal from the chain is shown, and a person decides', async () => {
  const page = await signIn(browser, coffer);
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(page, '/payouts');
  await page.getByRole('button', { name: 'Request payout…' }).click();
  await page.getByLabel('Amount').fill('20.00');
  await page.getByRole('button', { name: 'Request payout', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Payout of 20.00' }).waitFor();
  const id = new URL(page.url()).hash.split('/')[2].split('?')[0];
  await page.getByRole('button', { name: 'Approve payout…' }).click();
  await page.getByRole('button', { name: 'Approve payout', exact: true }).click();
  await page.getByRole('button', { name: 'Start sending…' }).waitFor();
  await coffer.control('POST', `/payouts/${id}`, { action: 'chain', state: 'short' });
  await page.reload();
  await page.getByText('An operator has to review it.').waitFor();
  await checkPageInAllModes(page, 'payout-short');
  await page.getByRole('button', { name: 'Detach transaction…' }).click();
  await page.getByRole('button', { name: 'Detach transaction', exact: true }).click();
  await page.getByRole('button', { name: 'Enter transaction…' }).waitFor();
  await arrivalsAreDecided(page);
  await isInsistedOn(page, ['Enter transaction', 'unverified', 400, 'Mark as paid without a check on the chain']);
  await isInsistedOn(page, ['Mark as failed', 'force', 409, 'Put the amount back although it may have been sent']);
  await page.getByRole('button', { name: 'Mark as paid…' }).click();
  await page.getByRole('textbox', { name: 'Reason' }).fill(HOSTILE);
  await checkPage(page, 'dashboard-payout-mark-paid');
  await page.getByRole('button', { name: 'Mark as paid', exact: true }).click();
  await page.getByText('Sent.', { exact: true }).first().waitFor();
  await closePage(page, ['400', '401', '409']);
});

/** Attaches and dismisses a proposal, and ends a review. Both are added to the response: simulated chains have none. */
async function arrivalsAreDecided(page) {
  const at = '2026-11-21T10:07:00.000Z';
  const proposals = [{ txid: 'b'.repeat(64), amountCrypto: '0.1', seenAt: at, blockHeight: null }];
  const reviews = [{ id: 'r-1', kind: 'arrived', problem: HOSTILE, openedAt: at, endedAt: null, reason: null }];
  const sent = [];
  await page.route(/\/payouts\/[0-9a-f-]{36}/, async (route) => {
    if (route.request().method() === 'POST') {
      sent.push(route.request().postDataJSON());
      return route.fulfill({ json: { status: 'processing' } });
    }
    const answer = await route.fetch();
    return route.fulfill({ response: answer, json: { ...await answer.json(), proposals, reviews } });
  });
  await page.reload();
  for (const name of ['Attach transaction', 'Dismiss transaction', 'Resolve review', 'Adjust balance']) {
    await page.getByRole('button', { name: `${name}…` }).click();
    const reason = page.getByRole('dialog').getByRole('textbox', { name: 'Reason' });
    if (/review|balance/.test(name)) await reason.fill('Looked at');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  }
  await checkPageInAllModes(page, 'payout-arrivals');
  const txid = 'b'.repeat(64);
  const end = { review: 'r-1', reason: 'Looked at' };
  assert.deepEqual(sent, [{ action: 'pay', txid }, { action: 'dismiss', txid }, { action: 'resolve', ...end },
    { action: 'adjust', ...end }]);
  await page.unrouteAll({ behavior: 'wait' });
  await page.reload();
  await page.getByRole('button', { name: 'Enter transaction…' }).waitFor();
}

/**
 * Repeats a rejected step with the checkbox of the missing field ticked. The test makes the error response, because
 * simulated chains reject nothing.
 */
async function isInsistedOn(page, [name, param, status, label]) {
  const sent = [];
  await page.route(/\/payouts\/[0-9a-f-]{36}$/, async (route) => {
    sent.push(route.request().postDataJSON());
    const error = status === 409 ? 'invalid_transition' : 'invalid_request';
    if (sent.length === 1) return route.fulfill({ status, json: { error, message: 'must be true', param } });
    return route.fulfill({ json: { status: 'processing' } });
  });
  await page.getByRole('button', { name: `${name}…` }).click();
  const dialog = page.getByRole('dialog');
  if (param === 'unverified') await dialog.getByLabel('Transaction').fill('c'.repeat(64));
  assert.equal(await dialog.getByLabel(label).isVisible(), false);
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.getByLabel(label).check();
  await checkPageInAllModes(page, `payout-${param}`);
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(sent.map((body) => body[param] === true), [false, true]);
  await page.unrouteAll({ behavior: 'wait' });
}

test('unmatched payment is assigned, dismissed and undone', async () => {
  const order = { amount: '20.00', currency: 'EUR', asset: 'BTC' };
  const { json: invoice } = await coffer.call('POST', '/v1/invoices', order, coffer.keys.secretLive);
  await lost('0.25');
  await lost('0.30');
  const page = await signIn(browser, coffer);
  await goTo(page, '/unmatched');
  await checkPageInAllModes(page, 'unmatched');
  const row = (amount) => page.getByRole('row', { name: new RegExp(amount.replace('.', '\\.')) });
  await row('0.25').getByRole('button', { name: 'Assign…' }).click();
  await checkPage(page, 'dashboard-unmatched-assign');
  await page.getByLabel('Invoice id').fill(invoice.id);
  await page.getByRole('button', { name: 'Assign payment' }).click();
  await row('0.25').waitFor({ state: 'detached' });
  await row('0.3').getByRole('button', { name: 'Dismiss…' }).click();
  await page.getByLabel('Reason').fill(HOSTILE);
  await page.getByRole('button', { name: 'Dismiss payment', exact: true }).click();
  await row('0.3').waitFor({ state: 'detached' });
  await goTo(page, '/unmatched?status=all');
  await page.getByText(HOSTILE, { exact: true }).waitFor();
  await row('0.3').getByRole('button', { name: 'Undo decision…' }).click();
  await page.getByRole('button', { name: 'Undo decision', exact: true }).click();
  await row('0.3').getByRole('button', { name: 'Assign…' }).waitFor();
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await goTo(page, '/');
  await page.getByText('Unmatched payments').waitFor();
  await closePage(page, ['401']);
});

/** Creates a payment to an address without an owner. */
async function lost(amount) {
  await coffer.control('POST', '/payments', { address: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', asset: 'BTC', amount });
}
