// A browser goes from the set-up link to a confirmed payment: first_payment.mjs LINK VALUES. Prints the address and the
// amount of the payment, and ends when the page of the payment says that it is confirmed.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [link, values] = [process.argv[2], JSON.parse(process.argv[3])];
const require = createRequire(join(process.env.COFFER_NODE_MODULES, 'unused.js'));
const { chromium } = require('playwright-core');
const [shell, whole] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const domain = new URL(link).hostname;
const browser = await chromium.launch({
  executablePath: existsSync(shell) ? shell : whole,
  args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${domain} 127.0.0.1`],
});
// curl has checked the certificate. The browser has its own list of authorities.
const page = await browser.newPage({ ignoreHTTPSErrors: true });
page.setDefaultTimeout(30_000);
try {
  await page.goto(link);
  assert.equal(await page.getByLabel('Email').inputValue(), values.email);
  await page.getByLabel('Password').fill(values.password);
  await page.getByLabel('Name of the shop').fill(values['name of the shop']);
  await page.getByRole('button', { name: 'Create operator' }).click();
  await page.getByRole('link', { name: 'Add wallet' }).click();
  await page.getByRole('button', { name: 'Add wallet…' }).first().click();
  await page.getByLabel('Chain').selectOption('litecoin');
  const key = values['extended public key, whose addresses are compared'];
  await page.getByLabel('Extended public key or descriptor').fill(key);
  await page.getByRole('button', { name: 'Check key' }).click();
  await page.getByText(/rltc1/).first().waitFor();
  await page.getByRole('button', { name: 'Add wallet', exact: true }).click();
  await page.getByText('Wallet added.').waitFor();
  await page.goto(`https://${domain}/dashboard#/start`);
  await page.getByRole('button', { name: 'Create payment link' }).click();
  await page.getByRole('link', { name: 'Open checkout' }).waitFor();
  // The coin is on offer once the server has read the chain and asked for rates. The page looks again by a change of
  // its address, which keeps the payment link.
  const looks = ['#/', '#/start'];
  for (let tries = 0; tries < 120 && !(await page.locator('[data-step="coins"].good').count()); tries += 1) {
    await page.waitForTimeout(250);
    await page.evaluate((hash) => { location.hash = hash; }, looks[tries % 2]);
    await page.locator('[data-step="coins"]').first().waitFor();
  }
  await page.evaluate(() => { location.hash = '#/start'; });
  const [checkout] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'Open checkout' }).click(),
  ]);
  await checkout.getByRole('button', { name: 'Go to payment' }).click();
  await checkout.getByRole('button', { name: /Litecoin/ }).click();
  const [address, amount] = await Promise.all(['#address', '#amount'].map((part) => checkout.locator(part).textContent()));
  console.log(JSON.stringify({ address, amount }));
  await checkout.getByRole('heading', { level: 1, name: 'Paid' }).waitFor({ timeout: 60_000 });
  await page.reload();
  await page.locator('[data-step="real_payment"].good').waitFor();
} catch (error) {
  console.error(`machine: ${page.url()}: ${error.message}\n${(await page.locator('body').innerText()).slice(0, 2500)}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
