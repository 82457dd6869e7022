// The steps of a payout or a refund: buttons, dialogs and requests.

import { ApiError, field, form, operator } from '../shared/api.js';
import { ask, facts, h, money, toast, words } from '../shared/dom.js';
import { approvalForm, basis, proposal, senders, singular } from './approve.js';
import { actionButton } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["DashboardPayout"] | Schemas["DashboardRefund"]} Transfer */
/** @typedef {import("./approve.js").Detail} Detail */
/** @typedef {"payouts" | "refunds"} Kind */

/** Creates the buttons of the possible steps. @param {Context} context @param {Kind} kind @param {Transfer} each */
export function actions(context, kind, each) {
  // While the signer runs, the server refuses every step.
  if (each.sending === 'running') return [];
  const thing = singular(kind);
  const isSigners = each.sentBy === 'signer';
  const isGone = each.reviews.some((review) => review.kind === 'gone' && review.endedAt === null);
  const beforeSending = each.sending === 'restored' ? ['release'] : null;
  /** @type {Record<string, string[]>} */
  const open = {
    requested: beforeSending ?? ['approve', 'reject', 'cancel'],
    approved: beforeSending ?? [...(isSigners ? [] : ['process']), 'reassign', 'cancel', 'fail'],
    processing: ['pay', ...(each.txid ? ['detach'] : []), 'settle', 'fail'],
    paid: isGone ? ['pay'] : [],
  };
  /** @type {Record<string, [string, string]>} */
  const texts = {
    release: [`Release ${thing}…`, 'primary'],
    approve: [`Approve ${thing}…`, 'primary'],
    reject: [`Reject ${thing}…`, 'danger'],
    cancel: [`Cancel ${thing}…`, 'danger'],
    process: ['Start sending…', 'primary'],
    reassign: [isSigners ? 'Send by hand…' : 'Send by signer…', ''],
    pay: each.txid ? ['Change transaction…', ''] : ['Enter transaction…', 'primary'],
    detach: ['Detach transaction…', ''],
    settle: ['Mark as paid…', ''],
    fail: ['Mark as failed…', 'danger'],
  };
  return (open[each.status] ?? []).map((action) => {
    const [text, kindOf] = texts[action] ?? [action, ''];
    return actionButton(context, text, '', () => step(context, kind, each, action), kindOf);
  });
}

/** Describes the consequence of a step. @param {string} action @param {Kind} kind @param {Transfer} each */
function consequence(action, kind, each) {
  const what = `${money(each.amount, each.currency)}`;
  switch (action) {
    case 'approve':
      return `Fixes how much ${each.assetSymbol} is sent for ${what}. Nothing is sent yet.`;
    case 'release':
      return 'Release it only if you have checked the chain and it was not sent. It can then be sent.';
    case 'reassign':
      return each.sentBy === 'signer'
        ? 'The signer no longer sends it. An operator sends it from a wallet.'
        : 'The signer sends it as soon as it can. Operators can no longer send it.';
    case 'process':
      return `The ${singular(kind)} counts as being sent and can no longer be cancelled.`;
    case 'pay':
      return (
        `The ${singular(kind)} is paid once its chain has confirmed this transaction. The shop then gets a webhook. ` +
        'On simulated chains it is paid at once.'
      );
    case 'settle':
      return (
        `The ${singular(kind)} is paid at once, without a check on its chain. The shop gets a webhook. ` +
        'The audit log keeps your name and the reason.'
      );
    case 'detach':
      return `Removes the transaction. The ${singular(kind)} then waits for another one. The amount is not put back.`;
    case 'fail':
      return (
        `${what} goes back to the balance. Make sure first that no transaction was sent and none will be.`
      );
    case 'reject':
      return `${what} goes back to the balance.`;
    default:
      return `${what} goes back to the balance.`;
  }
}

/** Steps that end a transfer without sending it. */
const ends = ['fail', 'reject', 'cancel'];

/**
 * Returns the fields of a step other than approval.
 * @param {string} action
 * @param {Transfer} each
 * @param {boolean} isTest
 * @returns {import("../shared/api.js").Field[]}
 */
function stepFields(action, each, isTest) {
  const hint = 'The transaction id that your wallet or an explorer shows.';
  if (action === 'pay') {
    const required = !isTest;
    return [{ name: 'txid', label: 'Transaction', required, hint: isTest ? 'Leave empty for a simulated one.' : hint }];
  }
  if (action === 'settle') {
    return [
      { name: 'reason', label: 'Reason', required: true, hint: 'For example: sent inside an exchange.' },
      { name: 'txid', label: 'Transaction', value: each.txid, hint: `${hint} Optional.` },
    ];
  }
  if (action === 'release' && each.sentBy === 'signer') {
    const hint = 'Choose by hand if it was sent or if you are not sure: the signer would send it at once.';
    const options = /** @type {[string, string][]} */ ([
      ['hand', senders['hand'] ?? 'hand'],
      ['signer', senders['signer'] ?? 'signer'],
    ]);
    return [{ name: 'sentBy', label: 'Sent by', type: 'select', options, hint }];
  }
  return ends.includes(action) ? [{ name: 'reason', label: 'Reason', hint: 'The account’s users can read it.' }] : [];
}

/**
 * Creates checkboxes that override a refusal. Each appears when a refusal names its parameter.
 * @param {string} action
 */
function overrideBoxes(action) {
  const labels = /** @type {Record<string, Record<string, string>>} */ ({
    pay: { unverified: 'Mark as paid without a check on the chain' },
    release: { unverified: 'Release although its chain cannot be checked' },
    fail: { force: 'Put the amount back although it may have been sent' },
  });
  const boxes = Object.entries(labels[action] ?? {}).map(([name, label]) => field({ name, label, type: 'checkbox' }));
  for (const box of boxes) box.element.hidden = true;
  return {
    fields: boxes.map(({ element }) => ({ element })),
    values: () => Object.fromEntries(boxes.filter((box) => box.value() === true).map((box) => [box.name, true])),
    /** Offers to override a refusal. @param {unknown} error */
    refused: (error) => {
      const box = boxes.find(({ name }) => error instanceof ApiError && error.param === name);
      if (box) box.element.hidden = false;
    },
  };
}

/**
 * Returns title and button text of a step's dialog.
 * @param {string} action
 * @param {Kind} kind
 * @param {Transfer} each
 */
function wording(action, kind, each) {
  const thing = singular(kind);
  const isSigners = each.sentBy === 'signer';
  const texts = /** @type {Record<string, [string, string]>} */ ({
    release: [`Release this ${thing}?`, `Release ${thing}`],
    approve: [`Approve this ${thing}?`, `Approve ${thing}`],
    process: ['Start sending?', 'Start sending'],
    reassign: isSigners
      ? ['Send by hand?', 'Send by hand']
      : ['Send by signer?', 'Send by signer'],
    pay: each.txid
      ? ['Change the transaction?', 'Change transaction']
      : ['Enter the transaction', 'Enter transaction'],
    detach: ['Detach the transaction?', 'Detach transaction'],
    settle: [`Mark this ${thing} as paid?`, 'Mark as paid'],
    fail: [`Mark this ${thing} as failed?`, 'Mark as failed'],
    reject: [`Reject this ${thing}?`, `Reject ${thing}`],
    cancel: [`Cancel this ${thing}?`, `Cancel ${thing}`],
  });
  return texts[action] ?? [words(action), words(action)];
}

/**
 * Opens the dialog of a step, which explains its consequence, and performs the step.
 * @param {Context} context
 * @param {Kind} kind
 * @param {Transfer} each
 * @param {string} action
 */
async function step(context, kind, each, action) {
  // The terms of an approval change with the market, so the transfer is read again now.
  const path = context.path(`${kind}/${encodeURIComponent(each.id)}`);
  const detail = /** @type {Detail | null} */ (
    action === 'approve' ? await operator('GET', path, undefined, { mode: context.mode }) : null
  );
  const approval = detail ? approvalForm(detail) : null;
  const boxes = overrideBoxes(action);
  const [title, submit] = wording(action, kind, each);
  // True if another user has changed the transfer since the page was loaded. The page then reloads.
  let isOther = false;
  const done = await ask(title, (/** @type {(answer: string | null) => void} */ close) => [
    h('p', null, consequence(action, kind, each)),
    detail ? proposal(detail) : null,
    facts(
      ['Amount', money(each.amount, each.currency)],
      ...(detail
        ? basis(detail)
        : /** @type {[string, string][]} */ ([
            ['Coin amount', each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : `in ${each.assetSymbol}`],
          ])),
      ['Chain', words(each.chain)],
      ['Address', h('span', { class: 'mono' }, each.toAddress)],
    ),
    form({
      fields: approval ? approval.fields : [...stepFields(action, each, context.mode === 'test'), ...boxes.fields],
      danger: ends.includes(action),
      submit,
      cancel: () => close(null),
      cancelText: 'Back',
      send: async (values) => {
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
        const sentBy = action === 'reassign' ? { sentBy: each.sentBy === 'signer' ? 'hand' : 'signer' } : {};
        const insisted = approval ? approval.insistence() : boxes.values();
        const body = { action: action === 'settle' ? 'pay' : action, ...given, ...sentBy, ...insisted };
        try {
          close((await operator('POST', `${kind}/${each.id}`, body)).status);
        } catch (error) {
          approval?.refused(error);
          boxes.refused(error);
          isOther = error instanceof ApiError && error.code === 'invalid_transition' && error.param === 'action';
          throw error;
        }
      },
    }),
  ]);
  const isAttached = action === 'pay' && done === 'processing';
  const becomes = /** @type {Record<string, string>} */ ({ release: 'released', reassign: 'reassigned' });
  if (isAttached) toast('Transaction entered. It waits for its confirmations.');
  else if (done && action === 'detach') toast('Transaction detached.');
  else if (done) toast(`${words(singular(kind))} ${becomes[action] ?? words(done).toLowerCase()}.`);
  if (done || isOther) await context.reload();
  return false;
}
