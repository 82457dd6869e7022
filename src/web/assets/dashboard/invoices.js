// The list of invoices, and the results of a search. Each invoice has its own page (`invoice`).

import { operator, queryText } from '../shared/api.js';
import { badge, empty, h, money, localTime, to, words } from '../shared/dom.js';
import { detail } from './invoice.js';
import { anyCurrency, anyOf, download, filters, head, shortId, utcRange, pagedList } from './list.js';
import { otherMatches } from './search.js';

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
  const text = query.get('text');
  const wanted = Object.fromEntries(['text', 'status', 'currency'].map((name) => [name, query.get(name)]));
  const asked = { mode, ...wanted, ...utcRange(query.get('from'), query.get('to')) };
  const isFiltered = Object.values({ ...asked, mode: null }).some(Boolean);
  const [others, found] = await Promise.all([
    text ? otherMatches(context, text) : null,
    pagedList({
      label: 'Invoices',
      load: (before) => operator('GET', context.path('invoices'), undefined, { before, limit: 50, ...asked }),
      none: isFiltered ? noMatch(text) : none(),
      more: text ? 'Search older invoices' : 'Show older invoices',
      href: (one) => to(`/invoices/${one.id}`),
      columns: /** @type {import("../shared/dom.js").Column<Schemas["Invoice"]>[]} */ ([
        { name: 'Order', cell: (one) => [one.orderId, one.orderId ? ' ' : null, shortId(one.id)] },
        { name: 'Status', cell: (one) => badge(one.status) },
        { name: 'Amount', end: true, cell: (one) => money(one.amount, one.currency) },
        { name: 'Received', end: true, cell: (one) => money(one.amountReceived, one.assetSymbol) },
        { name: 'Customer', cell: (one) => one.customerEmail ?? '–' },
        { name: 'Description', cell: (one) => one.description ?? '–' },
        { name: 'Created', cell: (one) => localTime(one.createdAt) },
      ]),
    }),
  ]);
  return h(
    'div',
    { class: 'page' },
    head(
      'Invoices',
      text ? ['Results for “', h('strong', null, text), '”, in ', mode, ' mode'] : null,
      text ? h('a', { class: 'button small', href: '#/invoices' }, 'Clear search') : null,
      download(`${context.path('exports/invoices.csv')}${queryText(asked)}`, 'Export CSV', 'invoices.csv'),
      h('a', { class: 'button small primary', href: '#/new-invoice' }, 'New invoice'),
    ),
    filters(
      '/invoices',
      [
        { name: 'status', label: 'Status', type: 'select', options: anyOf(statuses, words, 'Any status') },
        { name: 'currency', label: 'Currency', type: 'select', options: anyCurrency },
        { name: 'from', label: 'From (UTC)', type: 'date' },
        { name: 'to', label: 'Until (UTC)', type: 'date' },
      ],
      { keep: ['text'] },
    ),
    found,
    others,
  );
}

/** Creates the empty state of an account without invoices. */
const none = () =>
  empty(
    'No invoices yet',
    'Create one by hand, call POST /v1/invoices from your shop, or give customers a payment link.',
    h('a', { class: 'button primary', href: '#/new-invoice' }, 'New invoice'),
    h('a', { class: 'button', href: '#/links' }, 'Create payment link'),
  );

/** Creates the empty state of filters and of a search. @param {string | null} text */
const noMatch = (text) =>
  empty(
    'No matching invoices',
    text
      ? 'A search finds a whole id, address or transaction, a part of an order id, description, email or metadata ' +
          'value, and key=value of the metadata. Try less text, or the other mode.'
      : 'Change the filters, or try the other mode.',
    h('a', { class: 'button', href: '#/invoices' }, 'Show all invoices'),
  );
