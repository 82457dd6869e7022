// The checkout in a real browser: every status, keyboard use, no JavaScript, and the size of the page.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closePage, checkPage, openPage, startBrowser, startCoffer } from './harness.mjs';

let browser;
let coffer;
before(async () => { [browser, coffer] = await Promise.all([startBrowser(), startCoffer()]); });
after(async () => { await browser?.close(); await coffer?.stop(); });

const PHONE = { viewport: { width: 390, height: 844 } };
/** Parts of browser messages about a lost connection. */
const LOST = ['ERR_INTERNET_DISCONNECTED', 'ERR_FAILED', 'net::ERR'];

function invoice(more = {}) {
  return coffer.test('POST', '/v1/invoices', {
    amount: '20.00', currency: 'EUR', description: 'Two novels, one of them long',
    redirectUrl: 'https://shop.example/thanks', cancelUrl: 'https://shop.example/cart', ...more,
  });
}
const simulate = (of, more = {}) => coffer.test('POST', `/v1/invoices/${of.id}/simulate`, more);
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const liveText = (page) => page.locator('#said').textContent();
/** Waits for a text in the live region, which screen readers announce. */
const waitForLiveText = (page, text) => page.locator('#said', { hasText: text }).waitFor({ state: 'attached' });

/** Takes pictures of the page in light and dark mode, and checks both for accessibility. */
async function checkLightAndDark(page, name) {
  await checkPage(page, name);
  await page.emulateMedia({ colorScheme: 'dark' });
  await checkPage(page, `${name}_dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

test('page shows an exact payment without a reload', async () => {
  const of = await invoice();
  const page = await openPage(browser, of.checkoutUrl, PHONE);
  await heading(page, 'Pay 20.00 EUR');
  await checkLightAndDark(page, 'checkout_choose');
  await page.getByRole('button', { name: /Litecoin/ }).click();
  await heading(page, 'Send 0.25 LTC');
  await checkLightAndDark(page, 'checkout_pay');
  // The stream sends the change, so the page changes without a reload.
  const { id } = await coffer.control('POST', '/payments', { invoice: of.id });
  await heading(page, 'Payment received, confirming');
  assert.match(await liveText(page), /^Payment received, confirming\. The network is confirming/);
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
  await checkLightAndDark(page, 'checkout_detected');
  // The page fetches itself again. The focus stays on its element, whether the content is the same or new.
  const again = async (change) => {
    await page.evaluate(([add]) => {
      window.before = document.querySelector('h1');
      if (add) document.querySelector('#checkout .message').after(add);
      for (const name of ['offline', 'online']) dispatchEvent(new Event(name));
    }, [change]);
    await page.waitForFunction(() => document.querySelector('#offline').textContent === '');
    return page.evaluate(() => [document.activeElement?.tagName, document.querySelector('h1') === window.before]);
  };
  assert.deepEqual(await again(''), ['H1', true]);
  assert.deepEqual(await again('!'), ['H1', false]);
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await heading(page, 'Paid');
  assert.match(await liveText(page), /^Paid\. Your payment has arrived/);
  assert.match(await page.title(), /^20\.00 EUR to /);
  const back = page.getByRole('link', { name: 'Back to the shop' });
  assert.equal(await back.getAttribute('href'), 'https://shop.example/thanks');
  await checkLightAndDark(page, 'checkout_paid');
  await closePage(page);
});

test('test panel pays a part, then the rest', async () => {
  const page = await openPage(browser, (await invoice({ asset: 'LTC' })).checkoutUrl, PHONE);
  await heading(page, 'Send 0.25 LTC');
  const address = await page.locator('#address').textContent();
  const { id } = await coffer.control('POST', '/payments', { address, amount: '0.125' });
  await waitForLiveText(page, /^Send 0\.125 LTC more\. 0\.125 LTC was seen so far/);
  await checkLightAndDark(page, 'checkout_part');
  await coffer.control('POST', `/payments/${id}`, { state: 'dropped' });
  await heading(page, 'Send 0.25 LTC');
  await page.getByRole('button', { name: 'Pay too little' }).click();
  await heading(page, 'Send 0.125 LTC more');
  assert.equal(await page.locator('#address').textContent(), address);
  assert.equal(await page.locator('#amount').textContent(), '0.125');
  await checkLightAndDark(page, 'checkout_under');
  await page.getByRole('button', { name: 'Pay exactly' }).click();
  await heading(page, 'Paid');
  assert.equal(await page.getByRole('heading', { name: 'Test payment' }).count(), 0);
  await closePage(page);
});

test('page shows an overpayment', async () => {
  const page = await openPage(browser, (await invoice({ asset: 'LTC' })).checkoutUrl);
  await page.getByRole('button', { name: 'Pay too much' }).click();
  await heading(page, 'Paid');
  await page.locator('.message', { hasText: 'more than was due' }).waitFor();
  await checkLightAndDark(page, 'checkout_over');
  await closePage(page);
});

test('invoice expires, and a later payment is late', async () => {
  const short = await invoice({ asset: 'LTC' });
  await simulate(short, { case: 'under' });
  const late = await invoice({ asset: 'LTC' });
  const page = await openPage(browser, late.checkoutUrl, PHONE);
  await page.getByRole('button', { name: 'Let the time run out' }).click();
  await heading(page, 'The time to pay is over');
  await page.getByRole('heading', { name: 'Have you sent money already?' }).waitFor();
  const back = page.getByRole('link', { name: 'Back to the shop' });
  assert.equal(await back.getAttribute('href'), 'https://shop.example/cart');
  await checkLightAndDark(page, 'checkout_expired');
  // A payment that arrives after the deadline appears without a reload.
  const { id } = await coffer.control('POST', '/payments', { invoice: late.id });
  await page.locator('.message', { hasText: 'Do not pay again' }).waitFor();
  assert.match(await liveText(page), /^The time to pay is over\. A payment was seen, but only after/);
  assert.equal(await page.getByText('Nothing was paid').count(), 0);
  assert.equal(await page.getByText('Have you sent money already?').count(), 0);
  await checkLightAndDark(page, 'checkout_seen_late');
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await heading(page, 'Paid too late');
  await checkLightAndDark(page, 'checkout_late');
  await page.goto(short.checkoutUrl);
  await heading(page, 'Not paid in full');
  await checkLightAndDark(page, 'checkout_short');
  await page.getByRole('button', { name: 'Pay late' }).click();
  await heading(page, 'Paid too late');
  await closePage(page);
});

test('page shows expiry and cancellation at once', async () => {
  const [one, other] = [await invoice({ asset: 'LTC' }), await invoice()];
  const pages = [await openPage(browser, one.checkoutUrl), await openPage(browser, other.checkoutUrl)];
  await coffer.control('POST', `/invoices/${one.id}/cancel`);
  await heading(pages[0], 'Cancelled');
  await checkLightAndDark(pages[0], 'checkout_cancelled');
  await coffer.control('POST', '/clock', { advance: '20m' });
  await heading(pages[1], 'The time to pay is over');
  for (const page of pages) await closePage(page);
  // If the chain is behind, the page waits and does not request a payment.
  const body = { amount: '20.00', currency: 'EUR', asset: 'LTC' };
  const live = await coffer.live.createInvoice(body);
  const page = await openPage(browser, live.checkoutUrl, PHONE);
  await heading(page, 'Send 0.25 LTC');
  await coffer.control('PATCH', '/chains/litecoin', { lagging: true });
  await coffer.control('POST', '/clock', { advance: '20m' });
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await waitForLiveText(page, /^The time to pay is over\. Send nothing more/);
  await checkLightAndDark(page, 'checkout_still_read');
  await coffer.control('PATCH', '/chains/litecoin', { lagging: false });
  await waitForLiveText(page, /Nothing was paid in time/);
  await closePage(page);
});

test('page shows a dropped payment', async () => {
  const of = await invoice({ asset: 'LTC' });
  const page = await openPage(browser, of.checkoutUrl);
  const { id } = await coffer.control('POST', '/payments', { invoice: of.id });
  await heading(page, 'Payment received, confirming');
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await heading(page, 'Paid');
  await coffer.control('POST', `/payments/${id}`, { state: 'dropped' });
  // The customer returns to the tab of the page.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await heading(page, 'The payment did not go through');
  await checkLightAndDark(page, 'checkout_failed');
  // The dropped payment is confirmed after all.
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await heading(page, 'Paid');
  await closePage(page);
});

test('another coin is selected by keyboard', async () => {
  const of = await invoice({ asset: 'LTC' });
  const [page, other] = [await openPage(browser, of.checkoutUrl), await openPage(browser, of.checkoutUrl)];
  const press = async (key, times = 1) => { for (let at = 0; at < times; at += 1) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  const to = async (text) => {
    for (let at = 0; at < 40; at += 1) {
      await press('Tab');
      if ((await focused())?.includes(text)) return;
    }
    assert.fail(`${text} cannot be reached by Tab`);
  };
  await to('How does this work?');
  await press('Enter');
  await page.getByText('Check that the network is Litecoin').waitFor();
  await to('Pay with another coin');
  await press('Enter');
  await to('find');
  await page.keyboard.type('tron usd');
  await press('Enter');
  assert.equal(await page.locator('.coins [data-find]:visible').count(), 1);
  await checkPage(page, 'checkout_other_coin');
  // The page is fetched again while the customer types: typed text and the focus stay.
  await page.evaluate(() => document.querySelector('#checkout .price').append('!'));
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.waitForFunction(() => !document.querySelector('#checkout .price').textContent.includes('!'));
  assert.deepEqual([await focused(), await page.locator('#find').inputValue()], ['find', 'tron usd']);
  assert.equal(await page.locator('.coins [data-find]:visible').count(), 1);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('nothing');
  await waitForLiveText(page, 'There is no coin of that name.');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('usdt tron');
  await to('Tron network');
  await press('Enter');
  await heading(page, /^Send 21\.739131 USDT/);
  await page.getByText('only on the Tron network').waitFor();
  // Another tab with the same page shows the change, too.
  await waitForLiveText(other, /^Send 21\.739131 USDT/);
  for (const each of [page, other]) await closePage(each);
});

test('amount and address are copied, and the page announces it', async () => {
  const of = await invoice({ asset: 'ETH' });
  const page = await openPage(browser, of.checkoutUrl, { permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Copy amount' }).click();
  await page.locator('[data-copy=amount].done', { hasText: 'Copied' }).waitFor();
  await waitForLiveText(page, 'Copied: 0.00666667');
  assert.equal(await copied(), '0.00666667');
  await page.getByRole('button', { name: 'Copy address' }).click();
  await waitForLiveText(page, /^Copied: 0x/);
  const address = await page.locator('#address').textContent();
  assert.equal(await copied(), address);
  // If the clipboard API fails, the page copies by the older method.
  await page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not here')); });
  await page.getByRole('button', { name: 'Copy amount' }).click();
  await page.waitForFunction(async () => await navigator.clipboard.readText() === '0.00666667');
  await page.evaluate(() => { document.execCommand = () => false; });
  await page.getByRole('button', { name: 'Copy address' }).click();
  await waitForLiveText(page, /^Copying failed/);
  assert.equal(await page.evaluate(() => getSelection().toString()), address);
  await closePage(page);
});

test('page shows a lost connection and reconnects', async () => {
  const of = await invoice({ asset: 'LTC' });
  const page = await openPage(browser, of.checkoutUrl, PHONE);
  await heading(page, 'Send 0.25 LTC');
  await page.context().setOffline(true);
  await page.getByText('No connection. Your payment is safe. This page updates by itself.').waitFor();
  const isSeen = (note) => note.getBoundingClientRect().bottom <= innerHeight;
  assert.ok(await page.locator('#offline').evaluate(isSeen), 'it is seen');
  await checkPage(page, 'checkout_offline');
  await simulate(of);
  await page.context().setOffline(false);
  await heading(page, 'Paid');
  assert.equal(await page.locator('#offline').textContent(), '');
  await closePage(page, LOST);
});

test('page polls without the stream', async () => {
  const of = await invoice({ asset: 'LTC' });
  const page = await openPage(browser, 'about:blank', { origins: [coffer.url] });
  await page.clock.install();
  await page.route('**/events?*', (route) => route.abort());
  await page.goto(of.checkoutUrl);
  await heading(page, 'Send 0.25 LTC');
  const { id } = await coffer.control('POST', '/payments', { invoice: of.id });
  await coffer.control('POST', `/payments/${id}`, { state: 'confirmed' });
  await page.clock.fastForward('00:11');
  await heading(page, 'Paid');
  await coffer.control('POST', `/payments/${id}`, { state: 'dropped' });
  await page.clock.fastForward('01:01');
  await heading(page, 'The payment did not go through');
  await closePage(page, LOST);
});

test('page announces the remaining time at 5 minutes, 1 minute and the end', async () => {
  const page = await openPage(browser, 'about:blank', { origins: [coffer.url] });
  await page.clock.install();
  await page.goto((await invoice({ asset: 'LTC' })).checkoutUrl);
  await page.evaluate(() => {
    window.told = [];
    new MutationObserver(() => window.told.push(document.querySelector('#said').textContent))
      .observe(document.querySelector('#said'), { childList: true });
  });
  // Requests fail from here on, so that only the timer in the page is tested.
  await page.route('**/checkout/**', (route) => route.abort());
  for (let minute = 0; minute < 21; minute += 1) await page.clock.runFor(60_000);
  const told = await page.evaluate(() => window.told);
  assert.deepEqual(told, ['5 minutes left to pay.', '1 minute left to pay.', 'The time to pay is over.']);
  assert.equal(await page.locator('.left').textContent(), '0:00 left');
  await closePage(page, LOST);
});

test('checkout works without JavaScript', async () => {
  const page = await openPage(browser, (await invoice()).checkoutUrl, { ...PHONE, javaScriptEnabled: false });
  await page.getByRole('button', { name: /Litecoin/ }).click();
  await heading(page, 'Send 0.25 LTC');
  assert.equal(await page.locator('.copy:visible, .search:visible').count(), 0);
  assert.equal(await page.locator('noscript meta[http-equiv=refresh]').getAttribute('content'), '10');
  await page.getByText('Pay with another coin').click();
  await page.getByRole('button', { name: /^Ether / }).click();
  await heading(page, /^Send 0\.00666667 ETH/);
  await page.screenshot({ path: 'target/screenshots/checkout_without_script.png', fullPage: true });
  await page.getByRole('button', { name: 'Pay exactly' }).click();
  await heading(page, 'Paid');
  await closePage(page);
});

test('checkout works at 320 px, with zoom and with reduced motion', async () => {
  const options = { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' };
  const of = await invoice();
  const page = await openPage(browser, of.checkoutUrl, options);
  await checkLightAndDark(page, 'checkout_choose_320');
  await page.getByText('Tether USD').click();
  await page.getByRole('button', { name: /^Solana network/ }).click();
  await heading(page, /^Send 21/);
  const animations = () => page.evaluate(() => document.getAnimations().length);
  assert.equal(await animations(), 0);
  await page.getByText('How does this work?').click();
  await page.getByText('Details', { exact: true }).click();
  await checkLightAndDark(page, 'checkout_pay_320');
  // At a zoom of 200 %, the window has half its width.
  await page.setViewportSize({ width: 640, height: 900 });
  await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
  await checkPage(page, 'checkout_pay_large');
  await closePage(page);
});

test('page is readable after one request', async () => {
  // The page can be read without its styles, scripts and images.
  const alone = await openPage(browser, 'about:blank', { ...PHONE, origins: [coffer.url] });
  await alone.route('**/assets/**', (route) => route.abort());
  await alone.goto((await invoice({ asset: 'LTC' })).checkoutUrl);
  await heading(alone, 'Send 0.25 LTC');
  const { width } = await alone.locator('svg.qr').boundingBox();
  assert.ok(width > 150 && width < 300, `${width} px`);
  await checkPage(alone, 'checkout_alone');
  await closePage(alone, LOST);
});

test('checkout uses the language of the browser, including right to left', async () => {
  const of = await invoice();
  const page = await openPage(browser, of.checkoutUrl, { ...PHONE, locale: 'ar' });
  assert.equal(await page.evaluate(() => document.documentElement.dir), 'rtl');
  await heading(page, /ادفع/);
  await checkLightAndDark(page, 'checkout_choose_ar');
  await page.getByRole('button', { name: /Litecoin/ }).click();
  await heading(page, /أرسل/);
  assert.match(await page.locator('.left').textContent(), /^الوقت المتبقي \d+:\d\d$/);
  await checkLightAndDark(page, 'checkout_pay_ar');
  // The selected language is kept in later requests and forms.
  await page.getByRole('link', { name: '日本語' }).click();
  await heading(page, '0.25 LTC を送ってください');
  await checkPage(page, 'checkout_pay_ja');
  await page.getByRole('button', { name: '少なく支払う' }).click();
  await heading(page, 'あと 0.125 LTC を送ってください');
  await page.getByRole('link', { name: '简体中文' }).click();
  await heading(page, '请再发送 0.125 LTC');
  await checkPage(page, 'checkout_under_zh');
  await simulate(of);
  await heading(page, '已付款');
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
  await closePage(page);
});

test('copied amount has a decimal point in every language', async () => {
  const of = await invoice({ asset: 'LTC' });
  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await openPage(browser, `${of.checkoutUrl}&lang=de`, { permissions });
  await heading(page, '0,25 LTC senden');
  assert.equal(await page.locator('#amount').textContent(), '0,25');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Betrag kopieren' }).click();
  await waitForLiveText(page, 'Kopiert: 0.25');
  assert.equal(await copied(), '0.25');
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.locator('#amount').click();
  await page.keyboard.press('Control+c');
  assert.equal(await copied(), '0.25');
  await closePage(page);
});

test('error page uses the language of the customer', async () => {
  const { id } = await invoice();
  for (const [lang, title] of [['ar', 'الصفحة غير موجودة'], ['de', 'Seite nicht gefunden'], ['ja', 'ページが見つかりません']]) {
    const page = await openPage(browser, `${coffer.url}/checkout/${id}?token=cut&lang=${lang}`, PHONE);
    await heading(page, title);
    await checkLightAndDark(page, `checkout_error_${lang}`);
    await closePage(page, ['404']);
  }
});
