// The home page of the dashboard: tasks for the user, sales and balances.

import { operator } from '../shared/api.js';
import { empty, facts, h, money, to, localTime, words } from '../shared/dom.js';
import { stepsCard } from './first_steps.js';
import { head } from './list.js';
import { choosePeriod, readSales, salesSection } from './sales.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Minimum number of free addresses in a pool. Below this number, this page and the page of the pools warn. */
export const POOL_LOW = 20;

/** @param {Context} context */
export async function show(context) {
  const { account, isOperator, mode } = context;
  choosePeriod(context.query);
  const [steps, summary, sold, all, chains, pools] = await Promise.all([
    account ? operator('GET', context.path('first-steps')) : null,
    account ? operator('GET', context.path('summary'), undefined, { mode }) : null,
    account ? readSales(context) : null,
    isOperator ? operator('GET', 'summary', undefined, { mode }) : null,
    isOperator ? operator('GET', 'chains') : { data: [] },
    isOperator ? operator('GET', 'pools') : { data: [] },
  ]);
  return h(
    'div',
    { class: 'page' },
    head(account ? account.name : 'Welcome', null),
    taskList(context, summary, all, chains.data, pools.data),
    all ? nodeChanges(all) : null,
    steps ? stepsCard(context, steps) : null,
    account && summary && sold
      ? [salesSection(context, sold), balances(summary), invoices(context, summary)]
      : empty(
          'No accounts yet',
          'An account is a merchant with its own prices, keys and balances.',
          isOperator ? h('a', { class: 'button primary', href: '#/start' }, 'Add account') : null,
        ),
  );
}

/** Tells every operator of changes of nodes, for seven days. @param {Schemas["Summary"]} all */
function nodeChanges(all) {
  if (all.nodeChanges.length === 0) return null;
  return h(
    'section',
    { class: 'note warn', 'aria-label': 'Changes of nodes' },
    all.nodeChanges.map((one) =>
      h(
        'p',
        null,
        `${words(one.chain)}: the node ${one.node} was ${one.removed ? 'removed' : 'entered'} by ${one.changedBy}, `,
        localTime(one.changedAt),
        '. If this is unexpected, ',
        h('a', { href: '#/chains' }, 'check the nodes'),
        '.',
      ),
    ),
  );
}

/** @param {Schemas["AccountSummary"]} summary */
function balances(summary) {
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'balances' },
    h('h2', { id: 'balances' }, 'Balances'),
    h(
      'div',
      { class: 'cards' },
      summary.balances.map((balance) =>
        h(
          'div',
          { class: 'card' },
          h(
            'div',
            null,
            h('h3', { class: 'quiet' }, 'Available for payout'),
            h('p', { class: 'stat' }, money(balance.available, balance.currency)),
          ),
          facts(
            ['Pending', money(balance.pending, balance.currency)],
            ['Reserved', money(balance.reserved, balance.currency)],
            ['Total sales', money(balance.sales, balance.currency)],
            ['Total fees', money(balance.fees, balance.currency)],
          ),
        ),
      ),
    ),
  );
}

/** @param {Context} context @param {Schemas["AccountSummary"]} summary */
function invoices(context, summary) {
  const there = summary.recentInvoices.filter((one) => one.count > 0);
  const counts = facts(
    ...there.map(
      (one) =>
        /** @type {[string, Node]} */ ([
          words(one.status),
          h('a', { href: to('/invoices', { status: one.status }) }, one.count),
        ]),
    ),
  );
  counts.classList.add('counts');
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'recent' },
    h('h2', { id: 'recent' }, 'Invoices, last 30 days'),
    there.length === 0
      ? empty(
          'No invoices yet',
          `Invoices in ${context.mode} mode of the last 30 days are counted here. Create a payment link, or call ` +
            'POST /v1/invoices.',
          h('a', { class: 'button', href: '#/links' }, 'Create payment link'),
        )
      : h('div', { class: 'card' }, counts),
  );
}

/**
 * Lists the tasks for the user.
 * @param {Context} context
 * @param {Schemas["AccountSummary"] | null} summary
 * @param {Schemas["Summary"] | null} all
 * @param {Schemas["ChainList"]["data"]} chains
 * @param {Schemas["PoolList"]["data"]} pools
 */
function taskList(context, summary, all, chains, pools) {
  /** @type {[number, string, string][]} */
  const entries = [];
  if (all) {
    entries.push(
      [all.fileDamaged ? 1 : 0, 'The file is damaged. Go back to a backup with coffer restore', to('/service')],
      [all.maintenance ? 1 : 0, 'Maintenance is on: live invoices and payouts are paused', to('/service')],
      [all.certificateWarning ? 1 : 0, `HTTPS: ${all.certificateWarning}`, to('/service')],
      [all.nothingOnOffer ? 1 : 0, `No coin is on offer: ${all.nothingOnOffer}`, to('/chains')],
      [all.unmatchedPayments, 'Unmatched payments', to('/unmatched')],
      [all.payouts.requested, 'Payouts to approve', to('/payouts', { whose: 'all', status: 'requested' })],
      [all.refunds.requested, 'Refunds to approve', to('/refunds', { whose: 'all', status: 'requested' })],
      [all.payouts.approved, 'Payouts to send', to('/payouts', { whose: 'all', status: 'approved' })],
      [all.refunds.approved, 'Refunds to send', to('/refunds', { whose: 'all', status: 'approved' })],
      [
        all.payouts.processing,
        'Payouts being sent',
        to('/payouts', { whose: 'all', status: 'processing' }),
      ],
      [
        all.refunds.processing,
        'Refunds being sent',
        to('/refunds', { whose: 'all', status: 'processing' }),
      ],
      [
        all.transfersUnknown,
        'Payouts and refunds with unknown outcome',
        to('/payouts', { whose: 'all' }),
      ],
      [all.payoutsToReview, 'Payouts to review', to('/payouts', { whose: 'all', onChain: 'needs_review' })],
      [all.refundsToReview, 'Refunds to review', to('/refunds', { whose: 'all', onChain: 'needs_review' })],
      [
        all.transfersWithoutSigner,
        'Approved payouts and refunds without a signer',
        to('/payouts', { whose: 'all', status: 'approved' }),
      ],
      [all.accountsPending, 'Accounts to approve', to('/accounts')],
      [all.serversWaiting, 'Servers to create or remove', to('/servers')],
      [all.serversUnknown, 'Servers with unknown outcome', to('/servers')],
    );
  }
  if (summary) entries.push([summary.failingEndpoints.length, 'Failing webhook endpoints', to('/webhooks')]);
  entries.push(
    [
      chains.filter((chain) => chain.problem !== null || !chain.keepsUp).length,
      'Chains with a lag or a problem',
      to('/chains'),
    ],
    [
      pools.filter((pool) => pool.free < POOL_LOW && pool.free + pool.assigned > 0).length,
      'Address pools running low',
      to('/wallets'),
    ],
  );
  const open = entries.filter(([count]) => count > 0);
  if (open.length === 0) return h('p', { class: 'note good' }, 'Nothing needs your attention.');
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'needs' },
    h('h2', { id: 'needs' }, 'Needs your attention'),
    h(
      'ul',
      { class: 'todo' },
      open.map(([count, text, href]) =>
        h('li', null, h('a', { href }, h('span', null, text), h('span', { class: 'badge warn' }, count))),
      ),
    ),
    summary?.failingEndpoints.map((one) =>
      h(
        'p',
        { class: 'quiet' },
        `${one.url}: ${one.failedAttempts} failed attempts since `,
        localTime(one.failingSince),
        `. Last response: ${one.lastStatus ?? one.lastError ?? 'none'}`,
      ),
    ),
  );
}
