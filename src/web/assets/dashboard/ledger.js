// The ledger: entries, corrections, and export files.

import { form, operator, queryText } from '../shared/api.js';
import { ask, empty, h, money, to, toast, localTime, words } from '../shared/dom.js';
import { operatorUrl, download, filters, head, utcRange, retryKey, pagedList } from './list.js';

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
      'Nothing is booked yet',
      'Every sale, fee, payout and refund is one entry here; it never changes.',
      h('a', { class: 'button', href: '#/start' }, 'Make a test payment'),
    ),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["LedgerEntry"]>[]} */ ([
      { name: 'When', cell: (one) => localTime(one.createdAt) },
      { name: 'What', cell: (one) => words(one.kind) },
      {
        name: 'Amount',
        end: true,
        cell: (one) =>
          h('span', { class: one.amount.startsWith('-') ? 'negative' : null }, money(one.amount, one.currency)),
      },
      {
        name: 'Of',
        cell: (one) =>
          one.refId && places[one.refType]
            ? h(
                'a',
                { class: 'mono', href: to(`${places[one.refType]}${one.refId}`) },
                `${one.refType} ${one.refId.slice(0, 8)}…`,
              )
            : words(one.refType),
      },
      { name: 'Note', cell: (one) => one.memo ?? '–' },
    ]),
  });
  const chosen = filters('/ledger', [
    {
      name: 'currency',
      label: 'Currency',
      type: 'select',
      options: [
        ['', 'Both'],
        ['EUR', 'EUR'],
        ['USD', 'USD'],
      ],
    },
    { name: 'from', label: 'Files from (UTC)', type: 'date' },
    { name: 'to', label: 'Files until (UTC)', type: 'date' },
  ]);
  return h(
    'div',
    { class: 'page' },
    head(
      'Ledger',
      'Every booking, newest first. An entry never changes; what is undone is booked back.',
      context.isOperator ? h('button', { type: 'button', onclick: () => adjust(context) }, 'Correct it…') : null,
    ),
    chosen,
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'files' },
      h('h2', { id: 'files' }, 'Files for bookkeeping'),
      h(
        'p',
        { class: 'quiet' },
        'CSV, oldest first, of the days chosen above, the last one too; days begin and end in UTC. A large one takes ' +
          'a while, and your browser shows how far it is.',
      ),
      h('div', { class: 'row' }, files(context, chosen)),
    ),
    found,
  );
}

/** Creates links that export the chosen days as files. @param {Context} context @param {HTMLFormElement} chosen */
function files(context, chosen) {
  const path = (/** @type {string} */ file) => {
    const [from, until] = ['from', 'to'].map((name) => String(new FormData(chosen).get(name) ?? ''));
    return `${context.path(`exports/${file}`)}${queryText({ mode: context.mode, ...utcRange(from ?? '', until ?? '') })}`;
  };
  const names = ['ledger', 'invoices', 'payments', 'payouts', 'refunds', 'deposits'].map((one) => `${one}.csv`);
  const links = names.map((name) => download(path(name), name, name));
  chosen.addEventListener('input', () => links.forEach((link, at) => (link.href = operatorUrl(path(names[at] ?? '')))));
  return links;
}

/** @param {Context} context */
async function adjust(context) {
  const key = retryKey();
  const made = await ask('Correct the ledger', (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      `This books an amount on the balance of ${context.account?.name} in ${context.mode} mode. It cannot be taken ` +
        'back, only booked back by another correction.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: 'Amount',
          required: true,
          inputmode: 'text',
          hint: 'Like 12.50, or -12.50 to take it off.',
        },
        {
          name: 'currency',
          label: 'Currency',
          type: 'select',
          options: [
            ['EUR', 'EUR'],
            ['USD', 'USD'],
          ],
        },
        { name: 'memo', label: 'Why', required: true, hint: 'The account reads it.' },
      ],
      submit: 'Book it',
      danger: true,
      cancel: () => close(null),
      send: async (values) =>
        close(await operator('POST', context.path('adjustments'), values, { mode: context.mode }, key)),
    }),
  ]);
  if (!made) return;
  toast('It is booked.');
  await context.reload();
}
