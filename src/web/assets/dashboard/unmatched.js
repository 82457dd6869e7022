// Unmatched payments: assigning, returning or dismissing them, and undoing these decisions.

import { form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, facts, h, money, toast, localTime, words } from '../shared/dom.js';
import { actionButton, filters, head, pagedList, txLink } from './list.js';
import { confirmAction } from './webhooks.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["UnmatchedPayment"]} Unmatched */

/** Reasons why a payment is unmatched. @type {Record<string, string>} */
const reasons = {
  unknown_address: 'The address is nobody’s: it was given out by the wallet, and not by Coffer.',
  unquoted_coin: 'The invoice was quoted in another coin.',
  dust: 'It is less than can be booked.',
  too_large: 'It is more than can be booked.',
  no_rate: 'There was no rate for the coin.',
  coinbase: 'It was mined, not paid.',
  unwatched: 'It came before the chain was watched: the customer may have been credited by hand.',
};

/** @param {Context} context */
export async function show(context) {
  const status = context.query.get('status');
  const found = await pagedList({
    label: 'Unmatched payments',
    load: (before) => operator('GET', 'unmatched-payments', undefined, { before, limit: 50, status: status || 'open' }),
    none: empty(
      'Nothing is unmatched',
      'Money that comes to an address without an invoice or customer to book it on waits here for you.',
    ),
    columns: /** @type {import("../shared/dom.js").Column<Unmatched>[]} */ ([
      { name: 'Amount', end: true, cell: (one) => money(one.amountCrypto, one.assetSymbol) },
      { name: 'Worth now', end: true, cell: (one) => (one.worthEur ? money(one.worthEur, 'EUR') : '–') },
      { name: 'Why', cell: (one) => reasons[one.reason] ?? words(one.reason) },
      {
        name: 'Is',
        cell: (one) =>
          h('div', { class: 'row' }, badge(one.outcome ?? one.state), one.livemode ? null : badge('test', 'warn')),
      },
      {
        name: 'Came to',
        cell: (one) =>
          h('div', null, h('span', { class: 'mono' }, one.address), h('div', { class: 'quiet' }, words(one.chain))),
      },
      { name: 'Transaction', cell: (one) => txLink(one.explorerUrl, one.txid) },
      { name: 'Seen', cell: (one) => localTime(one.seenAt) },
      { name: '', cell: (one) => buttons(context, one) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Unmatched money', 'Payments that belong to no invoice and no customer. Of all accounts, live and test.'),
    filters('/unmatched', [
      {
        name: 'status',
        label: 'Which',
        type: 'select',
        options: [
          ['', 'Those that wait'],
          ['all', 'All'],
        ],
      },
    ]),
    found,
  );
}

/** @param {Context} context @param {Unmatched} one */
function buttons(context, one) {
  const path = `unmatched-payments/${one.id}`;
  if (one.outcome) {
    const note = one.note ?? one.returnTxid;
    const undo = async () => {
      if (
        !(await confirmAction(
          'Undo this?',
          `${money(one.amountCrypto, one.assetSymbol)} waits for a decision again.`,
          'Undo it',
        ))
      )
        return false;
      return operator('POST', `${path}/undo`);
    };
    return h(
      'div',
      { class: 'stack' },
      note ? h('p', { class: 'quiet' }, note) : null,
      one.canBeUndone ? actionButton(context, 'Undo…', 'It is undone.', undo, 'small') : null,
    );
  }
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: () => assign(context, one) }, 'Assign…'),
    h('button', { type: 'button', class: 'small', onclick: () => resolve(context, one, 'return') }, 'Paid back…'),
    h('button', { type: 'button', class: 'small', onclick: () => resolve(context, one, 'dismiss') }, 'Leave it…'),
  );
}

/** Describes a payment in one line. @param {Unmatched} one */
const description = (one) =>
  facts(
    ['Amount', money(one.amountCrypto, one.assetSymbol)],
    ['Worth now', one.worthEur ? money(one.worthEur, 'EUR') : null],
    ['Address', h('span', null, h('span', { class: 'mono' }, one.address), ' ', copyButton(one.address, 'address'))],
    ['Chain', words(one.chain)],
  );

/** @param {Context} context @param {Unmatched} one */
async function assign(context, one) {
  const candidate = one.candidate;
  const done = await ask('Whom is it for?', (/** @type {(answer: boolean) => void} */ close) => [
    description(one),
    h('p', null, 'It counts as paid when it was seen, and is booked as if it had come to the right place.'),
    form({
      fields: [
        {
          name: 'invoice',
          label: 'Invoice id',
          value: candidate && 'invoice' in candidate ? (candidate.invoice ?? '') : '',
          hint: candidate ? 'It came to the address of this one.' : 'Or leave it empty and name a customer.',
        },
        {
          name: 'account',
          label: 'Or the customer’s account',
          type: 'select',
          value: candidate?.account ?? '',
          options: [
            ['', 'None'],
            ...context.accounts.map(({ id, name }) => /** @type {[string, string]} */ ([id, name])),
          ],
        },
        { name: 'customer', label: 'And the customer’s reference', value: candidate?.customer ?? '' },
      ],
      submit: 'Assign it',
      cancel: () => close(false),
      send: async ({ invoice, account, customer }) => {
        await operator(
          'POST',
          `unmatched-payments/${one.id}/assign`,
          invoice ? { invoice } : { account: account || null, customer: customer || null },
        );
        close(true);
      },
    }),
  ]);
  if (!done) return;
  toast('It is assigned.');
  await context.reload();
}

/** @param {Context} context @param {Unmatched} one @param {"return" | "dismiss"} how */
async function resolve(context, one, how) {
  const isReturn = how === 'return';
  const done = await ask(
    isReturn ? 'You paid it back' : 'Nothing is to be done',
    (/** @type {(answer: boolean) => void} */ close) => [
      description(one),
      h(
        'p',
        null,
        isReturn
          ? 'Send it from your own wallet first. Coffer notes the transaction; it sends nothing itself.'
          : 'The money stays in your wallet, and is booked nowhere. You can undo this.',
      ),
      form({
        fields: isReturn
          ? [
              { name: 'returnTxid', label: 'Transaction that paid it back', required: true },
              { name: 'note', label: 'Note' },
            ]
          : [{ name: 'note', label: 'Why', required: true }],
        submit: isReturn ? 'Note it as paid back' : 'Leave it',
        cancel: () => close(false),
        send: async (values) => {
          await operator(
            'POST',
            `unmatched-payments/${one.id}`,
            Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
          );
          close(true);
        },
      }),
    ],
  );
  if (!done) return;
  toast('It is noted.');
  await context.reload();
}
