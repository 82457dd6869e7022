// The sending of a payout or a refund: signer, hold after a restore, chain state, proposals and reviews.

import { form, operator } from '../shared/api.js';
import { ask, badge, copyButton, facts, h, money, table, localTime, words } from '../shared/dom.js';
import { singular } from './approve.js';
import { actionButton, confirmAction } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {import("./transfer_steps.js").Transfer} Transfer */
/** @typedef {import("./transfer_steps.js").Kind} Kind */

/** Badge label and tone for each value of `sending`. @type {Record<string, [string, string]>} */
const sendings = {
  running: ['Signer running', 'info'],
  unknown: ['Sent or not: unknown', 'warn'],
  retry: ['Signer retrying', 'info'],
  declined: ['Signer declined', 'warn'],
  restored: ['On hold after restore', 'warn'],
};

/** Creates a badge for the signer's state or a hold. @param {Transfer} each */
export function sendingBadge(each) {
  if (!each.sending) return null;
  const [text, tone] = sendings[each.sending] ?? [each.sending, ''];
  return h('span', { class: `badge ${tone}` }, text);
}

/** Explains how to continue a held transfer that was sent. @param {Transfer} each */
function heldAdvice(each) {
  if (each.status === 'requested')
    return 'If it was sent, release it, approve it as sent by hand, start sending, and enter its transaction.';
  return each.sentBy === 'signer'
    ? 'If it was sent, release it as sent by hand: the signer would send it again. Then start sending, and enter its ' +
        'transaction.'
    : 'If it was sent, release it, start sending, and enter its transaction.';
}

/** Returns heading and advice for each value of `sending`. @param {Transfer} each @returns {[string, string[]]} */
function advice(each) {
  const lookFirst = 'It is unknown whether this was sent. Look for it on the chain first.';
  const enter = 'If it is there, enter its transaction. If it was not sent and cannot be, mark it as failed.';
  switch (each.sending) {
    case 'running':
      return ['The signer is sending it now.', ['Wait until the signer has ended, then open this page again.']];
    case 'retry':
      return ['The signer sent nothing and tries again.', ['If you send it yourself, enter its transaction.']];
    case 'declined':
      return ['The signer sent nothing.', ['Send it yourself and enter its transaction, or mark it as failed.']];
    case 'unknown':
      return [lookFirst, [enter]];
    default:
      if (each.status === 'processing') return [lookFirst, [enter]];
      return [
        lookFirst,
        [
          'The file was restored from an older copy. This may have been sent after that copy was made.',
          'If it was not sent, release it. It then continues as before the restore.',
          `${heldAdvice(each)} Send nothing more.`,
        ],
      ];
  }
}

/**
 * Creates the note about `sending`: its state and the next step. Null if `sending` is null.
 * @param {Context} context
 * @param {Transfer} each
 */
export function sendingNote(context, each) {
  if (!each.sending) return null;
  const reason = each.sendingReason ? h('p', null, `Reason: ${each.sendingReason}`) : null;
  const tone = ['running', 'retry'].includes(each.sending) ? '' : 'warn';
  if (tone === 'warn' && !context.isOperator)
    return h('div', { class: 'note warn' }, h('p', null, 'An operator has to review this.'), reason);
  const [heading, lines] = advice(each);
  return h(
    'div',
    { class: `note ${tone}` },
    h('p', null, h('strong', null, heading)),
    reason,
    lines.map((line) => h('p', null, line)),
  );
}

/** Formats the confirmations so far and the required ones. Null while none are counted. @param {Transfer} each */
export function confirmations(each) {
  const { confirmations: count, confirmationsNeeded: needed } = each.onChain;
  if (count === null) return null;
  const total = needed === 'final' ? ', until its block is final' : ` of ${needed}`;
  return `${count}${needed === null ? '' : total}`;
}

/** Creates a badge if a person must review the transfer, else shows its confirmations. @param {Transfer} each */
export function chainBadge(each) {
  if (each.onChain.state === 'needs_review') return badge('needs_review', 'warn');
  const count = confirmations(each);
  return count === null ? null : h('span', { class: 'quiet' }, `Confirmations: ${count}`);
}

/** Describes the state of the transfer on the chain. @param {Transfer} each */
function stateText(each) {
  const { state } = each.onChain;
  const waiting = each.txid ? 'The transaction is not on the chain yet.' : 'No transaction yet.';
  const texts = /** @type {Record<string, string>} */ ({
    waiting,
    seen: 'The transaction pays the amount. It waits for its confirmations.',
    needs_review: 'An operator has to review it.',
    settled: 'Final.',
    unwatched: 'Not checked: its chain has no node.',
  });
  return texts[state] ?? words(state);
}

/**
 * Shows state on the chain, proposals and reviews. Null if there are none.
 * @param {Context} context
 * @param {Kind} kind
 * @param {Transfer} each
 */
export function chainCard(context, kind, each) {
  const { onChain, proposals, reviews } = each;
  const isEarly = ['requested', 'rejected'].includes(each.status);
  if (isEarly && proposals.length === 0 && reviews.length === 0 && onChain.problem === null) return null;
  const seen = onChain.amountSeen ? money(onChain.amountSeen, each.assetSymbol) : null;
  const expected = each.amountCrypto ? ` of ${money(each.amountCrypto, each.assetSymbol)}` : '';
  const tone = onChain.state === 'needs_review' ? 'warn' : '';
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'on-chain' },
    h('h2', { id: 'on-chain' }, 'On chain'),
    onChain.problem ? h('p', { class: `note ${tone}` }, onChain.problem) : null,
    facts(
      ['State', stateText(each)],
      ['Confirmations', confirmations(each)],
      ['Amount seen', seen ? `${seen}${expected}` : null],
    ),
    proposals.length > 0 ? proposalTable(context, kind, each) : null,
    reviews.length > 0 ? reviewTable(context, kind, each) : null,
  );
}

/** @param {Context} context @param {Kind} kind @param {Transfer} each */
function proposalTable(context, kind, each) {
  const isRunning = each.sending === 'running';
  /** @param {Schemas["TransferProposal"]} found */
  const buttons = (found) => {
    const amount = `${money(found.amountCrypto, each.assetSymbol)} in ${found.txid}`;
    const move = async (/** @type {string} */ action, /** @type {[string, string, string]} */ texts) =>
      (await confirmAction(...texts)) && operator('POST', `${kind}/${each.id}`, { action, txid: found.txid });
    const attach = () =>
      move('pay', [
        'Attach this transaction?',
        `${amount}. The ${singular(kind)} is paid once its chain has confirmed enough of it.`,
        'Attach transaction',
      ]);
    const dismiss = () =>
      move('dismiss', [
        'Dismiss this transaction?',
        `${amount} did not send this ${singular(kind)}.`,
        'Dismiss transaction',
      ]);
    return h(
      'div',
      { class: 'row' },
      each.status === 'processing'
        ? actionButton(context, 'Attach transaction…', 'Transaction attached.', attach, 'small')
        : null,
      actionButton(context, 'Dismiss transaction…', 'Transaction dismissed.', dismiss, 'small'),
    );
  };
  // Only those that are listed: another may have arrived since.
  const dismissAll = async () => {
    const isConfirmed = await confirmAction(
      'Dismiss all transactions?',
      `None of them sent this ${singular(kind)}. They are not offered again.`,
      'Dismiss all',
    );
    if (!isConfirmed) return false;
    for (const { txid } of each.proposals) {
      await operator('POST', `${kind}/${each.id}`, { action: 'dismiss', txid });
    }
    return true;
  };
  return h(
    'div',
    { class: 'stack' },
    h('h3', null, 'Possible transactions'),
    context.isOperator && !isRunning && each.proposals.length > 1
      ? actionButton(context, 'Dismiss all…', 'Transactions dismissed.', dismissAll, 'small')
      : null,
    table(
      'Possible transactions',
      /** @type {import("../shared/dom.js").Column<Schemas["TransferProposal"]>[]} */ ([
        { name: 'Amount', end: true, cell: (found) => money(found.amountCrypto, each.assetSymbol) },
        {
          name: 'Transaction',
          cell: (found) =>
            h('div', { class: 'row' }, h('span', { class: 'mono' }, found.txid), copyButton(found.txid, 'transaction')),
        },
        { name: 'Seen', cell: (found) => localTime(found.seenAt) },
        { name: 'Block', end: true, cell: (found) => found.blockHeight ?? 'Not yet' },
        { name: '', cell: (found) => (context.isOperator && !isRunning ? buttons(found) : null) },
      ]),
      each.proposals,
    ).element,
  );
}

/** @param {Context} context @param {Kind} kind @param {Transfer} each */
function reviewTable(context, kind, each) {
  /** @param {Schemas["TransferReview"]} review */
  const buttons = (review) => {
    const end = (/** @type {'resolve' | 'adjust'} */ action) => endReview(kind, each, review, action);
    return h(
      'div',
      { class: 'row' },
      review.kind === 'gone'
        ? null
        : actionButton(context, 'Resolve review…', 'Review resolved.', () => end('resolve'), 'small'),
      ['gone', 'arrived'].includes(review.kind)
        ? actionButton(context, 'Adjust balance…', 'Balance adjusted.', () => end('adjust'), 'small')
        : null,
    );
  };
  return h(
    'div',
    { class: 'stack' },
    h('h3', null, 'Reviews'),
    table(
      'Reviews',
      /** @type {import("../shared/dom.js").Column<Schemas["TransferReview"]>[]} */ ([
        { name: 'Type', cell: (review) => words(review.kind) },
        { name: 'Problem', wide: true, cell: (review) => review.problem },
        { name: 'Opened', cell: (review) => localTime(review.openedAt) },
        {
          name: 'Ended',
          cell: (review) =>
            review.endedAt
              ? h('div', null, localTime(review.endedAt), h('p', { class: 'quiet' }, endText(review)))
              : null,
        },
        {
          name: '',
          cell: (review) => (context.isOperator && review.endedAt === null ? buttons(review) : null),
        },
      ]),
      each.reviews,
    ).element,
  );
}

/** Describes how a review ended. @param {Schemas["TransferReview"]} review */
function endText(review) {
  if (review.decision === 'cleared') return 'Ended by its chain: the problem is gone.';
  const by = review.endedBy ? ` by ${review.endedBy}` : '';
  return `${words(review.decision ?? 'resolved')}${by}: ${review.reason ?? ''}`;
}

/**
 * Asks for the reason and ends a review.
 * @param {Kind} kind
 * @param {Transfer} each
 * @param {Schemas["TransferReview"]} review
 * @param {'resolve' | 'adjust'} action
 * @returns {Promise<boolean>} true if the review has ended
 */
async function endReview(kind, each, review, action) {
  const amount = money(each.amount, each.currency);
  const direction = review.kind === 'gone' ? 'put back into the balance' : 'taken out of the balance';
  const [title, text, submit] =
    action === 'resolve'
      ? ['Resolve this review?', 'Ends the review. No money is booked.', 'Resolve review']
      : ['Adjust the balance?', `${amount} is ${direction}, and the review ends.`, 'Adjust balance'];
  const done = await ask(title, (/** @type {(isDone: boolean) => void} */ close) => [
    h('p', null, review.problem),
    h('p', null, text),
    form({
      fields: [{ name: 'reason', label: 'Reason', required: true, hint: 'The audit log keeps it.' }],
      submit,
      cancel: () => close(false),
      cancelText: 'Back',
      send: async ({ reason }) => {
        await operator('POST', `${kind}/${each.id}`, { action, review: review.id, reason });
        close(true);
      },
    }),
  ]);
  return done === true;
}
