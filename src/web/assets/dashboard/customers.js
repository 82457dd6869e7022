// Customers with their own addresses, and the payments to these addresses.

import { operator, queryText } from '../shared/api.js';
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
          customer ? 'No matching deposits' : 'No deposits yet',
          'Payments to the addresses of a customer appear here. Create addresses with ' +
            'POST /v1/customers/{ref}/addresses.',
          customer ? h('a', { class: 'button', href: '#/customers' }, 'Show all deposits') : null,
        )
      : empty(
          'Customers are off',
          'A customer has addresses that stay the same, for top-ups and repeated payments. An operator switches ' +
            'customers on in the account’s terms.',
          context.isOperator ? h('a', { class: 'button', href: '#/settings' }, 'Open settings') : null,
        ),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["Deposit"]>[]} */ ([
      { name: 'Customer', cell: (one) => h('a', { href: to('/customers', { customer: one.customer }) }, one.customer) },
      { name: 'Status', cell: (one) => badge(one.status) },
      { name: 'Amount', end: true, cell: (one) => money(one.amountCrypto, one.assetSymbol) },
      { name: 'Value', end: true, cell: (one) => money(one.grossEur, 'EUR') },
      { name: 'Net', end: true, cell: (one) => money(one.netEur, 'EUR') },
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
      () => fill(addresses, h('p', { class: 'quiet' }, 'No customer has this reference.')),
    );
  }
  return h(
    'div',
    { class: 'page' },
    head(
      'Customers and deposits',
      'The newest 100 deposits. The CSV file has all.',
      download(
        `${context.path('exports/deposits.csv')}${queryText({ mode, customer })}`,
        'Export CSV',
        'deposits.csv',
      ),
    ),
    filters('/customers', [{ name: 'customer', label: 'Customer reference', type: 'search' }]),
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
        { name: 'Chains', cell: (one) => words(one.family) },
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
