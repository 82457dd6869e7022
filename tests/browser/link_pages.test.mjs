// Payment links in a real browser, as merchants see them: limits, picture, QR code, HTML for a website, paid invoices.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';
import { HOSTILE, goTo, checkPageInAllModes, signIn } from './operator_pages.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

/** Opens or closes the optional fields of the dialog. */
const foldOptions = (page) => page.getByText('Expiry, limit and redirect').click();

/** Creates a link in the dialog, and returns its URL. */
async function createLink(page, fields) {
  await goTo(page, '/links');
  await page.getByRole('button', { name: 'Create payment link…' }).first().click();
  await foldOptions(page);
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole('button', { name: 'Create payment link', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: fields.Name }).waitFor();
  return page.locator('.secret code').textContent();
}

/** Returns a day in the future as the value of a field. */
const tomorrow = () => new Date(Date.now() + 24 * 3600 * 1000).toISOString().slice(0, 16);

test('a link gets an expiry, a limit and a redirect, and is turned off', async () => {
  const page = await signIn(browser, coffer);
  await goTo(page, '/links');
  await page.getByRole('button', { name: 'Create payment link…' }).first().click();
  await page.getByLabel('Name').fill(HOSTILE);
  await page.getByLabel('Price').fill('12.50');
  const fields = [
    ['Limit of paid uses', '0', '3'],
    ['Redirect URL', 'javascript:alert(1)', 'https://shop.example/thanks'],
    ['Expires', '2020-01-01T00:00', tomorrow()],
  ];
  await checkPageInAllModes(page, 'link-create');
  await foldOptions(page);
  for (const [label, wrong] of fields) await page.getByLabel(label).fill(wrong);
  await foldOptions(page);
  // The optional fields are folded again: the error of one opens them.
  for (const [label, , right] of fields) {
    await page.getByRole('button', { name: 'Create payment link', exact: true }).click();
    await page.locator('.field', { has: page.getByLabel(label) }).locator('.wrong:visible').waitFor();
    if (label === 'Expires') await checkPage(page, 'dashboard-link-wrong');
    await page.getByLabel(label).fill(right);
  }
  await page.getByRole('button', { name: 'Create payment link', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
  await page.getByText('0 of 3').waitFor();
  await page.getByText('https://shop.example/thanks').waitFor();
  await checkPageInAllModes(page, 'link');
  // An edited field changes alone: the expiry keeps its seconds.
  await page.getByRole('button', { name: 'Edit payment link…' }).click();
  await page.getByLabel('Limit of paid uses').fill('5');
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'PATCH'),
    page.getByRole('button', { name: 'Save payment link' }).click(),
  ]);
  assert.deepEqual(sent.postDataJSON(), { paidUsesMax: 5 });
  await page.getByText('0 of 5').waitFor();
  await page.getByRole('button', { name: 'Turn off payment link' }).click();
  await page.getByRole('button', { name: 'Turn on payment link' }).waitFor();
  await goTo(page, '/links');
  await page.getByRole('link', { name: HOSTILE }).waitFor();
  await checkPageInAllModes(page, 'links');
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  await closePage(page, ['400', '401']);
});

test('a large picture is scaled down, shown to payers, and removed', async () => {
  const page = await signIn(browser, coffer);
  const url = await createLink(page, { Name: 'A poster', Price: '9.00' });
  const noise = await page.evaluate(async () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [2400, 1600];
    const context = canvas.getContext('2d');
    for (let x = 0; x < 2400; x += 8) for (let y = 0; y < 1600; y += 8) {
      context.fillStyle = `hsl(${(x * y) % 360} 70% ${30 + ((x + y) % 40)}%)`;
      context.fillRect(x, y, 8, 8);
    }
    const blob = await new Promise((done) => { canvas.toBlob(done, 'image/png'); });
    return [...new Uint8Array(await blob.arrayBuffer())];
  });
  assert.ok(noise.length > 100 * 1024, `${noise.length} bytes`);
  const file = (name, mimeType, bytes) =>
    page.getByLabel('Picture file').setInputFiles({ name, mimeType, buffer: Buffer.from(bytes) });
  await file('evil.png', 'image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'));
  await page.getByRole('button', { name: 'Upload picture' }).click();
  await page.getByText('Picture must be a PNG, JPEG or WebP file.').waitFor();
  await file('poster.png', 'image/png', noise);
  await page.getByRole('button', { name: 'Upload picture' }).click();
  await page.getByRole('img', { name: 'Picture of A poster' }).waitFor();
  await page.locator('img.picture').evaluate((image) => image.decode());
  await checkPageInAllModes(page, 'link-picture');
  const payer = await openPage(browser, url, { viewport: { width: 360, height: 800 } });
  const image = payer.locator('img.picture');
  await image.evaluate((shown) => shown.decode());
  const { width, height, bytes } = await image.evaluate(async (shown) => ({
    width: shown.naturalWidth, height: shown.naturalHeight, bytes: (await (await fetch(shown.src)).blob()).size,
  }));
  assert.ok(width <= 1200 && Math.abs(width / height - 1.5) < 0.01 && bytes <= 100 * 1024, `${width} × ${height}, ${bytes} bytes`);
  await checkPage(payer, 'link_picture');
  await closePage(payer);
  await page.getByRole('button', { name: 'Remove picture' }).click();
  await page.getByText('No picture yet. Customers see it above the name.').waitFor();
  await closePage(page, ['400', '401']);
});

test('the merchant finds the QR code to print', async () => {
  const page = await signIn(browser, coffer);
  const url = await createLink(page, { Name: 'A coffee', Price: '3.50' });
  const [poster] = await Promise.all([
    page.waitForEvent('popup'), page.getByRole('link', { name: 'Print QR code' }).click(),
  ]);
  await poster.getByRole('img', { name: /^Scan to pay/ }).waitFor();
  assert.equal(poster.url(), `${url}/qr`);
  await closePage(page, ['401']);
});

test('a line of HTML works on a website of another origin, without a script', async () => {
  const page = await signIn(browser, coffer);
  const name = `${HOSTILE} & </a></form><script>document.title = "run"</script>`;
  const url = await createLink(page, { Name: name, Price: '3.50' });
  const lines = await page.locator('pre').allTextContents();
  assert.equal(lines.length, 2);
  assert.ok(lines.every((line) => !line.includes('\n') && !line.includes('<script>')), lines.join('\n'));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: coffer.url });
  await page.getByRole('button', { name: 'Copy the HTML of the link' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), lines[0]);
  const site = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">${lines.join('')}`);
  });
  await new Promise((listening) => { site.listen(0, '127.0.0.1', listening); });
  const shop = `http://localhost:${site.address().port}/`;
  for (const role of ['link', 'button']) {
    for (const javaScriptEnabled of [false, true]) {
      const visitor = await openPage(browser, shop, { javaScriptEnabled, origins: [coffer.url] });
      assert.equal(await visitor.title(), 'Shop');
      assert.equal(await visitor.locator('img, script').count(), 0);
      await visitor.getByRole(role, { name: `${name}, 3.50 EUR` }).click();
      await visitor.getByRole('heading', { level: 1, name }).waitFor();
      assert.equal(visitor.url().replace(/\?$/, ''), url);
      await visitor.getByRole('button', { name: 'Go to payment' }).click();
      await visitor.getByRole('heading', { level: 1, name: 'Pay 3.50 EUR' }).waitFor();
      await closePage(visitor);
    }
  }
  await new Promise((closed) => { site.close(closed); });
  await closePage(page, ['401']);
});

test('payments beyond the limit are shown to the merchant', async () => {
  const page = await signIn(browser, coffer);
  const url = await createLink(page, { Name: 'A ticket', Price: '3.50', 'Limit of paid uses': '1' });
  await page.getByText('No paid invoices yet').waitFor();
  const ids = await Promise.all([0, 1, 2].map(async () => {
    const answer = await fetch(url, { method: 'POST', redirect: 'manual', body: '' });
    return answer.headers.get('location').split(/[/?]/)[2];
  }));
  for (const id of ids) await coffer.test('POST', `/v1/invoices/${id}/simulate`, { asset: 'LTC' });
  await page.reload();
  await page.getByText('2 payments came beyond the limit', { exact: false }).waitFor();
  const rows = page.getByRole('table', { name: 'Paid invoices' }).getByRole('row');
  assert.equal(await rows.filter({ hasText: 'Beyond the limit' }).count(), 2);
  assert.ok(!(await rows.filter({ hasText: ids[0].slice(-6) }).innerText()).includes('Beyond'));
  await page.getByText('3 of 1').waitFor();
  await checkPageInAllModes(page, 'link-beyond');
  await closePage(page, ['401']);
});
