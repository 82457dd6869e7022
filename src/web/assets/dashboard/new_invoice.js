// A new invoice, made by hand in live or test mode, and the link that the customer gets.

import { form, operator } from '../shared/api.js';
import { badge, exactTime, facts, fill, h, money, secretWithCopy, to } from '../shared/dom.js';
import { currencies, head, retryKey } from './list.js';
import { windowMinutes, windowSeconds } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {Context} context */
export async function show(context) {
  const { account, mode } = context;
  const place = h('div', { class: 'stack' });
  // The same key is sent again after an error, so that a repeated click creates no second invoice.
  const key = retryKey();
  const create = form({
    label: 'New invoice',
    class: 'card',
    fields: [
      {
        fields: [
          { name: 'amount', label: 'Amount', required: true, inputmode: 'decimal', placeholder: '19.90' },
          { name: 'currency', label: 'Currency', type: 'select', options: currencies },
        ],
      },
      { name: 'description', label: 'Description', hint: 'The customer sees it.' },
      { name: 'orderId', label: 'Order ID', hint: 'Your own reference. A second invoice with it is not created.' },
      { name: 'customerEmail', label: 'Customer email', type: 'email', hint: 'Shown in your lists, exports and webhooks. Receipts go to it if you switched them on.' },
      {
        name: 'ttlSeconds',
        label: 'Payment window, in minutes',
        inputmode: 'numeric',
        hint: `Leave it empty for ${windowMinutes(account?.ttlSeconds ?? 0)} minutes, the payment window of Settings.`,
      },
      {
        name: 'redirectUrl',
        label: 'Redirect URL',
        type: 'url',
        placeholder: 'https://',
        hint: 'Where the customer goes after payment. Leave it empty to use the success URL of Settings.',
      },
    ],
    submit: 'Create invoice',
    send: async (values) => {
      const ttlSeconds = windowSeconds(values, 'ttlSeconds');
      const given = Object.entries(values).filter(([, value]) => value !== '');
      const body = {
        ...Object.fromEntries(given),
        ...(ttlSeconds === null ? {} : { ttlSeconds }),
      };
      const created = await operator('POST', context.path('invoices'), body, { mode }, key);
      fill(place, result(context, created));
      place.querySelector('h2')?.focus();
    },
  });
  fill(place, unavailable(context), create);
  return h(
    'div',
    { class: 'page' },
    h('p', { class: 'crumb' }, h('a', { href: '#/invoices' }, 'Invoices')),
    head('New invoice', 'Create an invoice, then send its checkout link to the customer.'),
    place,
  );
}

/** Tells that the account cannot create invoices. @param {Context} context */
function unavailable({ account }) {
  if (account?.status === 'active') return null;
  const text = `This account is ${account?.status}: it cannot create invoices before an operator approves it.`;
  return h('p', { class: 'note warn' }, text);
}

/** Shows the created invoice. @param {Context} context @param {Schemas["CreatedInvoice"]} invoice */
function result(context, invoice) {
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'created' },
    h('h2', { id: 'created', tabindex: '-1' }, 'Send this link to the customer'),
    invoice.warnings ? h('ul', { class: 'note warn' }, invoice.warnings.map((text) => h('li', null, text))) : null,
    secretWithCopy(invoice.checkoutUrl, 'checkout link'),
    facts(
      ['Amount', money(invoice.amount, invoice.currency)],
      ['Status', badge(invoice.status)],
      ['Order ID', invoice.orderId],
      ['Description', invoice.description],
      ['Payable until', exactTime(invoice.expiresAt)],
    ),
    h(
      'div',
      { class: 'row' },
      h('a', { class: 'button primary', href: to(`/invoices/${invoice.id}`) }, 'Open invoice'),
      h('a', { class: 'button', href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' }, 'Open checkout'),
      h('button', { type: 'button', onclick: () => context.reload() }, 'Create another invoice'),
    ),
  );
}
