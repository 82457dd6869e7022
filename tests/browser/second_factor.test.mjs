// The second factor in the operator pages, in a real browser: activation, sign-in and deactivation.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { goTo, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** Returns the code for this secret, `later` steps of 30 seconds from now. */
function codeOf(secret, later = 0) {
  const value = (letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter);
  const bits = [...secret].map((letter) => value(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const hash = createHmac('sha1', key).update(step).digest();
  const number = hash.readUInt32BE(hash[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** Starts to sign in with email and password. */
async function begin() {
  const page = await openPage(browser, `${coffer.url}/dashboard`, { acceptDownloads: true });
  await page.getByLabel('Email').fill('operator@sandbox.test');
  await page.getByLabel('Password').fill('sandbox');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  return page;
}

/** Enters a code of the second factor and submits it. */
async function enter(page, code) {
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await page.keyboard.press('Enter');
}

test('factor is activated, required, replaced by a recovery code once, and deactivated', async () => {
  const page = await signIn(browser, coffer, { acceptDownloads: true });
  await goTo(page, '/me');
  await checkPageInAllModes(page, 'second-factor-off');
  await page.getByRole('button', { name: 'Turn on second factor…' }).click();
  const dialog = page.getByRole('dialog');
  const secret = await dialog.locator('.secret code').textContent();
  const uri = await dialog.getByRole('link', { name: 'open it in the app' }).getAttribute('href');
  assert.ok(uri.startsWith('otpauth://totp/Coffer:operator%40sandbox.test?') && uri.includes(secret), uri);
  await dialog.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
  await checkPageInAllModes(page, 'second-factor-begun');
  await enter(page, '000000');
  await page.getByText('Code must be what your authenticator app shows now').waitFor();
  await enter(page, codeOf(secret));
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  const codes = await dialog.locator('.codes code').allTextContents();
  assert.equal(new Set(codes).size, 10);
  await checkPageInAllModes(page, 'second-factor-codes');
  const file = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  assert.equal((await file).suggestedFilename(), 'coffer-recovery-codes.txt');
  // The recovery codes are shown once: neither Escape nor the button closes the dialog before the box is ticked.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Store the codes, then select the checkbox.').waitFor();
  assert.deepEqual(await dialog.locator('.codes code').allTextContents(), codes);
  await page.getByLabel('I have stored the codes').check();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 recovery codes left.').waitFor();
  await checkPageInAllModes(page, 'second-factor-on');
  await goTo(page, '/users');
  await page.getByRole('row', { name: /operator@sandbox.test/ }).getByText('On', { exact: true }).waitFor();
  await checkPageInAllModes(page, 'users-second-factor');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await closePage(page, ['401']);

  // The code of the activation is used up. The next code signs in once.
  const next = codeOf(secret, 1);
  const second = await begin();
  await checkPage(second, 'second-factor');
  await enter(second, next);
  await second.locator('#content[data-place="/"]').waitFor();
  await closePage(second, ['401']);
  const third = await begin();
  await enter(third, next);
  await third.getByText('Code was used already').waitFor();
  await enter(third, codes[0]);
  await third.locator('#content[data-place="/"]').waitFor();
  await closePage(third, ['401']);
  const fourth = await begin();
  await enter(fourth, codes[0]);
  await fourth.getByText('Code must be what your authenticator app shows now').waitFor();
  await enter(fourth, codes[1].toUpperCase().replaceAll('-', ' '));
  await fourth.locator('#content[data-place="/"]').waitFor();

  await goTo(fourth, '/me');
  await fourth.getByText('8 recovery codes left.').waitFor();
  await fourth.getByRole('button', { name: 'Turn off second factor…' }).click();
  await checkPage(fourth, 'dashboard-second-factor-end');
  await fourth.getByLabel('Code').fill('abcd-efgh-ijkl-mnop');
  await fourth.getByRole('button', { name: 'Turn off second factor', exact: true }).click();
  await fourth.getByText('Code must be what your authenticator app shows now').waitFor();
  await fourth.getByLabel('Code').fill(codes[2]);
  await fourth.getByRole('button', { name: 'Turn off second factor', exact: true }).click();
  await fourth.getByRole('button', { name: 'Turn on second factor…' }).waitFor();
  await closePage(fourth, ['401']);
  await closePage(await signIn(browser, coffer), ['401']);
});

test('operator turns off the lost second factor of another user', async () => {
  const call = async (cookie, method, path, body) => {
    const answer = await fetch(`${coffer.url}/dashboard/api/${path}`, {
      method, headers: { cookie, 'content-type': 'application/json' }, body: body && JSON.stringify(body),
    });
    const json = answer.status === 204 ? null : await answer.json();
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0], body: json };
  };
  const own = await call('', 'POST', 'session', { email: 'operator@sandbox.test', password: 'sandbox' });
  const [email, password] = ['ben@shop.test', 'a long password 1'];
  await call(own.cookie, 'POST', 'users', { email, password, role: 'operator' });
  const ben = await call('', 'POST', 'session', { email, password });
  const begun = await call(ben.cookie, 'POST', 'session/second-factor');
  await call(ben.cookie, 'POST', 'session/second-factor/confirm', { code: codeOf(begun.body.secret) });
  const page = await signIn(browser, coffer);
  await goTo(page, '/users');
  const row = page.getByRole('row', { name: /ben@shop.test/ });
  await row.getByRole('button', { name: 'Turn off second factor…' }).click();
  await checkPage(page, 'dashboard-users-second-factor-off');
  await page.getByRole('button', { name: 'Turn off second factor', exact: true }).click();
  await page.getByText('Second factor turned off.').waitFor();
  await row.getByText('Off', { exact: true }).waitFor();
  await closePage(page, ['401']);
  await closePage(await signIn(browser, coffer, { email, password }), ['401']);
});
