// Unmatched payments: assigning, returning or dismissing them, and undoing these decisions.

import { form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, facts, h, money, toast, localTime, words } from '../shared/dom.js';
import { actionButton, confirmAction, filters, head, pagedList, txLink } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["UnmatchedPayment"]} Unmatched */

/** Reasons why a payment is unmatched. @type {Record<string, string>} */
const reasons = {
  unknown_address: 'Unknown address: given out by the wallet, not by Coffer',
  unquoted_coin: 'Not the coin that the customer chose',
  dust: 'Too small to book',
  too_large: 'Too large to book',
  no_rate: 'No rate for the coin',
  coinbase: 'Mined, not paid',
};

/** @param {Context} context */
export async function show(context) {
  const status = context.query.get('status');
  const found = await pagedList({
    label: 'Unmatched payments',
    load: (before) => operator('GET', 'unmatched-payments', undefined, { before, limit: 50, status: status || 'open' }),
    none: empty(
      'No unmatched payments',
      'Payments that belong to no invoice and no customer appear here, and wait for your decision.',
    ),
    columns: /** @type {import("../shared/dom.js").Column<Unmatched>[]} */ ([
      {
        name: 'Amount',
        end: true,
        cell: (one) => [
          h('div', null, money(one.amountCrypto, one.assetSymbol)),
          one.worthEur ? h('div', { class: 'quiet' }, money(one.worthEur, 'EUR')) : null,
        ],
      },
      { name: 'Reason', cell: (one) => reasons[one.reason] ?? words(one.reason) },
      {
        name: 'Status',
        cell: (one) =>
          h('div', { class: 'row' }, badge(one.outcome ?? one.state), one.livemode ? null : badge('test', 'warn')),
      },
      {
        name: 'Address and transaction',
        cell: (one) => [
          h('div', null, words(one.chain), ' ', h('span', { class: 'mono' }, one.address)),
          h('div', { class: 'quiet' }, txLink(one.explorerUrl, one.txid)),
        ],
      },
      { name: 'Seen', cell: (one) => localTime(one.seenAt) },
      { name: '', cell: (one) => buttons(context, one) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Unmatched payments', 'Payments without an invoice or a customer, of all accounts, live and test.'),
    filters('/unmatched', [
      {
        name: 'status',
        label: 'Status',
        type: 'select',
        options: [
          ['', 'Open'],
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
          'Undo this decision?',
          `${money(one.amountCrypto, one.assetSymbol)} waits for a decision again.`,
          'Undo decision',
        ))
      )
        return false;
      return operator('POST', `${path}/undo`);
    };
    return h(
      'div',
      { class: 'stack' },
      note ? h('p', { class: 'quiet' }, note) : null,
      one.canBeUndone ? actionButton(context, 'Undo decision…', 'Decision undone.', undo, 'small') : null,
    );
  }
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: () => assign(context, one) }, 'Assign…'),
    h('button', { type: 'button', class: 'small', onclick: () => resolve(context, one, 'return') }, 'Mark returned…'),
    h('button', { type: 'button', class: 'small', onclick: () => resolve(context, one, 'dismiss') }, 'Dismiss…'),
  );
}

/** Describes a payment in one line. @param {Unmatched} one */
const description = (one) =>
  facts(
    ['Amount', money(one.amountCrypto, one.assetSymbol)],
    ['Value now', one.worthEur ? money(one.worthEur, 'EUR') : null],
    ['Address', h('span', null, h('span', { class: 'mono' }, one.address), ' ', copyButton(one.address, 'address'))],
    ['Chain', words(one.chain)],
  );

/** @param {Context} context @param {Unmatched} one */
async function assign(context, one) {
  const candidate = one.candidate;
  const done = await ask('Assign this payment', (/** @type {(answer: boolean) => void} */ close) => [
    description(one),
    h('p', null, 'The payment is booked with the time at which it was seen.'),
    form({
      fields: [
        {
          name: 'invoice',
          label: 'Invoice id',
          value: candidate && 'invoice' in candidate ? (candidate.invoice ?? '') : '',
          hint: candidate ? 'The payment arrived at this invoice’s address.' : 'Leave empty to assign it to a customer.',
        },
        {
          name: 'account',
          label: 'Customer’s account',
          type: 'select',
          value: candidate?.account ?? '',
          options: [
            ['', 'None'],
            ...context.accounts.map(({ id, name }) => /** @type {[string, string]} */ ([id, name])),
          ],
        },
        { name: 'customer', label: 'Customer reference', value: candidate?.customer ?? '' },
      ],
      submit: 'Assign payment',
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
  toast('Payment assigned.');
  await context.reload();
}

/** @param {Context} context @param {Unmatched} one @param {"return" | "dismiss"} how */
async function resolve(context, one, how) {
  const isReturn = how === 'return';
  const done = await ask(
    isReturn ? 'Mark as returned' : 'Dismiss this payment?',
    (/** @type {(answer: boolean) => void} */ close) => [
      description(one),
      h(
        'p',
        null,
        isReturn
          ? 'Send the amount back from your own wallet first. Coffer records the transaction and sends nothing.'
          : 'The money stays in your wallet and is not booked. You can undo this.',
      ),
      form({
        fields: isReturn
          ? [
              { name: 'returnTxid', label: 'Transaction of the return', required: true },
              { name: 'note', label: 'Note' },
            ]
          : [{ name: 'note', label: 'Reason', required: true }],
        submit: isReturn ? 'Mark returned' : 'Dismiss payment',
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
  toast(isReturn ? 'Payment marked as returned.' : 'Payment dismissed.');
  await context.reload();
}
