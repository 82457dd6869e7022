// Accounts: the merchants of this service.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, h, table, to, toast, localTime } from '../shared/dom.js';
import { actionButton, confirmAction, head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["AccountSettings"]} Account */

/**
 * Decisions possible in each status: new status, label and consequence.
 * @type {Record<string, [string, string, string][]>}
 */
const decisions = {
  pending: [
    ['active', 'Approve', 'The account can then receive live payments.'],
    ['rejected', 'Reject…', 'The account can never receive live payments. This cannot be undone.'],
  ],
  active: [
    [
      'suspended',
      'Suspend…',
      'The account cannot create live invoices or request payouts. Quoted invoices stay payable.',
    ],
  ],
  suspended: [['active', 'Reactivate', 'The account can receive live payments again.']],
  rejected: [],
};

/** @param {Context} context */
export async function show(context) {
  const accounts = /** @type {Account[]} */ ((await operator('GET', 'accounts')).data);
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => addAccount(context) }, 'Add account…');
  return h(
    'div',
    { class: 'page' },
    head('Accounts', 'Each merchant has an account with its own settings, keys and ledger.', add()),
    accounts.length === 0
      ? empty('No accounts yet', 'Add the account of your shop to begin.', add())
      : table(
          'Accounts',
          [
            { name: 'Account', cell: (one) => h('a', { href: to('/settings', { account: one.id }) }, one.name) },
            { name: 'Status', cell: (one) => badge(one.status) },
            { name: 'Fee', end: true, cell: (one) => `${one.feeBps} bps` },
            { name: 'Created', cell: (one) => localTime(one.createdAt) },
            {
              name: '',
              cell: (one) =>
                h(
                  'div',
                  { class: 'row' },
                  (decisions[one.status] ?? []).map(([status, text, does]) =>
                    actionButton(
                      context,
                      text,
                      'Account updated.',
                      () => decide(context, one, status, text, does),
                      status === 'active' ? 'small' : 'small danger',
                    ),
                  ),
                ),
            },
          ],
          accounts,
        ).element,
  );
}

/** @param {Context} context @param {Account} one @param {string} status @param {string} text @param {string} does */
async function decide(context, one, status, text, does) {
  if (!(await confirmAction(`${text.replace('…', '')} ${one.name}?`, does, text.replace('…', '')))) return false;
  await operator('POST', `accounts/${one.id}/status`, { status });
  await context.refresh();
  return true;
}

/** @param {Context} context */
export async function addAccount(context) {
  const made = await ask('Add an account', (/** @type {(answer: any) => void} */ close) => [
    h('p', null, 'A new account is pending. It can use test mode immediately, and live mode after you approve it.'),
    form({
      fields: [
        { name: 'name', label: 'Merchant name', required: true, hint: 'Shown to customers at checkout.' },
      ],
      submit: 'Add account',
      cancel: () => close(null),
      send: async (values) => close(await operator('POST', 'accounts', values)),
    }),
  ]);
  if (!made) return null;
  toast('Account added.');
  await context.refresh();
  return made;
}
