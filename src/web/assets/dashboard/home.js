// The home page of the dashboard: tasks for the user, sales and balances.

import { operator } from '../shared/api.js';
import { dayName, empty, facts, h, money, s, to, localTime, words } from '../shared/dom.js';
import { stepsCard } from './first_steps.js';
import { head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Minimum number of free addresses in a pool. Below this number, this page and the page of the pools warn. */
export const POOL_LOW = 20;

/** @param {Context} context */
export async function show(context) {
  const { account, isOperator, mode } = context;
  const [steps, summary, all, chains, pools] = await Promise.all([
    account ? operator('GET', context.path('first-steps')) : null,
    account ? operator('GET', context.path('summary'), undefined, { mode }) : null,
    isOperator ? operator('GET', 'summary', undefined, { mode }) : null,
    isOperator ? operator('GET', 'chains') : { data: [] },
    isOperator ? operator('GET', 'pools') : { data: [] },
  ]);
  return h(
    'div',
    { class: 'page' },
    head(account ? account.name : 'Welcome', null),
    steps ? stepsCard(context, steps) : null,
    all ? nodeChanges(all) : null,
    taskList(context, summary, all, chains.data, pools.data),
    account && summary
      ? [sales(summary), balances(summary), invoices(context, summary)]
      : empty(
          'No account yet',
          'An account is a merchant: its prices, its keys and its books. Everything begins with one.',
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
        '. If this was not meant, ',
        h('a', { href: '#/chains' }, 'check the nodes'),
        '.',
      ),
    ),
  );
}

/** @param {Schemas["AccountSummary"]} summary */
function sales(summary) {
  const shown = summary.sales.filter((one, at) => at === 0 || one.days.some((day) => day.count > 0));
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'sales' },
    h('h2', { id: 'sales' }, 'Sales'),
    h(
      'div',
      { class: 'halves' },
      shown.map((one) =>
        h(
          'div',
          { class: 'card' },
          h(
            'div',
            { class: 'row between' },
            h(
              'div',
              null,
              h('p', { class: 'quiet' }, 'Today'),
              h('p', { class: 'stat' }, money(one.today, one.currency)),
            ),
            h(
              'div',
              null,
              h('p', { class: 'quiet' }, '30 days'),
              h('p', { class: 'stat' }, money(one.total, one.currency)),
            ),
          ),
          h(
            'div',
            null,
            chart(one),
            h(
              'div',
              { class: 'row between quiet' },
              h('span', null, dayName(one.days[0]?.day ?? '')),
              h('span', null, 'Today (UTC)'),
            ),
          ),
          h(
            'details',
            null,
            h('summary', null, 'The numbers'),
            h(
              'ul',
              null,
              one.days
                .filter((day) => day.count > 0)
                .map((day) => h('li', null, `${dayName(day.day)}: ${money(day.amount, one.currency)} (${day.count})`)),
              one.days.every((day) => day.count === 0) ? h('li', null, 'No sale in these days.') : null,
            ),
          ),
        ),
      ),
    ),
  );
}

/** Draws a bar chart of 30 days. @param {Schemas["DailySales"]} sales */
function chart(sales) {
  const [width, height, bottom] = [600, 140, 2];
  const step = width / sales.days.length;
  const bars = sales.days.map((day, at) => {
    const tall = Math.max(2, (day.percentOfHighest / 100) * (height - bottom - 8));
    return s(
      'rect',
      {
        class: day.count > 0 ? 'bar' : 'bar none',
        x: at * step + 2,
        width: step - 4,
        rx: 2,
        height: tall,
        y: height - bottom - tall,
      },
      s('title', null, `${dayName(day.day)}: ${money(day.amount, sales.currency)}`),
    );
  });
  return s(
    'svg',
    {
      class: 'chart',
      viewBox: `0 0 ${width} ${height}`,
      role: 'img',
      'aria-label': `Sales in ${sales.currency} of each of the last ${sales.days.length} days; the numbers are below.`,
    },
    s('line', { class: 'grid', x1: 0, x2: width, y1: height - bottom, y2: height - bottom }),
    bars,
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
            h('p', { class: 'quiet' }, 'May be paid out now'),
            h('p', { class: 'stat' }, money(balance.available, balance.currency)),
          ),
          facts(
            ['Expected', money(balance.pending, balance.currency)],
            ['Reserved', money(balance.reserved, balance.currency)],
            ['Sales so far', money(balance.sales, balance.currency)],
            ['Fees so far', money(balance.fees, balance.currency)],
          ),
        ),
      ),
    ),
  );
}

/** @param {Context} context @param {Schemas["AccountSummary"]} summary */
function invoices(context, summary) {
  const there = summary.recentInvoices.filter((one) => one.count > 0);
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'recent' },
    h('h2', { id: 'recent' }, 'Invoices of 30 days'),
    there.length === 0
      ? empty(
          'No invoice yet',
          `Nobody has asked for a payment in ${context.mode} mode in the last 30 days.`,
          h('a', { class: 'button', href: '#/links' }, 'Make a payment link'),
        )
      : h(
          'div',
          { class: 'card' },
          facts(
            ...there.map(
              (one) =>
                /** @type {[string, Node]} */ ([
                  words(one.status),
                  h('a', { href: to('/invoices', { status: one.status }) }, one.count),
                ]),
            ),
          ),
        ),
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
      [all.maintenance ? 1 : 0, 'Maintenance is on: live invoices and payouts are paused', to('/service')],
      [all.certificateWarning ? 1 : 0, `HTTPS: ${all.certificateWarning}`, to('/service')],
      [all.nothingOnOffer ? 1 : 0, `No coin is on offer: ${all.nothingOnOffer}`, to('/chains')],
      [all.unmatchedPayments, 'Payments that matched no invoice', to('/unmatched')],
      [all.payouts.requested, 'Payouts that wait for approval', to('/payouts', { whose: 'all', status: 'requested' })],
      [all.refunds.requested, 'Refunds that wait for approval', to('/refunds', { whose: 'all', status: 'requested' })],
      [all.payouts.approved, 'Payouts that are to be sent', to('/payouts', { whose: 'all', status: 'approved' })],
      [all.refunds.approved, 'Refunds that are to be sent', to('/refunds', { whose: 'all', status: 'approved' })],
      [
        all.payouts.processing,
        'Payouts that are being sent',
        to('/payouts', { whose: 'all', status: 'processing' }),
      ],
      [
        all.refunds.processing,
        'Refunds that are being sent',
        to('/refunds', { whose: 'all', status: 'processing' }),
      ],
      [
        all.transfersUnknown,
        'Payouts and refunds of which nobody knows whether they were sent',
        to('/payouts', { whose: 'all' }),
      ],
      [all.payoutsToReview, 'Payouts to review', to('/payouts', { whose: 'all', onChain: 'needs_review' })],
      [all.refundsToReview, 'Refunds to review', to('/refunds', { whose: 'all', onChain: 'needs_review' })],
      [
        all.transfersWithoutSigner,
        'Approved payouts and refunds that wait for a signer, and none is set',
        to('/payouts', { whose: 'all', status: 'approved' }),
      ],
      [all.accountsPending, 'Accounts that wait for approval', to('/accounts')],
      [all.serversWaiting, 'Servers to be made or removed', to('/servers')],
      [all.serversUnknown, 'Servers of which nobody knows whether they were made', to('/servers')],
    );
  }
  if (summary) entries.push([summary.failingEndpoints.length, 'Webhook endpoints that fail', to('/webhooks')]);
  entries.push(
    [
      chains.filter((chain) => chain.problem !== null || !chain.keepsUp).length,
      'Chains that lag or have a problem',
      to('/chains'),
    ],
    [
      pools.filter((pool) => pool.free < POOL_LOW && pool.free + pool.assigned > 0).length,
      'Address pools that run low',
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
        `${one.url}: ${one.failedAttempts} attempts failed since `,
        localTime(one.failingSince),
        `; ${one.lastStatus ?? one.lastError ?? ''}`,
      ),
    ),
  );
}
