// What the tests of the operator pages share: signing in, going to a page, looking at it in every way.

import { looked, openPage } from './harness.mjs';

/** What would be an element, were it put in as markup. */
export const HOSTILE = '<img src=x onerror=alert(1)>"\'';

/** The operator of every sandbox. */
const OPERATOR = { email: 'operator@sandbox.test', password: 'sandbox' };

/** Opens the operator pages and signs in; looks at test mode. */
export async function signedIn(browser, coffer, who = {}) {
  const { email, password, ...options } = { ...OPERATOR, ...who };
  const page = await openPage(browser, `${coffer.url}/dashboard`, options);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content[data-place="/"]').waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('Test mode: nothing here is real money.').waitFor();
  await page.locator('#content:not([aria-busy])').waitFor();
  return page;
}

/** Goes to a page of the operator pages, and waits until it is there. */
export async function go(page, place) {
  await page.evaluate((hash) => { location.hash = hash; }, place);
  await page.locator(`#content[data-place="${place.split('?')[0]}"]:not([aria-busy])`).waitFor();
}

/** Looks at a page light and dark, wide and on a phone. */
export async function seen(page, name) {
  await looked(page, `dashboard-${name}`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await looked(page, `dashboard-${name}-dark`);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await looked(page, `dashboard-${name}-phone`);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** A paid test invoice. */
export async function paid(coffer, amount, fields = {}) {
  const invoice = await coffer.test('POST', '/v1/invoices', { amount, currency: 'EUR', asset: 'LTC', ...fields });
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  return invoice;
}
