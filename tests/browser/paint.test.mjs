// Time until the customer sees the payment data, on loopback with a CPU throttled to a quarter. The times are printed.
// No test asserts a time.

import { after, before, test } from 'node:test';
import { closePage, openPage, startBrowser, startCoffer } from './harness.mjs';

const ROUNDS = 10;

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2).toFixed(0);
};

test('the first contentful paint and the QR code', async (t) => {
  const invoice = await coffer.test('POST', '/v1/invoices', { amount: '20.00', currency: 'EUR', asset: 'BTC' });
  const page = await openPage(browser, invoice.checkoutUrl);
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  // Records the time of the first frame after the QR code is in the page.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector('figure svg')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => { window.codeAt = performance.now(); }));
    }).observe(document, { childList: true, subtree: true });
  });
  const [paints, codes] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.goto(invoice.checkoutUrl);
    await page.waitForFunction(() =>
      window.codeAt && performance.getEntriesByName('first-contentful-paint').length > 0);
    const { paint, code } = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, code: window.codeAt,
    }));
    paints.push(paint);
    codes.push(code);
  }
  t.diagnostic(`median of ${ROUNDS}: first contentful paint ${median(paints)} ms, QR code ${median(codes)} ms`);
  await closePage(page);
});
