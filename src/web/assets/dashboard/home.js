// Home: what the account has, what it sold, and what needs a hand.

import { operator } from '../shared/api.js';
import { empty, facts, h, money, to } from '../shared/dom.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {Context} context */
export async function show(context) {
  const { account, isOperator, mode } = context;
  const [summary, all] = await Promise.all([
    account ? operator('GET', context.path('summary'), undefined, { mode }) : null,
    isOperator ? operator('GET', 'summary', undefined, { mode }) : null,
  ]);
  return h('div', { class: 'page' },
    h('h1', null, account ? account.name : 'Welcome'),
    needs(context, summary, all),
    account && summary ? balances(summary) : empty('No account yet', 'An account is a merchant: its prices, keys and books.'));
}

/** @param {Schemas["AccountSummary"]} summary */
function balances(summary) {
  return h('section', { class: 'stack', 'aria-labelledby': 'balances' }, h('h2', { id: 'balances' }, 'Balances'),
    h('div', { class: 'cards' }, summary.balances.map((balance) => h('div', { class: 'card' },
      h('div', null, h('p', { class: 'quiet' }, 'May be paid out now'),
        h('p', { class: 'stat' }, money(balance.available, balance.currency))),
      facts(['Expected', money(balance.pending, balance.currency)], ['Reserved', money(balance.reserved, balance.currency)],
        ['Sales so far', money(balance.sales, balance.currency)], ['Fees so far', money(balance.fees, balance.currency)])))));
}

/**
 * What needs a hand; nothing where nothing does.
 * @param {Context} context
 * @param {Schemas["AccountSummary"] | null} summary
 * @param {Schemas["Summary"] | null} all
 */
function needs(context, summary, all) {
  /** @type {[number, string, string][]} */
  const entries = [];
  if (all) {
    entries.push([all.unmatchedPayments, 'payments matched no invoice', to('/unmatched')]);
    entries.push([all.payouts.requested, 'payouts wait for approval', to('/approvals')]);
    entries.push([all.refunds.requested, 'refunds wait for approval', to('/approvals')]);
  }
  if (summary) entries.push([summary.failingEndpoints.length, 'webhook endpoints fail', to('/webhooks')]);
  const open = entries.filter(([count]) => count > 0);
  if (open.length === 0) return h('p', { class: 'note good' }, 'Nothing needs your attention.');
  return h('section', { class: 'stack', 'aria-labelledby': 'needs' }, h('h2', { id: 'needs' }, 'Needs your attention'),
    h('ul', { class: 'todo' }, open.map(([count, text, href]) => h('li', null,
      h('a', { href }, h('span', null, text), h('span', { class: 'badge warn' }, count))))));
}
