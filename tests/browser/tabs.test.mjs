// Two tabs of the operator pages, each with its own account.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

test('tab acts on the account that it shows, independent of other tabs', async () => {
  const page = await openPage(browser, `${coffer.url}/dashboard`);
  const call = (method, path, body) => page.evaluate(async ([method, path, body]) => {
    const answer = await fetch(`dashboard/api/${path}`, { method, body: body && JSON.stringify(body) });
    return answer.status === 204 ? null : answer.json();
  }, [method, path, body]);
  await call('POST', 'session', { email: 'operator@sandbox.test', password: 'sandbox' });
  await call('POST', 'accounts', { name: 'Other Shop' });
  const { data: accounts } = await call('GET', 'accounts');
  const idOf = (wanted) => accounts.find(({ name }) => name === wanted).id;
  await page.evaluate((id) => localStorage.setItem('coffer.account', id), idOf('Sandbox Shop'));
  await page.goto(`${coffer.url}/dashboard#/settings`);
  await page.reload();
  const name = page.getByLabel('Name', { exact: true });
  await name.waitFor();
  assert.equal(await name.inputValue(), 'Sandbox Shop');
  // Another tab selects another account.
  await page.evaluate((id) => localStorage.setItem('coffer.account', id), idOf('Other Shop'));
  await name.fill('Renamed Shop');
  const changed = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.locator('form', { has: name }).getByRole('button', { name: /Save|Keep/ }).click();
  assert.ok((await changed).url().includes(idOf('Sandbox Shop')));
  // The expected error is from the first request, before the sign-in.
  await closePage(page, ['401']);
});
