// First steps: from a new account to a paid test invoice and its webhook.
//
// Invariant: the key created here is kept only in this page's memory.

import { ApiError, runBusy, request, form, operator, problemText } from '../shared/api.js';
import { badge, copyButton, fill, h, money, to, toast, words } from '../shared/dom.js';
import { source } from '../shared/json.js';
import { addAccount } from './accounts.js';
import { showKey } from './keys.js';
import { head, formattedJson } from './list.js';
import { addWallet } from './wallets.js';
import { edit } from './webhooks.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/**
 * Objects that the user created on this page, and the account they belong to.
 * @type {{ account: string | null, key: string | null, invoice: Schemas["Invoice"] | null }}
 */
const created = { account: null, key: null, invoice: null };

/** @param {Context} context */
export async function show(context) {
  const { account } = context;
  const id = account?.id ?? null;
  if (created.account !== id) Object.assign(created, { account: id, key: null, invoice: null });
  const [wallets, endpoints] = await Promise.all([
    context.isOperator ? operator('GET', 'wallets') : { data: [] },
    account ? operator('GET', context.path('endpoints')) : { data: [] },
  ]);
  const invoice = await readInvoice();
  const steps = [
    accountStep(context),
    context.isOperator ? walletStep(context, wallets.data.length > 0) : null,
    endpointStep(context, endpoints.data.length > 0),
    keyStep(context),
    invoiceStep(context, invoice),
    paymentStep(context, invoice),
  ];
  return h(
    'div',
    { class: 'page' },
    head('First steps', 'From nothing to a paid test invoice, in a few minutes.'),
    h('div', { class: 'card' }, h('ol', { class: 'steps' }, steps)),
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

/** @param {Context} context */
function accountStep(context) {
  const { account, isOperator } = context;
  const title = 'An account';
  if (!account) {
    const add = h(
      'button',
      { type: 'button', class: 'primary', onclick: () => addAccount(context) },
      'Add an account…',
    );
    return step(title, false, 'An account is a merchant: its prices, keys and books.', isOperator ? add : null);
  }
  const isPending = account.status === 'pending' && isOperator;
  const action = isPending ? approve(context, account.id) : null;
  return step(title, account.status === 'active', `${account.name} is ${account.status}.`, action);
}

/** @param {Context} context @param {boolean} isThere */
function walletStep(context, isThere) {
  const text = isThere
    ? 'There is one.'
    : 'Not needed for a test. Coffer is given a public key only; it can never spend.';
  const add = h('button', { type: 'button', onclick: () => addWallet(context) }, 'Add a wallet…');
  return step('A wallet, for real money', isThere, text, add, true);
}

/** @param {Context} context @param {boolean} isThere */
function endpointStep(context, isThere) {
  const text = isThere
    ? 'Your shop is told what happens.'
    : 'Not needed for a test. It is where your shop is told that an invoice is paid.';
  const add = h('button', { type: 'button', onclick: () => edit(context, null) }, 'Add an endpoint…');
  return step('A webhook endpoint', isThere, text, context.account ? add : null, true);
}

/** @param {Context} context */
function keyStep(context) {
  const text = created.key
    ? 'This page uses it for the next steps, until you leave it.'
    : 'Your shop calls Coffer with a key. A test key moves no real money.';
  return step('A test key', created.key !== null, text, context.account && !created.key ? keyButton(context) : null);
}

/** @param {Context} context @param {Schemas["Invoice"] | null} invoice */
function invoiceStep(context, invoice) {
  const title = 'A test invoice';
  if (!invoice) return step(title, false, 'As your shop would make one.', created.key ? invoiceForm(context) : null);
  const opened = { class: 'button', href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' };
  const text = h('span', null, money(invoice.amount, invoice.currency), ' ', badge(invoice.status));
  return step(title, true, text, h('a', opened, 'See its checkout'));
}

/** @param {Context} context @param {Schemas["Invoice"] | null} invoice */
function paymentStep(context, invoice) {
  if (invoice?.paid) return step('Paid', true, 'It is paid, booked, and told.', null);
  const text = 'A test invoice is paid by a press of a button.';
  return step('Paid', false, text, invoice ? pay(context, invoice) : null);
}

/**
 * @param {string} title
 * @param {boolean} isDone
 * @param {import("../shared/dom.js").Child} text
 * @param {import("../shared/dom.js").Child} action
 * @param {boolean} [isOptional]
 */
function step(title, isDone, text, action, isOptional = false) {
  return h(
    'li',
    { class: isDone ? 'good' : '' },
    h(
      'div',
      { class: 'stack' },
      h(
        'h2',
        null,
        title,
        isDone ? h('span', { class: 'visually-hidden' }, ' (done)') : null,
        !isDone && isOptional ? h('span', { class: 'quiet' }, ' – optional') : null,
      ),
      h('p', null, text),
      action ? h('div', { class: 'row' }, action) : null,
    ),
  );
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
  return stepButton(context, 'Approve it', async () => {
    await operator('POST', `accounts/${id}/status`, { status: 'active' });
    await context.refresh();
  });
}

/** @param {Context} context */
function keyButton(context) {
  return stepButton(context, 'Make a test key', async () => {
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
        options: [
          ['EUR', 'EUR'],
          ['USD', 'USD'],
        ],
      },
    ],
    submit: 'Make the invoice',
    send: async (values) => {
      created.invoice = await requestAsShop('POST', 'v1/invoices', { ...values, description: 'First steps' });
      toast('The invoice is made.');
      await context.reload();
    },
  });
}

/** @param {Context} context @param {Schemas["Invoice"]} invoice */
function pay(context, invoice) {
  return stepButton(context, 'Pay it', async () => {
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
      'This is what your shop is told by a webhook. Give out the goods when it says paid, and never because a ' +
        'customer came back.',
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
      h('a', { class: 'button primary', href: to(`/invoices/${invoice.id}`, { mode: 'test' }) }, 'See the invoice'),
      h('a', { class: 'button', href: '#/webhooks' }, 'Webhooks'),
      h('a', { class: 'button', href: '#/settings' }, 'Settings of the checkout'),
    ),
  );
}
