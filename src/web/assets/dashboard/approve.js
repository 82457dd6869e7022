// The approval of a payout or a refund: its terms, the fields of the form, and overriding a refusal.

import { ApiError, field } from '../shared/api.js';
import { h, money, localTime, words } from '../shared/dom.js';

/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["DashboardPayoutDetail"] | Schemas["DashboardRefundDetail"]} Detail */
/** @typedef {Schemas["TransferApproval"]} Approval */

/** Returns the singular of a kind of transfer: `payout` or `refund`. @param {"payouts" | "refunds"} kind */
export const singular = (kind) => (kind === 'payouts' ? 'payout' : 'refund');

/** Labels of the sources of a network fee. */
export const feeSources = /** @type {Record<string, string>} */ ({
  given: 'entered at approval',
  estimate: 'estimated by the node',
  setting: 'set for the coin',
  default: 'built-in default',
});

/** Labels of the ways to send a transfer: by hand or by the signer. */
export const senders = /** @type {Record<string, string>} */ ({ hand: 'You, from your wallet', signer: 'The signer' });

/** Labels of the bases of a refund's rate. */
export const bases = /** @type {Record<string, string>} */ ({ received: 'What came in', market: 'Market rate' });

/** Formats coin amount and fee in one line. @param {Detail} each @param {Approval} approval */
function line(each, approval) {
  const amount = money(each.amount, each.currency);
  if (approval.amountCrypto === null)
    return `${amount}: ${approval.rateProblem && !approval.received ? 'no fresh market rate' : 'the network fee exceeds the amount'}.`;
  const worth = approval.networkFee === null ? '' : ` (${money(approval.networkFee, each.currency)})`;
  const fee = money(approval.networkFeeCrypto, each.assetSymbol);
  return `${amount} = ${money(approval.amountCrypto, each.assetSymbol)}, fee ${fee}${worth}`;
}

/** Shows the terms that an approval would fix. @param {Detail} each @returns {import("../shared/dom.js").Child} */
export function proposal(each) {
  return each.approval
    ? h('p', { class: 'note' }, h('strong', { class: 'proposal' }, line(each, each.approval)))
    : null;
}

/**
 * Returns rate, fee and sender of the terms.
 * @param {Detail} each
 * @returns {[string, import("../shared/dom.js").Child][]}
 */
export function basis(each) {
  const { approval } = each;
  if (!approval) return [];
  const told = approval.rateFigures.map((one) => `${words(one.source)} ${one.rate}`).join(', ');
  const rate = approval.rate
    ? `${money(approval.rate, each.currency)} for one ${each.assetSymbol}, ${approval.rateAgeSeconds} s old`
    : `No fresh rate: ${approval.rateProblem}`;
  const { received } = approval;
  return [
    [
      'Came in',
      received &&
        `${money(received.amount, each.assetSymbol)} for ${money(received.value, each.currency)}, at ` +
          `${money(received.rate, each.currency)} for one ${each.assetSymbol}. The share of this refund is ` +
          money(received.share, each.assetSymbol),
    ],
    ['Market rate', told ? `${rate} (${told})` : rate],
    [
      'Network fee',
      h(
        'span',
        null,
        `${money(approval.networkFeeCrypto, each.assetSymbol)}, ${feeSources[approval.networkFeeFrom]} `,
        approval.networkFeeAt ? localTime(approval.networkFeeAt) : null,
      ),
    ],
    [
      'Sent by',
      approval.signerProblem ? `${senders['hand']}: ${approval.signerProblem}` : (senders[approval.sentBy] ?? ''),
    ],
  ];
}

/**
 * Creates the fields of an approval. The user can override a refused rate or fee.
 * @param {Detail} each
 */
export function approvalForm(each) {
  const { approval } = each;
  const insist = {
    rate: field({ name: 'acceptRate', label: 'Use this rate anyway', type: 'checkbox' }),
    networkFee: field({ name: 'acceptFee', label: 'Use this network fee anyway', type: 'checkbox' }),
  };
  for (const one of Object.values(insist)) one.element.hidden = true;
  /** @type {import("../shared/api.js").Field[]} */
  const sender =
    approval && !approval.signerProblem
      ? [
          {
            name: 'sentBy',
            label: 'Sent by',
            type: 'select',
            value: approval.sentBy,
            options: Object.entries(senders),
          },
        ]
      : [];
  /** @type {import("../shared/api.js").Field[]} */
  const basisFields = approval?.received
    ? [{ name: 'basis', label: 'Rate of', type: 'select', value: approval.basis, options: Object.entries(bases) }]
    : [];
  return {
    fields: [
      ...basisFields,
      {
        name: 'rate',
        label: `Rate: ${each.currency} for one ${each.assetSymbol}`,
        inputmode: 'decimal',
        hint:
          approval?.rate || approval?.received
            ? `Default: the rate of ${approval.received ? 'the basis' : 'the market'}.`
            : 'Required, because no fresh market rate is available.',
      },
      { element: insist.rate.element },
      {
        name: 'networkFee',
        label: `Network fee in ${each.assetSymbol}`,
        inputmode: 'decimal',
        hint: 'Deducted from the amount sent. Default: the fee above.',
      },
      { element: insist.networkFee.element },
      ...sender,
    ],
    /** Returns the overrides that the user has checked. @returns {Record<string, boolean>} */
    insistence: () => ({
      ...(insist.rate.value() === true ? { acceptRate: true } : {}),
      ...(insist.networkFee.value() === true ? { acceptFee: true } : {}),
    }),
    /** Offers to override a refusal. @param {unknown} error */
    refused: (error) => {
      const param = error instanceof ApiError ? error.param : null;
      if (param === 'rate' || param === 'networkFee') insist[param].element.hidden = false;
    },
  };
}
