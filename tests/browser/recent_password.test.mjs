// The operator pages ask for the password again in a dialog and keep all typed text.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser } from './harness.mjs';
import { goTo } from './operator_pages.mjs';
import { clockIn, missing, scratch, serve } from './served.mjs';

const WHO = { email: 'anna@shop.test', password: 'a long word of Anna' };
/** Seconds after which the password entry is too old, but the session still valid. */
const LATER = 20 * 60;

test('moving money requires a recent password in a dialog', { skip: missing('cc') }, async (t) => {
  const folder = scratch(t);
  const file = join(folder, 'shop.db');
  const browser = await startBrowser();
  t.after(() => browser.close());

  const server = await serve(t, file, []);
  const page = await openPage(browser, await server.setUpLink());
  await signedUp(page);
  assert.equal(await server.stop(), 0);

  const next = await serve(t, file, [], { ahead: LATER, library: clockIn(folder) });
  const context = page.context();
  const later = await context.newPage();
  await later.goto(`${next.url}/dashboard`);
  await later.locator('#content:not([aria-busy])').waitFor();
  await refusedKeepsTheForm(later);
  await confirmedSavesIt(later);
  await closePage(page, ['400', '401', '403', 'ERR_']);
  assert.equal(await next.stop(), 0);
});

/** Signs in the first operator and creates an account. */
async function signedUp(page) {
  await page.getByLabel('Email').fill(WHO.email);
  await page.getByLabel('Password').fill(WHO.password);
  await page.getByRole('button', { name: 'Create operator' }).click();
  await page.locator('#content:not([aria-busy])').waitFor();
  await goTo(page, '/start');
  await page.getByRole('button', { name: 'Add account…' }).click();
  await page.getByLabel('Merchant name').fill('Anna’s Books');
  await page.getByRole('button', { name: 'Add account', exact: true }).click();
  await page.getByText('Account added.').waitFor();
}

/** Asserts that nothing is booked without the password, and that the dialog keeps the typed text. */
async function refusedKeepsTheForm(page) {
  const confirm = page.getByRole('dialog', { name: 'Confirm with your password' });
  await goTo(page, '/ledger');
  await page.getByRole('button', { name: 'Correct balance…' }).click();
  await page.getByLabel('Amount').fill('12.34');
  await page.getByLabel('Reason').fill('A transfer by bank');
  await page.getByRole('button', { name: 'Correct balance', exact: true }).click();
  await confirm.waitFor();
  await checkPage(page, 'dashboard-recent-password');
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  await confirm.waitFor({ state: 'detached' });
  await page.getByText('Your password must have been given in the last 15 minutes').waitFor();
  assert.equal(await page.getByLabel('Amount').inputValue(), '12.34');
  assert.equal(await page.getByLabel('Reason').inputValue(), 'A transfer by bank');
  await page.getByRole('button', { name: 'Correct balance', exact: true }).click();
  await confirm.getByLabel('Password').fill('not the word of Anna');
  await confirm.getByRole('button', { name: 'Confirm' }).click();
  await confirm.locator('.wrong:visible').waitFor();
  await confirm.getByLabel('Password').fill(WHO.password);
  await confirm.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('cell', { name: 'A transfer by bank' }).waitFor();
  assert.equal(await page.getByRole('cell', { name: '12.34' }).count(), 1);
}

/** Asserts that a save in the minutes after the confirmation asks for no password. */
async function confirmedSavesIt(page) {
  await goTo(page, '/settings');
  await page.getByLabel('Payout limit in 24 hours').fill('15000.00');
  await page.getByRole('button', { name: 'Save terms' }).click();
  await page.getByText('Settings saved.').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
}
