// The reference and the guides in a real browser: without JavaScript, with search, and with requests to operations.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** Returns id, method and path of every operation of both documents. */
async function operations() {
  const documents = await Promise.all(['/v1/openapi.json', '/sandbox/openapi.json']
    .map(async (path) => (await fetch(coffer.url + path)).json()));
  return documents.flatMap(({ paths }) => Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .map(([method, { operationId }]) => ({ id: operationId, method: method.toUpperCase(), path }))));
}

test('reference lists every operation without JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/docs`, { javaScriptEnabled: false });
  const shown = await page.locator('article[data-path]').evaluateAll((articles) => articles.map((article) => ({
    id: article.id, method: article.dataset.method, path: article.dataset.path,
  })));
  const order = (one, other) => one.id.localeCompare(other.id);
  assert.deepEqual(shown.sort(order), (await operations()).sort(order));
  const targets = await page.locator('main a[href^="#"], nav a[href^="#"]').evaluateAll((links) =>
    links.map((link) => link.getAttribute('href').slice(1)).filter((id) => !document.getElementById(id)));
  assert.deepEqual(targets, [], 'every link leads somewhere');
  await page.goto(`${coffer.url}/docs#createInvoice`);
  assert.ok(await page.locator('#createInvoice').isVisible());
  await page.context().close();
});

test('search finds operations', async () => {
  const page = await openPage(browser, `${coffer.url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('Frozen advance');
  await page.getByRole('status').filter({ hasText: 'all of these words' }).waitFor();
  assert.ok(await page.locator('[data-path="/sandbox/clock"]').isVisible());
  assert.ok(!await page.locator('#createInvoice').isVisible());
  await page.getByRole('searchbox').fill('no such thing anywhere');
  await page.getByText('Nothing has all of these words.').waitFor();
  await page.goto(`${coffer.url}/docs#createInvoice`);
  await page.locator('#createInvoice').waitFor();
  assert.ok(await page.locator('#createInvoice').isVisible(), 'a link is followed, whatever was searched for');
  await closePage(page);
});

test('operations can be called from the page', async () => {
  const page = await openPage(browser, `${coffer.url}/docs#createInvoice`);
  const create = page.locator('#createInvoice');
  await create.getByRole('button', { name: 'Try it' }).click();
  const order = { amount: '20.00', currency: 'EUR', description: '<img src=x onerror=alert(1)>' };
  await create.getByLabel('Body').fill(JSON.stringify(order));
  await create.getByRole('button', { name: 'Send POST' }).click();
  await create.locator('.badge', { hasText: '201' }).waitFor();
  const answer = JSON.parse(await create.locator('.try pre').textContent());
  assert.equal(answer.description, '<img src=x onerror=alert(1)>');
  assert.equal(await page.locator('main img').count(), 0, 'what is answered is a text');
  const read = page.locator('#getInvoice');
  await read.getByRole('button', { name: 'Try it' }).click();
  await read.getByLabel('id in the path').fill(answer.id);
  await read.getByRole('button', { name: 'Send GET' }).click();
  await read.locator('.badge', { hasText: '200' }).waitFor();
  await page.getByRole('searchbox').fill('createInvoice');
  await checkPage(page, 'docs-tried');
  await closePage(page);
});

for (const [name, options] of Object.entries({
  light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 320, height: 700 } },
})) {
  test(`page passes all checks: ${name}`, async () => {
    const page = await openPage(browser, `${coffer.url}/docs`, options);
    await page.screenshot({ path: `target/screenshots/docs-${name}-top.png` });
    // The search hides similar operations, so that each kind of element is checked once.
    await page.getByRole('searchbox').fill('refund requested');
    await checkPage(page, `docs-${name}`);
    await closePage(page);
  });
}

for (const [name, options] of Object.entries({
  light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 320, height: 700 } },
})) {
  test(`guides pass all checks: ${name}`, async () => {
    const page = await openPage(browser, `${coffer.url}/docs`, options);
    const places = (links) => links.map((link) => link.getAttribute('href'));
    const guides = await page.locator('#guides a').evaluateAll(places);
    assert.ok(guides.length >= 20);
    // The narrowest window shows every guide. Other windows show only guides with many kinds of elements.
    const shown = name === 'narrow' ? guides : ['docs/webhooks', 'docs/operators', 'docs/invoices'];
    for (const guide of shown) {
      await page.goto(`${coffer.url}/${guide}`);
      await checkPage(page, `guide-${guide.slice('docs/'.length)}-${name}`);
    }
    await closePage(page);
  });
}

test('guides are linked, and work by keyboard and without JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/docs/webhooks#signatures`, { javaScriptEnabled: false });
  assert.ok(await page.getByRole('heading', { name: 'Signatures' }).isVisible());
  await page.getByRole('main').getByRole('link', { name: 'The operator interface' }).click();
  await page.getByRole('heading', { name: 'The operator interface', level: 1 }).waitFor();
  const contents = page.getByRole('navigation', { name: 'Guides' });
  await contents.getByRole('link', { name: 'Recent passwords' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/operators#recent-passwords');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Reference' }).click();
  await page.getByRole('heading', { name: 'Reference', level: 1 }).waitFor();
  await closePage(page);
});
