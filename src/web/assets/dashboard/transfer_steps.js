// The steps of a payout or a refund: what can be done to it, what that will do, and doing it.

import { ApiError, form, operator } from '../shared/api.js';
import { ask, facts, h, money, toast, words } from '../shared/dom.js';
import { approvalForm, basis, proposal } from './approve.js';
import { act } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["DashboardPayout"] | Schemas["DashboardRefund"]} Transfer */
/** @typedef {import("./approve.js").Detail} Detail */
/** @typedef {"payouts" | "refunds"} Kind */

/** Of one kind, one word for it. @param {Kind} kind */
export const one = (kind) => (kind === 'payouts' ? 'payout' : 'refund');

/** What can be done to it now. @param {Context} context @param {Kind} kind @param {Transfer} each */
export function actions(context, kind, each) {
  // While a command sends it, every step is refused.
  if (each.sending === 'running') return [];
  const isHeld = each.sending === 'unknown';
  const isSigners = each.sentBy === 'signer';
  const release = isHeld ? ['release'] : [];
  /** @type {Record<string, string[]>} */
  const open = {
    requested: [...release, 'approve', 'reject', 'cancel'],
    approved: [...release, ...(isSigners ? [] : ['process']), 'reassign', 'cancel', 'fail'],
    processing: ['pay', 'fail'],
  };
  // What may have been sent already is not to be sent by the first button there is.
  const next = isHeld ? '' : 'primary';
  /** @type {Record<string, [string, string]>} */
  const texts = {
    release: ['It was not sent: release it…', 'primary'],
    approve: ['Approve…', next],
    reject: ['Reject…', 'danger'],
    cancel: ['Cancel it…', 'danger'],
    process: ['Begin to send…', next],
    reassign: [isSigners ? 'Send it by hand…' : 'Let the signer send it…', ''],
    pay: ['It was sent…', 'primary'],
    fail: ['It failed…', 'danger'],
  };
  return (open[each.status] ?? []).map((action) => {
    const [text, kindOf] = texts[action] ?? [action, ''];
    return act(context, text, '', () => step(context, kind, each, action), kindOf);
  });
}

/**
 * What a person has to find out where nobody knows whether it was sent, and what then follows; nothing elsewhere.
 * @param {Context} context
 * @param {Transfer} each
 */
export function doubt(context, each) {
  if (each.sending === 'running')
    return h(
      'p',
      { class: 'note' },
      'A command is sending it now. Wait until that has ended, then look at this page again.',
    );
  if (each.sending !== 'unknown') return null;
  if (!context.isOperator)
    return h('p', { class: 'note warn' }, 'Nobody knows yet whether this was sent. An operator looks for it.');
  const sent = {
    requested: 'If it was sent, approve it, begin to send it, and enter that transaction; send nothing more.',
    approved: 'If it was sent, begin to send it, and enter that transaction; send nothing more.',
  }[/** @type {string} */ (each.status)];
  return h(
    'div',
    { class: 'note warn' },
    h('p', null, h('strong', null, 'Nobody knows whether this was sent. Look for it on the chain first.')),
    sent
      ? [
          h('p', null, 'The file was restored from an older copy; it may have been sent after that copy was made.'),
          h('p', null, `If it was not sent, release it. ${sent}`),
        ]
      : h('p', null, 'If it is there, enter its transaction. If it is not, and never can be, say that it failed.'),
  );
}

/** What a step does, said before it is done. @param {string} action @param {Kind} kind @param {Transfer} each */
function consequence(action, kind, each) {
  const what = `${money(each.amount, each.currency)}`;
  const sure = each.sending === 'unknown' ? ' Make sure that no transaction is out.' : '';
  switch (action) {
    case 'approve':
      return `Fixes how much ${each.assetSymbol} is sent for ${what}. Nothing is sent yet.`;
    case 'release':
      return 'You have looked on the chain, and it was not sent. It goes on as before the restore, and can be sent.';
    case 'reassign':
      return each.sentBy === 'signer'
        ? 'The signer does not send it any more. A person sends it from a wallet.'
        : 'The signer sends it as soon as it can. Nobody else may.';
    case 'process':
      return 'From now on it counts as being sent: it cannot be cancelled any more.';
    case 'pay':
      return 'Notes that it was sent, for ever. The webhook tells the shop.';
    case 'fail':
      return (
        `It was not sent, and never will be: ${what} goes back to the balance. Make sure that no transaction is ` +
        'out.'
      );
    case 'reject':
      return `It is not approved: ${what} goes back to the balance.${sure}`;
    default:
      return `It is cancelled: ${what} goes back to the balance.${sure}`;
  }
}

/** The steps after which nothing is sent any more. */
const ends = ['fail', 'reject', 'cancel'];

/**
 * What a step besides approval needs.
 * @param {string} action
 * @param {boolean} isTest
 * @returns {import("../shared/api.js").Field[]}
 */
function asked(action, isTest) {
  if (action === 'pay') {
    const hint = isTest ? 'Empty: an invented one.' : 'As your wallet or the explorer shows it.';
    return [{ name: 'txid', label: 'Transaction id', required: !isTest, hint }];
  }
  return ends.includes(action) ? [{ name: 'reason', label: 'Reason', hint: 'The account reads it.' }] : [];
}

/**
 * Asks for what a step needs, says what it will do, and does it.
 * @param {Context} context
 * @param {Kind} kind
 * @param {Transfer} each
 * @param {string} action
 */
async function step(context, kind, each, action) {
  // What an approval would fix changes with the market.
  const path = context.path(`${kind}/${encodeURIComponent(each.id)}`);
  const detail = /** @type {Detail | null} */ (
    action === 'approve' ? await operator('GET', path, undefined, { mode: context.mode }) : null
  );
  const approval = detail ? approvalForm(detail) : null;
  const titles = /** @type {Record<string, string>} */ ({
    release: `Release this ${one(kind)}?`,
    approve: `Approve this ${one(kind)}?`,
    process: 'Begin to send it?',
    reassign: each.sentBy === 'signer' ? 'Send it by hand?' : 'Let the signer send it?',
    pay: 'Was it sent?',
    fail: 'Did it fail?',
    reject: `Reject this ${one(kind)}?`,
    cancel: `Cancel this ${one(kind)}?`,
  });
  // Somebody else has moved it meanwhile: the page then shows it as it is.
  let isOther = false;
  const done = await ask(titles[action] ?? words(action), (/** @type {(answer: string | null) => void} */ close) => [
    h('p', null, consequence(action, kind, each)),
    detail ? proposal(detail) : null,
    facts(
      ['Amount', money(each.amount, each.currency)],
      ...(detail
        ? basis(detail)
        : /** @type {[string, string][]} */ ([
            ['Sends', each.amountCrypto ? money(each.amountCrypto, each.assetSymbol) : `in ${each.assetSymbol}`],
          ])),
      ['Chain', words(each.chain)],
      ['Address', h('span', { class: 'mono' }, each.toAddress)],
    ),
    form({
      fields: approval ? approval.fields : asked(action, context.mode === 'test'),
      danger: ends.includes(action),
      submit:
        {
          release: 'Release it',
          approve: 'Approve',
          process: 'Begin to send',
          reassign: each.sentBy === 'signer' ? 'Send it by hand' : 'Let the signer send it',
          pay: 'It was sent',
          fail: 'It failed',
          reject: 'Reject',
          cancel: `Cancel the ${one(kind)}`,
        }[action] ?? words(action),
      cancel: () => close(null),
      cancelText: 'Back',
      send: async (values) => {
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
        const sentBy = action === 'reassign' ? { sentBy: each.sentBy === 'signer' ? 'hand' : 'signer' } : {};
        const body = { action, ...given, ...sentBy, ...approval?.insistence() };
        try {
          close((await operator('POST', `${kind}/${each.id}`, body)).status);
        } catch (error) {
          approval?.refused(error);
          isOther = error instanceof ApiError && error.code === 'invalid_transition';
          throw error;
        }
      },
    }),
  ]);
  const becomes = /** @type {Record<string, string>} */ ({ release: 'released', reassign: 'reassigned' });
  if (done) toast(`The ${one(kind)} is ${becomes[action] ?? words(done).toLowerCase()}.`);
  if (done || isOther) await context.reload();
  return false;
}
