// The search for invoices. Each invoice has its own page (`invoice`).

import { operator } from '../shared/api.js';
import { badge, empty, h, money, localTime, words } from '../shared/dom.js';
import { detail } from './invoice.js';
import { download, filters, head, idLink, utcRange, pagedList } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

const statuses = [
  'created',
  'awaiting_payment',
  'detected',
  'confirmed',
  'overpaid',
  'underpaid',
  'expired',
  'paid_late',
  'cancelled',
  'failed',
];

/** @param {Context} context */
export function show(context) {
  const [id] = context.parts;
  return id ? detail(context, id) : list(context);
}

/** @param {Context} context */
async function list(context) {
  const { query, mode } = context;
  const wanted = Object.fromEntries(['text', 'status', 'currency'].map((name) => [name, query.get(name)]));
  const asked = { ...wanted, ...utcRange(query.get('from'), query.get('to')) };
  const isFiltered = Object.values(asked).some(Boolean);
  const found = await pagedList({
    label: 'Invoices',
    load: (before) => operator('GET', context.path('invoices'), undefined, { mode, before, limit: 50, ...asked }),
    none: isFiltered
      ? empty(
          'No such invoice',
          'Nothing fits what you search for. Look at the other mode, or search for less.',
          h('a', { class: 'button', href: '#/invoices' }, 'Show all'),
        )
      : empty(
          'No invoice yet',
          'Your shop makes them with its key, or you make a payment link and give it to a customer.',
          h('a', { class: 'button primary', href: '#/start' }, 'Make a test invoice'),
          h('a', { class: 'button', href: '#/links' }, 'Make a payment link'),
        ),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["Invoice"]>[]} */ ([
      {
        name: 'Invoice',
        cell: (one) => h('div', null, idLink('/invoices', one.id), one.orderId ? h('div', null, one.orderId) : null),
      },
      { name: 'Status', cell: (one) => badge(one.status) },
      { name: 'Amount', end: true, cell: (one) => money(one.amount, one.currency) },
      {
        name: 'Received',
        end: true,
        cell: (one) => (one.amountReceived ? money(one.amountReceived, one.assetSymbol) : '–'),
      },
      { name: 'Customer', cell: (one) => one.customerEmail ?? '–' },
      { name: 'For', cell: (one) => one.description ?? '–' },
      { name: 'Made', cell: (one) => localTime(one.createdAt) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head(
      'Invoices',
      'Each is a price that a customer pays in a coin.',
      download(`${context.path('exports/invoices.csv')}?mode=${mode}`, 'Download invoices', 'invoices.csv'),
      download(`${context.path('exports/payments.csv')}?mode=${mode}`, 'Download payments', 'payments.csv'),
    ),
    filters('/invoices', [
      {
        name: 'text',
        label: 'Search',
        type: 'search',
        wide: true,
        hint:
          'A whole id, address or transaction; part of an id, order id, description, email or metadata value; or ' +
          'key=value of the metadata.',
      },
      {
        name: 'status',
        label: 'Status',
        type: 'select',
        options: [['', 'Any'], ...statuses.map((one) => /** @type {[string, string]} */ ([one, words(one)]))],
      },
      {
        name: 'currency',
        label: 'Currency',
        type: 'select',
        options: [
          ['', 'Any'],
          ['EUR', 'EUR'],
          ['USD', 'USD'],
        ],
      },
      { name: 'from', label: 'Made from (UTC)', type: 'date' },
      { name: 'to', label: 'Made until (UTC)', type: 'date' },
    ]),
    found,
  );
}
