// One invoice with its payments, refunds, webhooks and events, and its actions.

import { form, operator } from '../shared/api.js';
import {
  ask,
  badge,
  copyButton,
  facts,
  h,
  money,
  table,
  withLocalTimes,
  to,
  toast,
  localTime,
  words,
} from '../shared/dom.js';
import { actionButton, coinName, readCoins, idLink, retryKey, formattedJson, txLink } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Meaning of each status. @type {Record<string, string>} */
const meaning = {
  created: 'The customer has not picked a coin yet.',
  awaiting_payment: 'A coin is picked, and nothing has come yet.',
  detected: 'A payment was seen, and waits for its confirmations.',
  confirmed: 'Paid. What is left after the fee is on the balance.',
  overpaid: 'Paid, and more came than was due. You may send the rest back as a refund.',
  underpaid: 'Less came than was due.',
  expired: 'The time to pay is over, and nothing came.',
  paid_late:
    'Money came after the time to pay was over. Decide whether the order still counts; else send it back as a refund.',
  cancelled: 'It was cancelled before anything came.',
  failed: 'A payment was seen and then undone by its chain.',
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
        h('a', { class: 'button', href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' }, 'Open its checkout'),
        canRefund ? actionButton(context, 'Refund…', '', () => askRefund(context, all)) : null,
        canCancel
          ? actionButton(context, 'Cancel it…', 'The invoice is cancelled.', () => cancel(context, invoice), 'danger')
          : null,
      ),
    ),
    h(
      'div',
      { class: 'halves' },
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'what' },
        h('h2', { id: 'what' }, 'What it is'),
        summaryCard(all),
      ),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'happened' },
        h('h2', { id: 'happened' }, 'What happened'),
        steps(timeline.data),
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
              { name: 'Refund', cell: (/** @type {Schemas["DashboardRefund"]} */ one) => idLink('/refunds', one.id) },
              { name: 'Status', cell: (one) => badge(one.status) },
              { name: 'Amount', end: true, cell: (one) => money(one.amount, one.currency) },
              { name: 'To', cell: (one) => h('span', { class: 'mono' }, one.toAddress) },
              { name: 'Requested', cell: (one) => localTime(one.requestedAt) },
            ],
            refunds.data,
          ).element,
        ),
    section(
      'Webhooks of it',
      sent.length === 0
        ? h(
            'p',
            { class: 'quiet' },
            'Nothing was sent for this invoice, or not lately. ',
            h('a', { href: '#/webhooks' }, 'Webhook endpoints'),
          )
        : table(
            'Deliveries',
            [
              { name: 'Event', cell: (/** @type {Schemas["Delivery"]} */ one) => one.type },
              { name: 'State', cell: (one) => badge(one.state) },
              { name: 'To', cell: (one) => one.url },
              { name: 'Attempts', end: true, cell: (one) => one.attempts.at(-1)?.number ?? 0 },
              {
                name: 'Made',
                cell: (one) =>
                  h('a', { href: to(`/deliveries/${one.id}`, { event: one.event }) }, localTime(one.createdAt)),
              },
            ],
            sent,
          ).element,
    ),
    section(
      'Events',
      events.data.length === 0
        ? h('p', { class: 'quiet' }, 'None.')
        : h(
            'div',
            { class: 'card' },
            events.data.map((/** @type {Schemas["Event"]} */ one) =>
              h('details', null, h('summary', null, `${one.type} · `, localTime(one.created)), formattedJson(one)),
            ),
          ),
    ),
    section(
      'Metadata',
      Object.keys(invoice.metadata).length === 0
        ? h('p', { class: 'quiet' }, 'None was given.')
        : formattedJson(invoice.metadata),
    ),
  );
}

/** Explains what will happen to a partly paid invoice. @param {Schemas["Invoice"]} invoice */
const partlyPaidText = (invoice) => [
  ' Until ',
  localTime(invoice.expiresAt),
  ' the customer may send the rest. After that you may send back as a refund what came.',
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
    ['Id', h('span', null, h('span', { class: 'mono' }, invoice.id), ' ', copyButton(invoice.id, 'invoice id'))],
    ['For', invoice.description],
    ['Customer', invoice.customerEmail],
    ['Made', localTime(invoice.createdAt)],
    ['To be paid by', localTime(invoice.expiresAt)],
    ['Confirmed', invoice.confirmedAt ? localTime(invoice.confirmedAt) : null],
    ['Coin', invoice.asset ? coinName(invoice.assetSymbol, invoice.asset) : 'Not picked yet'],
    ['To pay', invoice.amountExpected ? money(invoice.amountExpected, invoice.assetSymbol) : null],
    ['Received', invoice.amountReceived ? money(invoice.amountReceived, invoice.assetSymbol) : null],
    ['Rate', quote ? `${money(quote.rate, invoice.currency)} for one (${words(quote.pricedBy.source)})` : null],
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
    ['Counts as paid', `from ${money(sums.paidFrom, invoice.currency)} to ${money(sums.paidUpTo, invoice.currency)}`],
    ['Refunded', invoice.refundedAmount ? money(invoice.refundedAmount, invoice.currency) : null],
    [
      'Payment link',
      invoice.paymentLinkId ? h('a', { href: to(`/links/${invoice.paymentLinkId}`) }, 'The link that made it') : null,
    ],
    ['Test network', all.testNetwork],
  );
}

/** @param {Schemas["TimelineEntry"][]} entries */
function steps(entries) {
  const tone = (/** @type {Schemas["TimelineEntry"]} */ entry) => {
    if (['confirmed', 'overpaid'].includes(entry.status ?? '') || entry.payment?.step === 'confirmed') return 'good';
    if (
      ['underpaid', 'expired', 'failed', 'paid_late'].includes(entry.status ?? '') ||
      entry.payment?.step === 'dropped'
    )
      return 'bad';
    return '';
  };
  return h(
    'ol',
    { class: 'steps' },
    entries.map((entry) =>
      h(
        'li',
        { class: tone(entry) },
        h('p', null, entry.status ? [badge(entry.status), ' '] : null, sentence(entry)),
        entry.status && meaning[entry.status] ? h('p', { class: 'quiet' }, meaning[entry.status]) : null,
        entry.payment ? h('p', { class: 'quiet' }, txLink(entry.payment.explorerUrl, entry.payment.txid)) : null,
        h('p', { class: 'quiet' }, localTime(entry.at)),
      ),
    ),
  );
}

/**
 * Formats an entry of the timeline as a sentence with local times. Omits the status, which a badge shows.
 * @param {Schemas["TimelineEntry"]} entry
 */
function sentence(entry) {
  const start = `${entry.status}: `;
  const text = entry.text.startsWith(start) ? entry.text.slice(start.length) : entry.text;
  return withLocalTimes(`${text.charAt(0).toUpperCase()}${text.slice(1)}`);
}

/** @param {Schemas["InvoiceDetail"]} all */
function payments(all) {
  if (all.payments.length === 0) return section('Payments', h('p', { class: 'quiet' }, 'Nothing has come yet.'));
  return section(
    'Payments',
    table(
      'Payments',
      [
        { name: 'State', cell: (one) => badge(one.state) },
        { name: 'Amount', end: true, cell: (one) => money(one.amount, one.asset) },
        { name: 'Worth', end: true, cell: (one) => money(one.value, all.invoice.currency) },
        { name: 'In time', cell: (one) => (one.onTime ? 'Yes' : 'No, late') },
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
      `Nobody can pay ${money(invoice.amount, invoice.currency)} on it any more. What comes to its address all the ` +
        'same is noted as late. It cannot be opened again.',
    ),
    h(
      'div',
      { class: 'ends' },
      h('button', { type: 'button', onclick: () => close(false) }, 'Keep it'),
      h('button', { type: 'button', class: 'danger', onclick: () => close(true) }, 'Cancel the invoice'),
    ),
  ]);
  if (sure !== true) return false;
  await operator('POST', context.path(`invoices/${invoice.id}/cancel`), undefined, { mode: context.mode });
  return true;
}

/** @param {Context} context @param {Schemas["InvoiceDetail"]} all */
async function askRefund(context, all) {
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
      'The amount leaves the balance now. An operator approves it, then sends the coin; rejecting or cancelling puts ' +
        'it back.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: `Amount in ${invoice.currency}`,
          inputmode: 'decimal',
          hint: 'Empty: all that is left of it.',
        },
        { name: 'asset', label: 'Coin', type: 'select', value: invoice.asset ?? '', options },
        {
          name: 'toAddress',
          label: 'Address of the customer',
          required: true,
          hint: 'Ask the customer for it. Never send back to where it came from: that may be an exchange.',
        },
        { name: 'reason', label: 'Reason', hint: 'For you to read later.' },
      ],
      submit: 'Request the refund',
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
    toast('The refund is requested.');
    location.hash = to(`/refunds/${made.id}`);
  }
  return false;
}
