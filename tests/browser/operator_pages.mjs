// Helpers of the tests of the operator pages: sign-in, navigation and checks of a page.

import { checkPage, openPage } from './harness.mjs';

/** Text that would become an image element if a page inserted it as markup. */
export const HOSTILE = '<img src=x onerror=alert(1)>"\'';

/** The operator of every sandbox. */
const OPERATOR = { email: 'operator@sandbox.test', password: 'sandbox' };

/** Opens the operator pages in test mode and signs in. */
export async function signIn(browser, coffer, who = {}) {
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

/** Navigates to a page of the operator pages and waits for it. */
export async function goTo(page, place) {
  await page.evaluate((hash) => { location.hash = hash; }, place);
  await page.locator(`#content[data-place="${place.split('?')[0]}"]:not([aria-busy])`).waitFor();
}

/** Checks a page in light and dark mode, wide and on a phone. */
export async function checkPageInAllModes(page, name) {
  await checkPage(page, `dashboard-${name}`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await checkPage(page, `dashboard-${name}-dark`);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 640 });
  await checkPage(page, `dashboard-${name}-phone`);
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Creates a paid test invoice. */
export async function createPaidInvoice(coffer, amount, fields = {}) {
  const invoice = await coffer.test('POST', '/v1/invoices', { amount, currency: 'EUR', asset: 'LTC', ...fields });
  await coffer.test('POST', `/v1/invoices/${invoice.id}/simulate`, {});
  return invoice;
}
