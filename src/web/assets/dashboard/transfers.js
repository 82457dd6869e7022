// Payouts and refunds: lists, requests and details.

import { ApiError, form, operator, queryText } from '../shared/api.js';
import {
  ask,
  badge,
  copyButton,
  empty,
  exactTime,
  facts,
  h,
  localTime,
  money,
  to,
  toast,
  words,
} from '../shared/dom.js';
import { feeSources, senders, singular } from './approve.js';
import {
  actionButton,
  anyOf,
  coinName,
  currencies,
  download,
  filters,
  head,
  idLink,
  pagedList,
  retryKey,
  shortId,
} from './list.js';
import { loadModule } from './live.js';
import { chainBadge, chainCard, sendingBadge, sendingNote } from './transfer_chain.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["DashboardPayout"] | Schemas["DashboardRefund"]} Transfer */
/** @typedef {Schemas["DashboardPayoutDetail"] | Schemas["DashboardRefundDetail"]} Detail */
/** @typedef {"payouts" | "refunds"} Kind */

const statuses = ['requested', 'approved', 'processing', 'paid', 'failed', 'rejected', 'cancelled'];

/** Options of the filter by the state on the chain. @type {[string, string][]} */
const review = [
  ['', 'Any'],
  ['needs_review', 'Needs review'],
];

/** Options of the filter by account. @type {[string, string][]} */
const whose = [
  ['', 'This account'],
  ['all', 'All accounts'],
];

/** Meaning of each status, and the next step. @type {Record<string, string>} */
const meaning = {
  requested: 'The amount has left the balance. An operator approves or rejects it.',
  approved: 'Rate, network fee and amount are fixed. An operator or the signer sends it.',
  processing: 'Being sent. It is paid once its chain has confirmed the transaction.',
  paid: 'Sent.',
  failed: 'Not sent. The amount is back on the balance.',
  rejected: 'Not approved. The amount is back on the balance.',
  cancelled: 'Cancelled. The amount is back on the balance.',
};

/** @param {Kind} kind @returns {import("./dashboard.js").Show} */
export function pageOf(kind) {
  return (context) => (context.parts[0] ? detail(context, kind, context.parts[0]) : list(context, kind));
}

/** @param {Context} context @param {Kind} kind */
async function list(context, kind) {
  const { mode, query } = context;
  const isAll = context.isOperator && (query.get('whose') === 'all' || context.account === null);
  const status = query.get('status');
  const onChain = query.get('onChain');
  const path = isAll ? kind : context.path(kind);
  const found = await pagedList({
    label: words(kind),
    load: (before) => operator('GET', path, undefined, { mode, before, limit: 50, status, onChain }),
    none:
      kind === 'payouts'
        ? empty(
            status || onChain ? 'No matching payouts' : 'No payouts yet',
            'A payout sends your balance to your own wallet. Set its address in the settings first.',
            h('a', { class: 'button', href: '#/settings' }, 'Set payout address'),
          )
        : empty(
            status || onChain ? 'No matching refunds' : 'No refunds yet',
            'A refund sends part of a paid invoice back. Open an invoice, then press “Refund invoice”.',
            h('a', { class: 'button', href: to('/invoices', { status: 'overpaid' }) }, 'Show overpaid invoices'),
            h('a', { class: 'button', href: '#/invoices' }, 'Show all invoices'),
          ),
    href: (each) => transferHref(kind, each),
    columns: /** @type {import("../shared/dom.js").Column<Transfer>[]} */ (
      /** @type {(import("../shared/dom.js").Column<Transfer> | null)[]} */ ([
        { name: words(singular(kind)), cell: (each) => shortId(each.id) },
        {
          name: 'Status',
          cell: (each) => h('div', { class: 'row' }, badge(each.status), sendingBadge(each), chainBadge(each)),
        },
        { name: 'Amount', end: true, cell: (each) => money(each.amount, each.currency) },
        {
          name: 'Coin amount',
          end: true,
          cell: (each) => (each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : `${each.assetSymbol}, on approval`),
        },
        { name: 'Address', cell: (each) => h('span', { class: 'mono' }, each.toAddress) },
        isAll
          ? {
              name: 'Account',
              cell: (each) => context.accounts.find(({ id }) => id === each.account)?.name ?? each.account,
            }
          : null,
        { name: 'Requested', cell: (each) => localTime(each.requestedAt) },
      ]).filter(Boolean)
    ),
  });
  return h(
    'div',
    { class: 'page' },
    head(
      words(kind),
      kind === 'payouts'
        ? 'Your balance, sent to your own wallet.'
        : 'Amounts of paid invoices, sent back to customers.',
      isAll
        ? null
        : download(
            `${context.path(`exports/${kind}.csv`)}${queryText({ mode, status, onChain })}`,
            'Export CSV',
            `${kind}.csv`,
          ),
      kind === 'payouts' && context.account
        ? actionButton(context, 'Request payout…', '', () => request(context), 'primary small')
        : null,
    ),
    filters(`/${kind}`, [
      { name: 'status', label: 'Status', type: 'select', options: anyOf(statuses) },
      { name: 'onChain', label: 'On chain', type: 'select', options: review },
      ...(context.isOperator ? [{ name: 'whose', label: 'Account', type: 'select', options: whose }] : []),
    ]),
    found,
  );
}

/** Returns the link to a transfer in its account. @param {Kind} kind @param {Transfer} each */
const transferHref = (kind, each) => to(`/${kind}/${each.id}`, { account: each.account });

/** @param {Context} context */
async function request(context) {
  const key = retryKey();
  const { account, mode } = context;
  const balances = (await operator('GET', context.path('balances'), undefined, { mode })).data;
  const made = await ask('Request payout', (/** @type {(payout: Schemas["DashboardPayout"]) => void} */ close) => [
    facts(
      ...balances.map((/** @type {Schemas["Balance"]} */ each) => [
        `Available for payout, ${each.currency}`,
        money(each.available, each.currency),
      ]),
      ['Coin', account?.payoutAsset ?? ''],
      ['Minimum', account?.payoutMinimum ?? ''],
    ),
    h(
      'p',
      null,
      'The amount leaves the balance now. An operator approves the payout, then sends the coin to the account’s payout ' +
        'address.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: 'Amount',
          required: true,
          inputmode: 'decimal',
          hint: 'For example 120.00, or all.',
        },
        {
          name: 'currency',
          label: 'Balance',
          type: 'select',
          options: currencies,
        },
      ],
      submit: 'Request payout',
      cancel: () => close(/** @type {any} */ (null)),
      send: async (values) => close(await operator('POST', context.path('payouts'), values, { mode }, key)),
    }),
  ]);
  if (made) {
    toast('Payout requested.');
    location.hash = to(`/payouts/${made.id}`);
  }
  return false;
}

/** @param {Context} context @param {Kind} kind @param {string} id */
async function detail(context, kind, id) {
  const { mode } = context;
  /** @type {Detail} */
  let each;
  try {
    each = await operator('GET', context.path(`${kind}/${encodeURIComponent(id)}`), undefined, { mode });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return h(
      'div',
      { class: 'page' },
      h('p', { class: 'crumb' }, h('a', { href: to(`/${kind}`) }, words(kind))),
      h('h1', null, `${words(singular(kind))} not found`),
      h(
        'p',
        null,
        `${context.account?.name ?? 'This account'} has no ${singular(kind)} with this id in ${mode} mode. Try the other ` +
          'mode, or another account.',
      ),
    );
  }
  // A list does not need these modules.
  const [{ actions }, { toSend }] = await Promise.all([
    loadModule(() => import('./transfer_steps.js')),
    loadModule(() => import('./transfer_send.js')),
  ]);
  return h(
    'div',
    { class: 'page' },
    h('p', { class: 'crumb' }, h('a', { href: to(`/${kind}`) }, words(kind))),
    h(
      'div',
      { class: 'head' },
      h(
        'div',
        { class: 'stack' },
        h('h1', null, `${words(singular(kind))} of ${money(each.amount, each.currency)}`),
        h('p', null, badge(each.status), ' ', h('span', { class: 'quiet' }, meaning[each.status] ?? '')),
      ),
      h('div', { class: 'row' }, context.isOperator ? actions(context, kind, each) : null),
    ),
    sendingNote(context, each),
    h(
      'div',
      { class: 'halves' },
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'details' },
        h('h2', { id: 'details' }, 'Details'),
        facts(
          ['Amount', money(each.amount, each.currency)],
          ['Coin amount', each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : 'Fixed on approval'],
          ['Network fee', networkFee(each)],
          ['Rate', rateText(each)],
          ['Sent by', each.sentBy ? (senders[each.sentBy] ?? each.sentBy) : null],
          ['Coin', coinName(each.assetSymbol, each.asset)],
          ['Chain', words(each.chain)],
          [
            'Address',
            h('span', null, h('span', { class: 'mono' }, each.toAddress), ' ', copyButton(each.toAddress, 'address')),
          ],
          [
            'Transaction',
            each.txid
              ? h('span', null, h('span', { class: 'mono' }, each.txid), ' ', copyButton(each.txid, 'transaction'))
              : null,
          ],
          ['Reason', 'reason' in each ? each.reason : null],
          ['Failure', each.failureReason],
          ['Invoice', 'invoiceId' in each ? idLink('/invoices', each.invoiceId) : null],
          ['Account', context.accounts.find((account) => account.id === each.account)?.name ?? each.account],
          ['Id', h('span', { class: 'mono' }, each.id)],
        ),
      ),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'timeline' },
        h('h2', { id: 'timeline' }, 'Timeline'),
        historyList(each),
      ),
    ),
    chainCard(context, kind, each),
    toSend(context, each),
  );
}

/** Describes the rate and its basis. @param {Transfer} each */
function rateText(each) {
  if (!each.rate) return null;
  const basis = each.rateBasis === 'received' ? ', as it came in' : '';
  return `${money(each.rate, each.currency)} per coin${basis}`;
}

/** Describes the network fee and its source. @param {Transfer} each */
function networkFee(each) {
  if (!each.networkFeeCrypto) return null;
  const source = each.networkFeeFrom ? `, ${feeSources[each.networkFeeFrom]}` : '';
  return `${money(each.networkFeeCrypto, each.assetSymbol)}${source}`;
}

/** @param {Transfer} each */
function historyList(each) {
  const isOver = each.finalizedAt !== null;
  const steps = /** @type {[string, string | null, string][]} */ ([
    ['Requested', each.requestedAt, 'good'],
    ['Approved', each.approvedAt, each.approvedAt ? 'good' : ''],
    ['Being sent', null, each.status === 'processing' ? 'now' : each.status === 'paid' ? 'good' : ''],
    [isOver ? words(each.status) : 'Paid', each.finalizedAt, isOver ? (each.status === 'paid' ? 'good' : 'bad') : ''],
  ]).filter(([, at, tone]) => !isOver || at !== null || tone !== '');
  return h(
    'ol',
    { class: 'steps' },
    steps.map(([text, at, tone]) =>
      h(
        'li',
        { class: tone },
        h('p', null, text),
        h('p', { class: 'quiet' }, at ? exactTime(at) : tone === 'good' || tone === 'now' ? null : 'Not yet'),
      ),
    ),
  );
}
