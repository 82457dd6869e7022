// Payouts and refunds: lists, requests and details.

import { ApiError, form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, facts, h, money, qrCode, to, toast, localTime, words } from '../shared/dom.js';
import { feeSources, senders } from './approve.js';
import { actionButton, coinName, download, filters, head, idLink, retryKey, pagedList } from './list.js';
import { chainBadge, chainCard, sendingBadge, sendingNote } from './transfer_chain.js';
import { actions, singular } from './transfer_steps.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["DashboardPayout"] | Schemas["DashboardRefund"]} Transfer */
/** @typedef {Schemas["DashboardPayoutDetail"] | Schemas["DashboardRefundDetail"]} Detail */
/** @typedef {"payouts" | "refunds"} Kind */

const statuses = ['requested', 'approved', 'processing', 'paid', 'failed', 'rejected', 'cancelled'];

/** Meaning of each status, and the next step. @type {Record<string, string>} */
const meaning = {
  requested: 'The amount has left the balance. An operator approves or rejects it.',
  approved: 'Rate, network fee and amount are fixed. An operator or the signer sends it.',
  processing: 'It is being sent. It is paid once its chain has confirmed the transaction.',
  paid: 'It was sent.',
  failed: 'It could not be sent. The amount is back on the balance.',
  rejected: 'It was not approved. The amount is back on the balance.',
  cancelled: 'It was cancelled. The amount is back on the balance.',
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
            'No payout here',
            'A payout sends what you have earned to your own wallet. Its address is set in the checkout settings.',
            h('a', { class: 'button', href: '#/settings' }, 'Set the payout address'),
          )
        : empty(
            'No refund here',
            'A refund sends part of a paid invoice back. Open the invoice, then press “Refund”.',
            h('a', { class: 'button', href: to('/invoices', { status: 'overpaid' }) }, 'Overpaid invoices'),
            h('a', { class: 'button', href: '#/invoices' }, 'All invoices'),
          ),
    columns: /** @type {import("../shared/dom.js").Column<Transfer>[]} */ (
      /** @type {(import("../shared/dom.js").Column<Transfer> | null)[]} */ ([
        {
          name: words(singular(kind)),
          cell: (each) =>
            h('a', { href: transferHref(kind, each), class: 'mono', title: each.id }, `${each.id.slice(0, 8)}…`),
        },
        {
          name: 'Status',
          cell: (each) => h('div', { class: 'row' }, badge(each.status), sendingBadge(each), chainBadge(each)),
        },
        { name: 'Amount', end: true, cell: (each) => money(each.amount, each.currency) },
        {
          name: 'Sends',
          end: true,
          cell: (each) => (each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : each.assetSymbol),
        },
        { name: 'To', cell: (each) => h('span', { class: 'mono' }, each.toAddress) },
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
        ? 'What you have earned, sent to your own wallet.'
        : 'Parts of paid invoices, sent back to customers.',
      context.account
        ? download(`${context.path(`exports/${kind}.csv`)}?mode=${mode}`, 'Download', `${kind}.csv`)
        : null,
      kind === 'payouts' && context.account
        ? actionButton(context, 'Request a payout…', '', () => request(context), 'primary')
        : null,
    ),
    filters(`/${kind}`, [
      {
        name: 'status',
        label: 'Status',
        type: 'select',
        options: [['', 'Any'], ...statuses.map((each) => /** @type {[string, string]} */ ([each, words(each)]))],
      },
      {
        name: 'onChain',
        label: 'On its chain',
        type: 'select',
        options: /** @type {[string, string][]} */ ([
          ['', 'Any'],
          ['needs_review', 'To review'],
        ]),
      },
      ...(context.isOperator
        ? [
            {
              name: 'whose',
              label: 'Whose',
              type: 'select',
              options: /** @type {[string, string][]} */ ([
                ['', 'This account’s'],
                ['all', 'All accounts’'],
              ]),
            },
          ]
        : []),
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
  const made = await ask('Request a payout', (/** @type {(payout: Schemas["DashboardPayout"]) => void} */ close) => [
    facts(
      ...balances.map((/** @type {Schemas["Balance"]} */ each) => [
        `May be paid out in ${each.currency}`,
        money(each.available, each.currency),
      ]),
      ['Sent as', account?.payoutAsset ?? ''],
      ['Least', account?.payoutMinimum ?? ''],
    ),
    h(
      'p',
      null,
      'The amount leaves the balance now. An operator approves it, then sends the coin to the payout address of the ' +
        'account.',
    ),
    form({
      fields: [
        {
          name: 'amount',
          label: 'Amount',
          required: true,
          inputmode: 'decimal',
          hint: 'Like 120.00, or the word all.',
        },
        {
          name: 'currency',
          label: 'Of the balance in',
          type: 'select',
          options: [
            ['EUR', 'EUR'],
            ['USD', 'USD'],
          ],
        },
      ],
      submit: 'Request the payout',
      cancel: () => close(/** @type {any} */ (null)),
      send: async (values) => close(await operator('POST', context.path('payouts'), values, { mode }, key)),
    }),
  ]);
  if (made) {
    toast('The payout is requested.');
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
      h('h1', null, `No such ${singular(kind)}`),
      h(
        'p',
        null,
        `${context.account?.name ?? 'This account'} has none with this id in ${mode} mode. Look at the other mode, ` +
          'or at another account.',
      ),
    );
  }
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
        { class: 'card', 'aria-labelledby': 'what' },
        h('h2', { id: 'what' }, 'What is sent'),
        facts(
          ['Amount', money(each.amount, each.currency)],
          ['Sends', each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : 'Fixed when it is approved'],
          ['Network fee', networkFee(each)],
          ['Rate', each.rate ? `${money(each.rate, each.currency)} for one` : null],
          ['Sent by', each.sentBy ? (senders[each.sentBy] ?? each.sentBy) : null],
          ['Coin', coinName(each.assetSymbol, each.asset)],
          ['Chain', words(each.chain)],
          [
            'To',
            h('span', null, h('span', { class: 'mono' }, each.toAddress), ' ', copyButton(each.toAddress, 'address')),
          ],
          [
            'Transaction',
            each.txid
              ? h('span', null, h('span', { class: 'mono' }, each.txid), ' ', copyButton(each.txid, 'transaction'))
              : null,
          ],
          ['Reason', 'reason' in each ? each.reason : null],
          ['What went wrong', each.failureReason],
          ['Invoice', 'invoiceId' in each ? idLink('/invoices', each.invoiceId) : null],
          ['Account', context.accounts.find((account) => account.id === each.account)?.name ?? each.account],
          ['Id', h('span', { class: 'mono' }, each.id)],
        ),
      ),
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'life' },
        h('h2', { id: 'life' }, 'Its life'),
        historyList(each),
      ),
    ),
    chainCard(context, kind, each),
    isToSend(context, each) ? toSend(context, each) : null,
  );
}

/** Returns true if a person must send the transfer now. @param {Context} context @param {Detail} each */
function isToSend(context, each) {
  const isByHand = !each.sending && each.sentBy !== 'signer' && each.txid === null;
  return context.isOperator && isByHand && ['approved', 'processing'].includes(each.status);
}

/** Describes the network fee and its source. @param {Transfer} each */
function networkFee(each) {
  if (!each.networkFeeCrypto) return null;
  const source = each.networkFeeFrom ? `, ${feeSources[each.networkFeeFrom]}` : '';
  return `${money(each.networkFeeCrypto, each.assetSymbol)}${source}`;
}

/**
 * Shows how to send the transfer: when, by whom, and the values for the wallet.
 * @param {Context} context
 * @param {Detail} each
 */
function toSend(context, each) {
  const { begun } = each;
  const isOthers = begun !== null && begun.by !== context.user.email;
  const given = toWallet(each);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'sign' },
    h('h2', { id: 'sign' }, isOthers ? 'Somebody is sending it' : 'Send it from your wallet'),
    begun === null
      ? null
      : h(
          'p',
          { class: 'note warn' },
          h('strong', null, `${isOthers ? begun.by : 'You'} began to send it, `, localTime(begun.at), '.'),
          isOthers
            ? ' Do not send it too: ask them. Once it is out, press “Enter transaction…”.'
            : ' Send it once only: if your wallet has sent it already, press “Enter transaction…”.',
        ),
    isOthers ? h('details', null, h('summary', null, 'What their wallet was given'), given) : given,
  );
}

/** Shows the values to enter in a wallet. @param {Detail} each */
function toWallet(each) {
  const text =
    each.status === 'approved'
      ? 'Press “Begin to send…” first: from then on nobody can cancel it while you send.'
      : each.qr
        ? `Send exactly this amount, on ${words(each.chain)} only. Then press “Enter transaction…”.`
        : 'Chains are simulated here, so there is no code to scan: what is really sent to this address is lost. ' +
          'Press “Enter transaction…”.';
  const scan = each.paymentUri
    ? h(
        'p',
        { class: 'quiet' },
        'Scan it with your wallet, or ',
        h('a', { href: each.paymentUri }, 'open it in a wallet on this device'),
        '.',
      )
    : h(
        'p',
        { class: 'quiet' },
        'The code holds the address alone: there is no standard for this coin that names the amount.',
      );
  const copied = (/** @type {string} */ value, /** @type {string} */ name, unit = '') =>
    h('span', null, h('span', { class: 'mono' }, value), ` ${unit} `, copyButton(value, name));
  return h(
    'div',
    { class: 'stack' },
    h('p', null, text),
    each.qr ? [qrCode(each.qr, each.paymentUri ? 'QR code of the payment' : 'QR code of the address'), scan] : null,
    facts(
      ['Amount', copied(each.amountCrypto ?? '', 'amount', each.assetSymbol)],
      ['Address', copied(each.toAddress, 'address')],
      ['Payment link', each.paymentUri ? copied(each.paymentUri, 'payment link') : null],
    ),
  );
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
        h('p', { class: 'quiet' }, at ? localTime(at) : tone === 'good' || tone === 'now' ? null : 'Not yet'),
      ),
    ),
  );
}
