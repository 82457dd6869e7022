// One invoice with its payments, refunds, webhooks and events, and its actions.

import { errorSentence, form, operator } from '../shared/api.js';
import {
  ask,
  badge,
  copyButton,
  currentPlace,
  facts,
  h,
  money,
  table,
  to,
  toast,
  localTime,
  words,
} from '../shared/dom.js';
import { actionButton, coinName, formattedJson, jsonButton, readCoins, retryKey, shortId, txLink } from './list.js';
import { timelineList } from './timeline.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Meaning of each status. @type {Record<string, string>} */
const meaning = {
  created: 'The customer has not chosen a coin yet.',
  awaiting_payment: 'The customer has chosen a coin. No payment has arrived yet.',
  detected: 'A payment has arrived and waits for its confirmations.',
  confirmed: 'Paid. The amount less the fee is on the balance.',
  overpaid: 'Paid, and more arrived than was due. You can refund the rest.',
  underpaid: 'Less arrived than was due.',
  expired: 'The payment window ended without a payment.',
  paid_late:
    'The payment arrived after the payment window. Fulfil the order if it still counts, otherwise refund the invoice.',
  cancelled: 'Cancelled before a payment arrived.',
  failed: 'A payment arrived and then disappeared from its chain.',
};

/** @param {Context} context @param {string} id */
export async function detail(context, id) {
  const { mode } = context;
  const [found, timeline, events, deliveries, refunds] = await Promise.all([
    operator('GET', context.path(`invoices/${id}`), undefined, { mode }),
    operator('GET', context.path(`invoices/${id}/timeline`), undefined, { mode }),
    operator('GET', context.path('events'), undefined, { mode, object: id, limit: 50 }),
    operator('GET', context.path('deliveries'), undefined, { mode, limit: 100 }),
    operator('GET', context.path('refunds'), undefined, { mode, invoiceId: id }),
  ]);
  const all = /** @type {Schemas["InvoiceDetail"]} */ (found);
  const { invoice } = all;
  const sent = deliveries.data.filter((/** @type {Schemas["Delivery"]} */ one) => one.objectId === id);
  const canCancel = ['created', 'awaiting_payment'].includes(invoice.status);
  const canRefund = all.payments.some((one) => one.state === 'confirmed');
  openLinkedRefund(context, all, canRefund);
  return h(
    'div',
    { class: 'page' },
    h('p', { class: 'crumb' }, h('a', { href: '#/invoices' }, 'Invoices')),
    h(
      'div',
      { class: 'head' },
      h(
        'div',
        { class: 'stack' },
        h('h1', null, `${money(invoice.amount, invoice.currency)}${invoice.orderId ? ` · ${invoice.orderId}` : ''}`),
        h(
          'p',
          null,
          badge(invoice.status),
          ' ',
          h(
            'span',
            { class: 'quiet' },
            meaning[invoice.status],
            invoice.status === 'underpaid' ? partlyPaidText(invoice) : null,
          ),
        ),
      ),
      h(
        'div',
        { class: 'row' },
        h('a', { class: 'button', href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' }, 'Open checkout'),
        canRefund ? actionButton(context, 'Refund invoice…', '', () => askRefund(context, all)) : null,
        canCancel
          ? actionButton(context, 'Cancel invoice…', 'Invoice cancelled.', () => cancel(context, invoice), 'danger')
          : null,
      ),
    ),
    h(
      'div',
      { class: 'halves' },
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'details' },
        h('h2', { id: 'details' }, 'Details'),
        summaryCard(all),
      ),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'timeline' },
        h('h2', { id: 'timeline' }, 'Timeline'),
        timelineList(timeline.data),
      ),
    ),
    payments(all),
    refunds.data.length === 0
      ? null
      : section(
          'Refunds',
          table(
            'Refunds',
            [
              { name: 'Refund', cell: (/** @type {Schemas["DashboardRefund"]} */ one) => shortId(one.id) },
              { name: 'Status', cell: (one) => badge(one.status) },
              { name: 'Amount', end: true, cell: (one) => money(one.amount, one.currency) },
              { name: 'Address', cell: (one) => h('span', { class: 'mono' }, one.toAddress) },
              { name: 'Requested', cell: (one) => localTime(one.requestedAt) },
            ],
            refunds.data,
            { href: (one) => to(`/refunds/${one.id}`) },
          ).element,
        ),
    section(
      'Webhook deliveries',
      sent.length === 0
        ? h(
            'p',
            { class: 'quiet' },
            'No recent deliveries for this invoice. ',
            h('a', { href: '#/webhooks' }, 'Open webhook endpoints'),
          )
        : table(
            'Deliveries',
            [
              { name: 'Event', cell: (/** @type {Schemas["Delivery"]} */ one) => one.type },
              { name: 'Status', cell: (one) => badge(one.state) },
              { name: 'Endpoint', cell: (one) => one.url },
              { name: 'Attempts', end: true, cell: (one) => one.attempts.at(-1)?.number ?? 0 },
              { name: 'Created', cell: (one) => localTime(one.createdAt) },
            ],
            sent,
            { href: (one) => to(`/deliveries/${one.id}`) },
          ).element,
    ),
    section(
      'Events',
      events.data.length === 0
        ? h('p', { class: 'quiet' }, 'No events yet. Each change of the invoice is one.')
        : table(
            'Events',
            [
              { name: 'Type', cell: (/** @type {Schemas["Event"]} */ one) => one.type },
              { name: 'Event', cell: (one) => shortId(one.id) },
              { name: 'Created', cell: (one) => localTime(one.created) },
              { name: '', cell: (one) => jsonButton(one.type, one) },
            ],
            events.data,
          ).element,
    ),
    section(
      'Metadata',
      Object.keys(invoice.metadata).length === 0
        ? h('p', { class: 'quiet' }, 'No metadata. Add it with the field metadata of POST /v1/invoices.')
        : formattedJson(invoice.metadata),
    ),
  );
}

/** Explains what will happen to a partly paid invoice. @param {Schemas["Invoice"]} invoice */
const partlyPaidText = (invoice) => [
  ' Until ',
  localTime(invoice.expiresAt),
  ' the customer can send the rest. After that you can refund what arrived.',
];

/** @param {string} title @param {import("../shared/dom.js").Child} content */
function section(title, content) {
  const id = `part-${title.replace(/\W/g, '-')}`;
  return h('section', { class: 'stack', 'aria-labelledby': id }, h('h2', { id }, title), content);
}

/** @param {Schemas["InvoiceDetail"]} all */
function summaryCard(all) {
  const { invoice, sums } = all;
  const quote = all.quotes.find((one) => one.picked);
  return facts(
    ['Order', invoice.orderId],
    ['Id', h('span', null, h('span', { class: 'mono' }, invoice.id), ' ', copyButton(invoice.id, 'invoice id'))],
    ['Description', invoice.description],
    ['Customer', invoice.customerEmail],
    ['Created', localTime(invoice.createdAt)],
    ['Pay until', localTime(invoice.expiresAt)],
    ['Confirmed', invoice.confirmedAt ? localTime(invoice.confirmedAt) : null],
    ['Coin', invoice.asset ? coinName(invoice.assetSymbol, invoice.asset) : 'Not chosen yet'],
    ['Amount due', invoice.amountExpected ? money(invoice.amountExpected, invoice.assetSymbol) : null],
    ['Received', invoice.amountReceived ? money(invoice.amountReceived, invoice.assetSymbol) : null],
    ['Rate', quote ? `${money(quote.rate, invoice.currency)} per coin (${words(quote.pricedBy.source)})` : null],
    [
      'Address',
      invoice.depositAddress
        ? h(
            'span',
            null,
            h('span', { class: 'mono' }, invoice.depositAddress),
            ' ',
            copyButton(invoice.depositAddress, 'address'),
          )
        : null,
    ],
    ['Confirmed in time', money(sums.confirmedOnTime, invoice.currency)],
    ['Confirmed late', sums.confirmedLate === '0.00' ? null : money(sums.confirmedLate, invoice.currency)],
    ['Excess', all.excess === null ? null : `${money(all.excess, invoice.currency)} above the price, not refunded`],
    ['Accepted as paid', `from ${money(sums.paidFrom, invoice.currency)} to ${money(sums.paidUpTo, invoice.currency)}`],
    ['Refunded', invoice.refundedAmount ? money(invoice.refundedAmount, invoice.currency) : null],
    [
      'Payment link',
      invoice.paymentLinkId ? h('a', { href: to(`/links/${invoice.paymentLinkId}`) }, 'Open payment link') : null,
    ],
    ['Test network', all.testNetwork],
  );
}

/** @param {Schemas["InvoiceDetail"]} all */
function payments(all) {
  if (all.payments.length === 0)
    return section('Payments', h('p', { class: 'quiet' }, 'No payments yet. They appear here when they arrive.'));
  return section(
    'Payments',
    table(
      'Payments',
      [
        { name: 'Status', cell: (one) => badge(one.state) },
        { name: 'Amount', end: true, cell: (one) => money(one.amount, one.asset) },
        { name: 'Value', end: true, cell: (one) => money(one.value, all.invoice.currency) },
        { name: 'In time', cell: (one) => (one.onTime ? 'Yes' : 'Late') },
        {
          name: 'Confirmations',
          cell: (one) => (one.confirmations === null ? '–' : `${one.confirmations} of ${one.confirmationsNeeded}`),
        },
        { name: 'Transaction', cell: (one) => txLink(one.explorerUrl, one.txid) },
        { name: 'Seen', cell: (one) => localTime(one.seenAt) },
      ],
      all.payments,
    ).element,
  );
}

/** @param {Context} context @param {Schemas["Invoice"]} invoice */
async function cancel(context, invoice) {
  const sure = await ask('Cancel this invoice?', (/** @type {(answer: boolean) => void} */ close) => [
    h(
      'p',
      null,
      `Its ${money(invoice.amount, invoice.currency)} can no longer be paid. A payment that still arrives at its ` +
        'address counts as late. You cannot undo this.',
    ),
    h(
      'div',
      { class: 'ends' },
      h('button', { type: 'button', onclick: () => close(false) }, 'Keep invoice'),
      h('button', { type: 'button', class: 'danger', onclick: () => close(true) }, 'Cancel invoice'),
    ),
  ]);
  if (sure !== true) return false;
  await operator('POST', context.path(`invoices/${invoice.id}/cancel`), undefined, { mode: context.mode });
  return true;
}

/**
 * Opens the form of a refund if the link asks for it: `#/invoices/ID?refund=5.00`. The link fills in the amount, and
 * nothing is sent. The request is removed from the place, so that a reload does not open the form again.
 * @param {Context} context
 * @param {Schemas["InvoiceDetail"]} all
 * @param {boolean} canRefund
 */
function openLinkedRefund(context, all, canRefund) {
  const { path, query } = currentPlace();
  const amount = query.get('refund');
  if (amount === null || path !== `/invoices/${all.invoice.id}`) return;
  query.delete('refund');
  history.replaceState(null, '', to(path, Object.fromEntries(query)));
  if (canRefund) askRefund(context, all, amount).catch((error) => toast(errorSentence(error)));
  else toast('There is nothing to refund: no payment of this invoice is confirmed.');
}

/** @param {Context} context @param {Schemas["InvoiceDetail"]} all @param {string} [amount] filled in */
async function askRefund(context, all, amount = '') {
  const { invoice } = all;
  const quoted = [...new Set([invoice.asset, ...all.quotes.map((one) => one.asset)])].filter((one) => one !== null);
  /** @type {[string, string][]} */
  const options = context.isOperator
    ? (await readCoins()).map((one) => [one.asset, `${one.name} (${one.asset})`])
    : quoted.map((one) => [one, one]);
  const key = retryKey();
  const made = await ask('Request a refund', (/** @type {(refund: Schemas["DashboardRefund"]) => void} */ close) => [
    h(
      'p',
      null,
      'The amount leaves the balance now. An operator approves the refund and sends the coin. If it is rejected or ' +
        'cancelled, the amount is put back.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: `Amount in ${invoice.currency}`,
          inputmode: 'decimal',
          value: amount || (all.excess === '0.00' ? '' : (all.excess ?? '')),
          hint:
            all.excess === null
              ? 'Leave empty to refund all that is left.'
              : `The price is ${money(invoice.amount, invoice.currency)}. Leave empty to refund the excess.`,
        },
        { name: 'asset', label: 'Coin', type: 'select', value: invoice.asset ?? '', options },
        {
          name: 'toAddress',
          label: 'Customer’s address',
          required: true,
          hint: 'Ask the customer for it. Do not send to the address of the payment: it can belong to an exchange.',
        },
        { name: 'reason', label: 'Reason', hint: 'For your records.' },
      ],
      submit: 'Request refund',
      cancel: () => close(/** @type {any} */ (null)),
      send: async (values) =>
        close(
          await operator(
            'POST',
            context.path('refunds'),
            {
              invoice: invoice.id,
              toAddress: values.toAddress,
              asset: values.asset || null,
              amount: values.amount || null,
              reason: values.reason || null,
            },
            { mode: context.mode },
            key,
          ),
        ),
    }),
  ]);
  if (made) {
    toast('Refund requested.');
    location.hash = to(`/refunds/${made.id}`);
  }
  return false;
}
