// The operator pages in a real browser.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, looked, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** Opens the operator pages and signs in. */
async function signedIn(options = {}) {
  const page = await openPage(browser, `${coffer.url}/dashboard`, options);
  await page.getByLabel('Email').fill('operator@sandbox.test');
  await page.getByLabel('Password').fill('sandbox');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content[data-place="/"]').waitFor();
  return page;
}

test('who signs in sees the account and the mode; who signs out does not', async () => {
  const page = await signedIn();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('Test mode: nothing here is real money.').waitFor();
  await looked(page, 'dashboard-home');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await looked(page, 'dashboard-sign-in');
  await closePage(page, ['401']);
});

test('without a script the page says what it needs', async () => {
  const page = await openPage(browser, `${coffer.url}/dashboard`, { javaScriptEnabled: false });
  assert.match(await page.locator('noscript').textContent(), /this browser runs none/);
  await closePage(page);
});
