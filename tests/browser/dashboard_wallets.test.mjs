// The page of the wallets in a real browser: help, secrets that are not sent, and a wallet that is added and retired.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, startBrowser, startCoffer } from './harness.mjs';
import { goTo, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

const XPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';

/** Asserts that the page refuses private keys and phrases, and sends no request with them. */
async function secretsAreNotSent(page) {
  const sent = [];
  const note = (request) => sent.push(request.postData() ?? '');
  page.on('request', note);
  for (const secret of [
    'zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong',
    `${'abandon '.repeat(23)}art`,
    'zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE',
    'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1',
    '0x0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
  ]) {
    await page.getByLabel('Extended public key or descriptor').fill(secret);
    await page.getByRole('button', { name: 'Check key' }).click();
    await page.locator('.wrong:visible', { hasText: 'so it was not sent' }).waitFor();
    await page.getByLabel('Extended public key or descriptor').fill('nonsense');
    await page.getByRole('button', { name: 'Check key' }).click();
    await page.locator('.wrong:visible', { hasNotText: 'so it was not sent' }).waitFor();
  }
  page.off('request', note);
  assert.equal(sent.filter((body) => body.includes('nonsense')).length, 5);
  assert.deepEqual(sent.filter((body) => !body.includes('nonsense')), []);
}

test('a wallet is checked before it is added, and retired', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/wallets');
  await page.getByRole('button', { name: 'Add wallet…' }).first().click();
  await page.getByLabel('Extended public key or descriptor').fill('nonsense');
  await page.getByRole('button', { name: 'Check key' }).click();
  await page.locator('.wrong:visible').waitFor();
  await secretsAreNotSent(page);
  for (const [chain, text] of [['bitcoin', 'Sparrow'], ['litecoin', 'Electrum-LTC'], ['evm', 'MetaMask, Rabby']]) {
    await page.getByLabel('Chain').selectOption(chain);
    await page.getByText('Where to find this key').click();
    await page.getByText(text).first().waitFor();
    await checkPage(page, `dashboard-wallet-help-${chain}`);
  }
  await page.getByLabel('Chain').selectOption('bitcoin');
  await page.getByLabel('Extended public key or descriptor').fill(XPUB);
  await page.getByLabel('First index').fill('1 000');
  await page.getByRole('button', { name: 'Check key' }).click();
  await page.locator('.wrong:visible', { hasText: 'digits' }).waitFor();
  await page.getByLabel('First index').fill('');
  await page.getByRole('button', { name: 'Check key' }).click();
  await page.getByText('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu').waitFor();
  await checkPage(page, 'dashboard-wallet-check');
  await page.getByRole('button', { name: 'Add wallet', exact: true }).click();
  await page.getByRole('heading', { name: 'First addresses' }).waitFor();
  await checkPageInAllModes(page, 'wallets');
  await page.getByRole('button', { name: 'Retire…' }).click();
  await page.getByRole('button', { name: 'Retire wallet' }).click();
  await page.getByText('Retired', { exact: true }).first().waitFor();
  await sessionEnds(page);
  await closePage(page, ['400', '401', '403']);
});

/** Asserts that typed text stays if the session ends: the user signs in again in a dialog and continues. */
async function sessionEnds(page) {
  await page.getByRole('button', { name: 'Import addresses…' }).click();
  await page.getByLabel('Pool', { exact: true }).selectOption('solana');
  const field = page.getByRole('textbox', { name: 'Addresses, one per line' });
  const addresses = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';
  await field.fill(addresses);
  await page.context().clearCookies();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await page.getByRole('button', { name: 'Import addresses', exact: true }).click();
  await again.getByText('operator@sandbox.test').waitFor();
  await checkPage(page, 'dashboard-sign-in-again');
  await page.keyboard.press('Escape');
  await page.locator('dialog .note.bad:visible').waitFor();
  assert.equal(await field.inputValue(), addresses);
  await page.getByRole('button', { name: 'Import addresses', exact: true }).click();
  await again.getByLabel('Password').fill('wrong');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.locator('.note.bad:visible, .wrong:visible').waitFor();
  await again.getByLabel('Password').fill('sandbox');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(/1 added|1 already known/).waitFor();
  // A page that sends several requests asks for the password once.
  await page.context().clearCookies();
  await page.evaluate(() => { location.hash = '/'; });
  await again.getByLabel('Password').fill('sandbox');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content[data-place="/"]:not([aria-busy])').waitFor();
  await page.context().clearCookies();
  await page.evaluate(() => { location.hash = '/wallets'; });
  await again.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
}
