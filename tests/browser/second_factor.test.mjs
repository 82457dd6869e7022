// Signing in to the operator pages where a second factor is on, in a real browser.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closePage, looked, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** The code that an app with this secret shows now. */
function codeOf(secret) {
  const bits = [...secret].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac('sha1', key).update(step).digest();
  const number = hash.readUInt32BE(hash[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Turns it on for the sandbox's operator; the recovery codes. */
async function turnOn() {
  let cookie = '';
  const call = async (path, body) => {
    const answer = await fetch(`${coffer.url}/dashboard/api/session${path}`, {
      method: 'POST', headers: { cookie, 'content-type': 'application/json' }, body: JSON.stringify(body),
    });
    cookie ||= answer.headers.get('set-cookie').split(';')[0];
    return answer.json();
  };
  await call('', { email: 'operator@sandbox.test', password: 'sandbox' });
  const { secret } = await call('/second-factor', {});
  const { codes } = await call('/second-factor/confirm', { code: codeOf(secret) });
  assert.equal(codes.length, 10);
  return codes;
}

test('who signs in is asked for a code where the second factor is on', async () => {
  const [recovery] = await turnOn();
  const page = await openPage(browser, `${coffer.url}/dashboard`);
  await page.getByLabel('Email').fill('operator@sandbox.test');
  await page.getByLabel('Password').fill('sandbox');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await looked(page, 'second-factor');
  await page.getByRole('textbox', { name: 'Code' }).fill('abcd-efgh-ijkl-mnop');
  await page.keyboard.press('Enter');
  await page.getByText('Code must be what your authenticator app shows now').waitFor();
  await page.getByRole('textbox', { name: 'Code' }).fill(recovery);
  await page.keyboard.press('Enter');
  await page.locator('#content[data-place="/"]').waitFor();
  await closePage(page, ['401']);
});
