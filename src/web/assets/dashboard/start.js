// First steps: from a new account to a real payment. The server computes the state of each step.
//
// Invariant: the key created here is kept only in this page's memory.

import { ApiError, runBusy, request, form, operator, problemText } from '../shared/api.js';
import { badge, copyButton, fill, h, money, to, toast, words } from '../shared/dom.js';
import { source } from '../shared/json.js';
import { addAccount } from './accounts.js';
import { stepList } from './first_steps.js';
import { showKey } from './keys.js';
import { currencies, head, formattedJson } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/**
 * Objects that the user created on this page, and the account they belong to.
 * @type {{
 *   account: string | null, key: string | null, invoice: Schemas["Invoice"] | null,
 *   link: Schemas["PaymentLink"] | null,
 * }}
 */
const created = { account: null, key: null, invoice: null, link: null };

/** Price of the first real payment. */
const FIRST_PRICE = '1.00';

/** @param {Context} context */
export async function show(context) {
  const { account } = context;
  const id = account?.id ?? null;
  if (created.account !== id) Object.assign(created, { account: id, key: null, invoice: null, link: null });
  const [invoice, found] = await Promise.all([
    readInvoice(),
    account ? operator('GET', context.path('first-steps')) : null,
  ]);
  return h(
    'div',
    { class: 'page' },
    head('First steps', 'From a new shop to a real payment.'),
    accountState(context),
    found
      ? h(
          'div',
          { class: 'card' },
          stepList(context, found, 'h2', {
            test_payment: testPayment(context, invoice),
            real_payment: realPayment(context, found),
          }),
        )
      : null,
    invoice?.paid ? await result(context, invoice) : null,
  );
}

/** Returns the current invoice, or null if it no longer exists or its key no longer works. */
async function readInvoice() {
  try {
    created.invoice =
      created.invoice && created.key ? await requestAsShop('GET', `v1/invoices/${created.invoice.id}`) : null;
  } catch (error) {
    if (!(error instanceof ApiError) || ![401, 404].includes(error.status)) throw error;
    created.invoice = null;
  }
  return created.invoice;
}

/** Shows what the account still needs before its steps: to exist, and to be approved. @param {Context} context */
function accountState(context) {
  const { account, isOperator } = context;
  if (account?.status === 'active') return null;
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => addAccount(context) }, 'Add account…');
  const approval = account?.status === 'pending' && isOperator ? approve(context, account.id) : null;
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'account-state' },
    h('h2', { id: 'account-state' }, 'Account'),
    h(
      'p',
      null,
      account
        ? `${account.name} is ${account.status}: it cannot create invoices before an operator approves it.`
        : 'An account is a shop: its prices, keys and books.',
    ),
    h('div', { class: 'row' }, account ? approval : isOperator ? add() : null),
  );
}

/**
 * Returns the parts of a test payment: a test key, a test invoice and its simulated payment.
 * @param {Context} context
 * @param {Schemas["Invoice"] | null} invoice
 */
function testPayment(context, invoice) {
  if (!created.key) return keyButton(context);
  if (!invoice) return invoiceForm(context);
  return h(
    'div',
    { class: 'stack' },
    h('p', null, money(invoice.amount, invoice.currency), ' ', badge(invoice.status)),
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button', href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' }, 'Open checkout'),
      invoice.paid ? null : pay(context, invoice),
    ),
  );
}

/**
 * Returns the parts of a real payment, until one is made: a payment link in live mode.
 * @param {Context} context
 * @param {Schemas["FirstSteps"]} found
 */
function realPayment(context, found) {
  const { link } = created;
  if (found.steps.some((one) => one.step === 'real_payment' && one.done)) return null;
  if (link) return h('a', { class: 'button primary', href: link.url, target: '_blank', rel: 'noopener' }, 'Open checkout');
  return stepButton(context, 'Create payment link', async () => {
    const body = { name: 'First real payment', amount: FIRST_PRICE, currency: 'EUR' };
    created.link = await operator('POST', context.path('payment-links'), body, { mode: 'live' });
    toast('The payment link is created, in live mode.');
  });
}

/**
 * Sends a request with the created key. Forgets a key that no longer works.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function requestAsShop(method, path, body) {
  try {
    return await request(method, path, body, { 'X-API-Key': created.key ?? '' });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) Object.assign(created, { key: null, invoice: null });
    throw error;
  }
}

/**
 * Creates a button that performs a step.
 * @param {Context} context
 * @param {string} text
 * @param {() => Promise<unknown>} work
 */
function stepButton(context, text, work) {
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const button = h(
    'button',
    {
      type: 'button',
      class: 'primary',
      onclick: () =>
        runBusy(button, async () => {
          try {
            await work();
            await context.reload();
          } catch (error) {
            fill(problem, problemText(error));
            problem.hidden = false;
          }
        }),
    },
    text,
  );
  return [button, problem];
}

/** @param {Context} context @param {string} id */
function approve(context, id) {
  return stepButton(context, 'Approve account', async () => {
    await operator('POST', `accounts/${id}/status`, { status: 'active' });
    await context.refresh();
  });
}

/** @param {Context} context */
function keyButton(context) {
  return stepButton(context, 'Create test key', async () => {
    const key = /** @type {Schemas["CreatedKey"]} */ (
      await operator('POST', context.path('keys'), { class: 'secret', mode: 'test' })
    );
    created.key = key.key ?? null;
    await showKey(key);
  });
}

/** @param {Context} context */
function invoiceForm(context) {
  return form({
    label: 'A test invoice',
    fields: [
      { name: 'amount', label: 'Price', value: '20.00', required: true, inputmode: 'decimal' },
      {
        name: 'currency',
        label: 'Currency',
        type: 'select',
        options: currencies,
      },
    ],
    submit: 'Create invoice',
    send: async (values) => {
      created.invoice = await requestAsShop('POST', 'v1/invoices', { ...values, description: 'First steps' });
      toast('The invoice is created.');
      await context.reload();
    },
  });
}

/** @param {Context} context @param {Schemas["Invoice"]} invoice */
function pay(context, invoice) {
  return stepButton(context, 'Pay invoice', async () => {
    const body = invoice.asset ? {} : { asset: 'LTC' };
    await requestAsShop('POST', `v1/invoices/${invoice.id}/simulate`, body);
  });
}

/** Shows the result of the payment. @param {Context} context @param {Schemas["Invoice"]} invoice */
async function result(context, invoice) {
  const events = (
    await operator('GET', context.path('events'), undefined, { mode: 'test', object: invoice.id, limit: 20 })
  ).data;
  const paid = events.find((/** @type {Schemas["Event"]} */ one) =>
    ['invoice.confirmed', 'invoice.overpaid'].includes(one.type),
  );
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'done' },
    h('h2', { id: 'done' }, 'Your first invoice is paid'),
    h(
      'p',
      null,
      'Your shop receives this webhook. Deliver when the webhook says paid, not when the customer returns.',
    ),
    paid
      ? h(
          'div',
          { class: 'stack' },
          h(
            'div',
            { class: 'row between' },
            h('strong', null, words(paid.type)),
            copyButton(source(paid), 'webhook'),
          ),
          formattedJson(paid),
        )
      : null,
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button primary', href: to(`/invoices/${invoice.id}`, { mode: 'test' }) }, 'Open invoice'),
      h('a', { class: 'button', href: '#/webhooks' }, 'Open webhooks'),
      h('a', { class: 'button', href: '#/settings' }, 'Change checkout'),
    ),
  );
}
