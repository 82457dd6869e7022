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

/** Returns the paths of the pages of all topics. */
async function topics() {
  const page = await openPage(browser, `${coffer.url}/docs`, { javaScriptEnabled: false });
  const links = await page.locator('main h2 a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  await page.context().close();
  return links;
}

test('reference lists every operation without JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/docs`, { javaScriptEnabled: false });
  const listed = await page.locator('.entry[id]').evaluateAll((entries) => entries.map(({ id }) => id));
  const shown = [];
  for (const topic of await topics()) {
    await page.goto(`${coffer.url}/${topic}`);
    shown.push(...await page.locator('article[data-path]').evaluateAll((articles) => articles.map((article) => ({
      id: article.id, method: article.dataset.method, path: article.dataset.path,
    }))));
    const targets = await page.locator('main a[href^="#"], nav a[href^="#"]').evaluateAll((links) =>
      links.map((link) => link.getAttribute('href').slice(1)).filter((id) => !document.getElementById(id)));
    assert.deepEqual(targets, [], 'every link leads somewhere');
  }
  const order = (one, other) => one.id.localeCompare(other.id);
  assert.deepEqual(shown.sort(order), (await operations()).sort(order));
  assert.deepEqual(shown.filter(({ id }) => !listed.includes(id)), []);
  await page.goto(`${coffer.url}/docs#createInvoice`);
  await page.locator('#createInvoice').getByRole('link').click();
  await page.waitForURL('**/docs/reference/invoices#createInvoice');
  assert.ok(await page.locator('#createInvoice').isVisible());
  await page.context().close();
});

test('search filters headings, and the text of a topic', async () => {
  const page = await openPage(browser, `${coffer.url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('Frozen advance');
  await page.getByRole('status').filter({ hasText: 'all of these words' }).waitFor();
  assert.ok(await page.locator('#moveClock, [id]:has-text("/sandbox/clock")').first().isVisible());
  assert.ok(!await page.locator('#createInvoice').isVisible());
  await page.getByRole('searchbox').fill('recent passwords');
  await page.getByRole('link', { name: 'Recent passwords' }).waitFor();
  assert.ok(!await page.getByRole('link', { name: 'Signatures', exact: true }).isVisible());
  await page.getByRole('searchbox').fill('no such thing anywhere');
  await page.getByText('Nothing has all of these words.').waitFor();
  await page.goto(`${coffer.url}/docs#createInvoice`);
  await page.locator('#createInvoice').waitFor();
  assert.ok(await page.locator('#createInvoice').isVisible(), 'a link is followed, whatever was searched for');
  await page.goto(`${coffer.url}/docs/reference/invoices`);
  await page.getByRole('searchbox').fill('idempotency-key');
  await page.locator('#createInvoice').waitFor();
  assert.ok(!await page.locator('#getInvoice').isVisible());
  await page.goto(`${coffer.url}/docs/reference/errors`);
  await page.getByRole('searchbox').fill('invoice_closed');
  await page.locator('#error-not_found').waitFor({ state: 'hidden' });
  assert.ok(await page.locator('#error-invoice_closed').isVisible());
  await closePage(page);
});

test('language of the examples is chosen once, by keyboard too, and remembered', async () => {
  const page = await openPage(browser, `${coffer.url}/docs/reference/invoices`);
  const create = page.locator('#createInvoice');
  const cancel = page.locator('#cancelInvoice');
  const choice = create.getByRole('group', { name: 'Language of the example' });
  await choice.getByRole('radio', { name: 'curl' }).waitFor();
  assert.ok(await choice.getByRole('radio', { name: 'curl' }).isChecked());
  const shown = async (place) => {
    const [text, ...others] = await place.locator('.examples pre:visible').allTextContents();
    assert.deepEqual(others, [], 'one language is shown');
    return text;
  };
  assert.match(await shown(create), /^curl /);
  await cancel.getByRole('radio', { name: 'Python' }).check();
  assert.match(await shown(cancel), /^from coffer_client import Client\n[^]*client\.cancel_invoice\(invoice\)$/);
  assert.match(await shown(create), /client\.create_invoice\(\{\n {4}"amount": "20\.00",\n[^]*\}\)$/);
  await page.getByRole('searchbox').fill('createInvoice');
  await checkPage(page, 'docs-languages');
  await page.getByRole('searchbox').fill('');
  await choice.getByRole('radio', { name: 'Python' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(await choice.getByRole('radio', { name: 'PHP' }).isChecked());
  assert.match(await shown(create), /\$client->createInvoice\(\[\n {4}'amount' => '20\.00',/);
  assert.match(await shown(cancel), /\$client->cancelInvoice\(\$invoice\);$/);
  await page.goto(`${coffer.url}/docs/reference/account`);
  const read = page.locator('#getMerchant');
  await read.getByRole('radio', { name: 'PHP' }).waitFor();
  assert.match(await shown(read), /\$client->getMerchant\(\);$/);
  await read.getByRole('radio', { name: 'Node' }).check();
  assert.match(await shown(read), /await client\.getMerchant\(\);$/);
  await page.reload();
  await read.getByRole('radio', { name: 'Node' }).waitFor();
  assert.ok(await read.getByRole('radio', { name: 'Node' }).isChecked());
  // What another page of this origin has stored is not trusted.
  await page.evaluate(() => localStorage.setItem('coffer.docs.language', '"><img src=x>'));
  await page.reload();
  await read.getByRole('radio', { name: 'curl' }).waitFor();
  assert.ok(await read.getByRole('radio', { name: 'curl' }).isChecked());
  await page.goto(`${coffer.url}/docs/reference/operator-books`);
  assert.equal(await page.getByRole('radio').count(), 0, 'the clients call the operations of a shop only');
  await closePage(page);
});

test('examples in all languages are readable without JavaScript', async () => {
  const page = await openPage(browser, `${coffer.url}/docs/reference/invoices`, { javaScriptEnabled: false });
  const create = page.locator('#createInvoice');
  assert.ok(await create.locator('pre.curl').isVisible());
  for (const [name, text] of [['Node', 'await client.createInvoice({'], ['Python', 'create_invoice({'], ['PHP', 'createInvoice([']]) {
    await create.locator('summary', { hasText: name }).click();
    await create.locator('.examples pre', { hasText: text }).waitFor();
  }
  await closePage(page);
});

test('operations can be called from the page', async () => {
  const page = await openPage(browser, `${coffer.url}/docs/reference/invoices#createInvoice`);
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
  test(`pages of the reference pass all checks: ${name}`, async () => {
    const page = await openPage(browser, `${coffer.url}/docs`, options);
    await page.screenshot({ path: `target/screenshots/docs-${name}-top.png` });
    // The search hides similar entries, so that each kind of element is checked once.
    for (const [path, words] of Object.entries({
      docs: 'refund', 'docs/reference/payouts-and-refunds': 'refund', 'docs/reference/webhooks': 'sign',
      'docs/reference/errors': 'refund', 'docs/reference/objects': 'refund requested',
    })) {
      await page.goto(`${coffer.url}/${path}`);
      await page.getByRole('searchbox').fill(words);
      await checkPage(page, `${path.replace('/reference/', '-')}-${name}`);
    }
    await closePage(page);
  });
}

for (const [name, options] of Object.entries({
  light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 320, height: 700 } },
})) {
  test(`guides pass all checks: ${name}`, async () => {
    const page = await openPage(browser, `${coffer.url}/docs`, options);
    const places = (links) => links.map((link) => link.getAttribute('href'));
    const guides = await page.locator('#guides dt a').evaluateAll(places);
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
  await page.getByRole('main').getByRole('link', { name: 'The operator interface' }).first().click();
  await page.getByRole('heading', { name: 'The operator interface', level: 1 }).waitFor();
  const contents = page.getByRole('navigation', { name: 'On this page' });
  await contents.getByRole('link', { name: 'Recent passwords' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/operators#recent-passwords');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Reference' }).click();
  await page.getByRole('heading', { name: 'Reference', level: 1 }).waitFor();
  await closePage(page);
});
