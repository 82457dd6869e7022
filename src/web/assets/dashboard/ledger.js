// The ledger: entries, corrections, and export files.

import { field, form, operator, queryText } from '../shared/api.js';
import { ask, empty, h, money, to, toast, localTime, words } from '../shared/dom.js';
import { anyCurrency, currencies, download, filters, head, operatorUrl, pagedList, retryKey, shortId, utcRange } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Paths of the objects that entries refer to. @type {Record<string, string>} */
const places = { invoice: '/invoices/', payout: '/payouts/', refund: '/refunds/' };

/** @param {Context} context */
export async function show(context) {
  const { mode, query } = context;
  const currency = query.get('currency');
  const found = await pagedList({
    label: 'Ledger',
    load: (before) => operator('GET', context.path('ledger'), undefined, { mode, before, limit: 100, currency }),
    none: empty(
      'No ledger entries yet',
      'Each sale, fee, payout and refund is an entry. Entries never change.',
      h('a', { class: 'button', href: '#/start' }, 'Create test payment'),
    ),
    href: (one) => (one.refId && places[one.refType] ? to(`${places[one.refType]}${one.refId}`) : null),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["LedgerEntry"]>[]} */ ([
      {
        name: 'Reference',
        cell: (one) => [words(one.refType), one.refId ? [' ', shortId(one.refId)] : null],
      },
      { name: 'Type', cell: (one) => words(one.kind) },
      {
        name: 'Amount',
        end: true,
        cell: (one) =>
          h('span', { class: one.amount.startsWith('-') ? 'negative' : null }, money(one.amount, one.currency)),
      },
      { name: 'Note', wide: true, cell: (one) => one.memo ?? '–' },
      { name: 'Created', cell: (one) => localTime(one.createdAt) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head(
      'Ledger',
      'All bookings, newest first. An entry never changes: a correction is another entry.',
      download(`${context.path('exports/ledger.csv')}${queryText({ mode, currency })}`, 'Export CSV', 'ledger.csv'),
      h('button', { type: 'button', class: 'small', onclick: () => exportFiles(context) }, 'Export for bookkeeping…'),
      context.isOperator
        ? h('button', { type: 'button', class: 'small', onclick: () => adjust(context) }, 'Correct balance…')
        : null,
    ),
    filters('/ledger', [{ name: 'currency', label: 'Currency', type: 'select', options: anyCurrency }]),
    found,
  );
}

/** Opens the dialog that exports files for bookkeeping. @param {Context} context */
function exportFiles(context) {
  const days = ['From (UTC)', 'Until (UTC)'].map((label, at) => field({ name: `day${at}`, label, type: 'date' }));
  const names = ['ledger', 'invoices', 'payments', 'payouts', 'refunds', 'deposits'];
  const path = (/** @type {string} */ name) => {
    const [from = '', until = ''] = days.map((day) => String(day.value()));
    return `${context.path(`exports/${name}.csv`)}${queryText({ mode: context.mode, ...utcRange(from, until) })}`;
  };
  const links = names.map((name) => download(path(name), `${name}.csv`, `${name}.csv`));
  const update = () => links.forEach((link, at) => (link.href = operatorUrl(path(names[at] ?? ''))));
  return ask('Export for bookkeeping', (/** @type {(answer: null) => void} */ close) => [
    h('p', null, 'CSV files, oldest row first. The last day is included. Days begin and end in UTC.'),
    h(
      'div',
      { class: 'stack', oninput: update },
      days.map(({ element }) => element),
    ),
    h('div', { class: 'row' }, links),
    h('div', { class: 'ends' }, h('button', { type: 'button', onclick: () => close(null) }, 'Close')),
  ]);
}

/** @param {Context} context */
async function adjust(context) {
  const key = retryKey();
  const made = await ask('Correct the balance', (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      `Adds an amount to the balance of ${context.account?.name} in ${context.mode} mode. You cannot undo it. Another ` +
        'correction can take it back.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: 'Amount',
          required: true,
          inputmode: 'text',
          hint: 'For example 12.50, or -12.50 to subtract.',
        },
        {
          name: 'currency',
          label: 'Currency',
          type: 'select',
          options: currencies,
        },
        { name: 'memo', label: 'Reason', required: true, hint: 'The account’s users can read it.' },
      ],
      submit: 'Correct balance',
      danger: true,
      cancel: () => close(null),
      send: async (values) =>
        close(await operator('POST', context.path('adjustments'), values, { mode: context.mode }, key)),
    }),
  ]);
  if (!made) return;
  toast('Balance corrected.');
  await context.reload();
}
