// Customers with their own addresses, and the payments to these addresses.

import { operator } from '../shared/api.js';
import { badge, copyButton, empty, fill, h, money, table, to, localTime, words } from '../shared/dom.js';
import { download, filters, head, pagedList, txLink } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {Context} context */
export async function show(context) {
  const { mode, query } = context;
  const customer = query.get('customer');
  const found = await pagedList({
    label: 'Deposits',
    load: () => operator('GET', context.path('deposits'), undefined, { mode, limit: 100, customer }),
    none: context.account?.customersEnabled
      ? empty(
          'No deposit here',
          'Your shop makes addresses for a customer with POST /v1/customers/{ref}/addresses. What comes to them is a ' +
            'deposit.',
        )
      : empty(
          'Customers are not switched on',
          'A customer has addresses that stay its own: for topping up, or paying again and again. An operator ' +
            'switches it on in the account’s terms.',
          context.isOperator ? h('a', { class: 'button', href: '#/settings' }, 'The account’s settings') : null,
        ),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["Deposit"]>[]} */ ([
      { name: 'Customer', cell: (one) => h('a', { href: to('/customers', { customer: one.customer }) }, one.customer) },
      { name: 'Status', cell: (one) => badge(one.status) },
      { name: 'Amount', end: true, cell: (one) => money(one.amountCrypto, one.assetSymbol) },
      { name: 'Worth', end: true, cell: (one) => money(one.grossEur, 'EUR') },
      { name: 'After the fee', end: true, cell: (one) => money(one.netEur, 'EUR') },
      {
        name: 'Confirmations',
        cell: (one) => (one.confirmations === null ? '–' : `${one.confirmations} of ${one.confirmationsNeeded}`),
      },
      { name: 'Transaction', cell: (one) => txLink(one.explorerUrl, one.txid) },
      { name: 'Seen', cell: (one) => localTime(one.createdAt) },
    ]),
  });
  const addresses = h('div', { role: 'status' });
  if (customer) {
    await operator('GET', context.path(`customers/${encodeURIComponent(customer)}`), undefined, { mode }).then(
      (read) => fill(addresses, customerView(read)),
      () => fill(addresses, h('p', { class: 'quiet' }, 'There is no customer with this reference.')),
    );
  }
  return h(
    'div',
    { class: 'page' },
    head(
      'Customers and deposits',
      'The newest 100 deposits; the file has them all.',
      download(`${context.path('exports/deposits.csv')}?mode=${mode}`, 'Download deposits', 'deposits.csv'),
    ),
    filters('/customers', [
      {
        name: 'customer',
        label: 'Customer’s reference',
        type: 'search',
        hint: 'As your shop calls the customer, in full.',
      },
    ]),
    addresses,
    found,
  );
}

/** @param {Schemas["CustomerAddresses"]} read */
function customerView(read) {
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'addresses' },
    h('h2', { id: 'addresses' }, `Addresses of ${read.customer}`),
    table(
      'Addresses',
      [
        { name: 'For', cell: (one) => words(one.family) },
        {
          name: 'Address',
          cell: (one) =>
            h('div', { class: 'row' }, h('span', { class: 'mono' }, one.address), copyButton(one.address, 'address')),
        },
        {
          name: 'Coins',
          cell: (one) =>
            one.chainIds.length === 0 ? badge('unwatched', 'bad') : one.assets.map(({ id }) => id).join(', '),
        },
      ],
      read.addresses,
    ).element,
  );
}
