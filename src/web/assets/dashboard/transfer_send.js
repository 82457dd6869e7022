// The values with which an operator sends a payout or a refund from a wallet.

import { copyButton, facts, h, localTime, qrCode, words } from '../shared/dom.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("./transfers.js").Detail} Detail */

/** Returns true if a person must send the transfer now. @param {Context} context @param {Detail} each */
function isToSend(context, each) {
  const isByHand = !each.sending && each.sentBy !== 'signer' && each.txid === null;
  return context.isOperator && isByHand && ['approved', 'processing'].includes(each.status);
}

/**
 * Shows how to send the transfer: when, by whom, and the values for the wallet. Null if no person has to send it now.
 * @param {Context} context
 * @param {Detail} each
 */
export function toSend(context, each) {
  if (!isToSend(context, each)) return null;
  const { begun } = each;
  const isOthers = begun !== null && begun.by !== context.user.email;
  const given = toWallet(each);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'sign' },
    h('h2', { id: 'sign' }, isOthers ? 'Another operator is sending it' : 'Send it from your wallet'),
    begun === null
      ? null
      : h(
          'p',
          { class: 'note warn' },
          h('strong', null, `${isOthers ? begun.by : 'You'} began to send it, `, localTime(begun.at), '.'),
          isOthers
            ? ' Do not send it too: ask them. Once it is sent, press “Enter transaction…”.'
            : ' Send it only once. If your wallet has sent it already, press “Enter transaction…”.',
        ),
    isOthers ? h('details', null, h('summary', null, 'Values for their wallet'), given) : given,
  );
}

/** Shows the values to enter in a wallet. @param {Detail} each */
function toWallet(each) {
  const text =
    each.status === 'approved'
      ? 'Press “Start sending…” first, so that nobody cancels it while you send.'
      : each.qr
        ? `Send exactly this amount, on ${words(each.chain)} only. Then press “Enter transaction…”.`
        : 'Chains are simulated here, so there is no code to scan. Money sent to this address is lost. ' +
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
        'The code contains only the address. No standard for this coin includes the amount.',
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
