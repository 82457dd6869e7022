// E-mail in the pages: the switches of a user, the receipts of an account, and messages in the sandbox's activity.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, checkPageInAllModes, createPaidInvoice, goTo, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('user chooses messages, by keyboard too, and finds the choice again', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/me');
  const mail = page.getByRole('region', { name: 'E-mail' });
  await mail.getByText('Messages go to operator@sandbox.test.').waitFor();
  await checkPageInAllModes(page, 'me-mail');
  await mail.getByLabel('Sales').selectOption('Each sale');
  await mail.getByLabel('Work that waits for a person').focus();
  await page.keyboard.press('Space');
  await mail.getByLabel('Alarms').focus();
  await page.keyboard.press('Space');
  await mail.getByRole('button', { name: 'Save e-mail settings' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('E-mail settings saved.').waitFor();
  await page.reload();
  await page.locator('#content[data-place="/me"]:not([aria-busy])').waitFor();
  assert.equal(await mail.getByLabel('Sales').inputValue(), 'each');
  assert.equal(await mail.getByLabel('Work that waits for a person').isChecked(), true);
  assert.equal(await mail.getByLabel('Alarms').isChecked(), true);
  await closePage(page, ['401']);
});

test('account sends receipts, and the sandbox shows them as text', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/settings');
  const receipts = page.getByRole('region', { name: 'Receipts by e-mail' });
  await receipts.getByText('Sent in the last 24 hours: 0 of at most 200.').waitFor();
  await receipts.getByLabel('Send a receipt when an invoice is paid').check();
  await receipts.getByRole('button', { name: 'Save receipt settings' }).click();
  await page.getByText('Receipt settings saved.').waitFor();
  await checkPageInAllModes(page, 'settings-receipts');
  await createPaidInvoice(coffer, '20.00', { customerEmail: 'ada@shop.test', description: HOSTILE });
  await goTo(page, '/me');
  await goTo(page, '/settings');
  await receipts.getByText('Sent in the last 24 hours: 1 of at most 200.').waitFor();
  assert.equal(await receipts.getByLabel('Send a receipt when an invoice is paid').isChecked(), true);
  await closePage(page, ['401']);

  const sandbox = await openPage(browser, `${coffer.url}/`);
  const entry = sandbox.locator('.kind-mail', { hasText: 'ada@shop.test' });
  await entry.getByText(/^Receipt from .*: 20\.00 EUR → ada@shop\.test$/).waitFor();
  await entry.locator('summary').click();
  await entry.getByText('A sandbox sends no e-mail.').waitFor();
  assert.match(await entry.locator('pre').textContent(), /Description: <img src=x onerror=alert\(1\)>/);
  assert.equal(await sandbox.locator('img[src="x"]').count(), 0);
  await closePage(sandbox);
});
