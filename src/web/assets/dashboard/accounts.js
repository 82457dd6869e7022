// Accounts: the merchants of this service.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, h, table, to, toast, localTime } from '../shared/dom.js';
import { actionButton, head } from './list.js';
import { confirmAction } from './webhooks.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["AccountSettings"]} Account */

/**
 * Decisions possible in each status: new status, label and consequence.
 * @type {Record<string, [string, string, string][]>}
 */
const decisions = {
  pending: [
    ['active', 'Approve', 'It may take live payments.'],
    ['rejected', 'Reject…', 'It can never take live payments.'],
  ],
  active: [
    [
      'suspended',
      'Suspend…',
      'It makes no live invoices and is paid nothing out, until it is active again. What was quoted stays payable.',
    ],
  ],
  suspended: [['active', 'Reactivate', 'It may take live payments again.']],
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
    head('Accounts', 'The merchants of this Coffer: each has its own prices, keys and books.', add()),
    accounts.length === 0
      ? empty('No account yet', 'Everything begins with one.', add())
      : table(
          'Accounts',
          [
            { name: 'Account', cell: (one) => h('a', { href: to('/settings', { account: one.id }) }, one.name) },
            { name: 'Status', cell: (one) => badge(one.status) },
            { name: 'Fee', end: true, cell: (one) => `${one.feeBps} bps` },
            { name: 'Since', cell: (one) => localTime(one.createdAt) },
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
                      'It is decided.',
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
    h('p', null, 'It is pending at first: it can make test payments at once, and live ones when you have approved it.'),
    form({
      fields: [
        { name: 'name', label: 'Name of the merchant', required: true, hint: 'Customers read it at the checkout.' },
      ],
      submit: 'Add account',
      cancel: () => close(null),
      send: async (values) => close(await operator('POST', 'accounts', values)),
    }),
  ]);
  if (!made) return null;
  toast('The account is added.');
  await context.refresh();
  return made;
}
