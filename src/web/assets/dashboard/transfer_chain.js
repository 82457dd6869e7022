// The sending of a payout or a refund: the state of the signer, or the hold of a restore.

import { h } from '../shared/dom.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("./transfer_steps.js").Transfer} Transfer */

/** Words for each `sending`, and the tone of its badge. @type {Record<string, [string, string]>} */
const sendings = {
  running: ['Signer is running', 'info'],
  unknown: ['Signer left it unknown', 'warn'],
  retry: ['Signer tries again', 'info'],
  declined: ['Signer sent nothing', 'warn'],
  restored: ['On hold since a restore', 'warn'],
};

/** The state of the signer, or the hold of a restore, as a badge. @param {Transfer} each */
export function sendingBadge(each) {
  if (!each.sending) return null;
  const [text, tone] = sendings[each.sending] ?? [each.sending, ''];
  return h('span', { class: `badge ${tone}` }, text);
}

/** The way on for a transfer that a restore holds, where it was sent. @param {Transfer} each */
function wasSent(each) {
  if (each.status === 'requested')
    return 'If it was sent, release it, approve it as sent by hand, begin to send it, and enter its transaction.';
  return each.sentBy === 'signer'
    ? 'If it was sent, start the server without the signer before you release it: a signer would send it again. Then ' +
        'choose to send it by hand, begin to send it, and enter its transaction.'
    : 'If it was sent, release it, begin to send it, and enter its transaction.';
}

/** What each `sending` asks of a person, and its heading. @param {Transfer} each @returns {[string, string[]]} */
function advice(each) {
  const lookFirst = 'Nobody knows whether this was sent. Look for it on the chain first.';
  const enter = 'If it is there, enter its transaction. If it is not, and never can be, mark it as failed.';
  switch (each.sending) {
    case 'running':
      return ['The signer is sending it now.', ['Wait until that has ended, then look at this page again.']];
    case 'retry':
      return ['The signer signed nothing, and tries again.', ['If you send it yourself, enter its transaction.']];
    case 'declined':
      return ['The signer sent nothing.', ['Send it yourself and enter its transaction, or mark it as failed.']];
    case 'unknown':
      return [lookFirst, [enter]];
    default:
      if (each.status === 'processing') return [lookFirst, [enter]];
      return [
        lookFirst,
        [
          'The file was restored from an older copy; it may have been sent after that copy was made.',
          'If it was not sent, release it. Then it goes on as before the restore.',
          `${wasSent(each)} Send nothing more.`,
        ],
      ];
  }
}

/**
 * What a person has to know, and to do, because of `sending`; nothing where that is null.
 * @param {Context} context
 * @param {Transfer} each
 */
export function sendingNote(context, each) {
  if (!each.sending) return null;
  const reason = each.sendingReason ? h('p', null, `Reason: ${each.sendingReason}`) : null;
  const tone = ['running', 'retry'].includes(each.sending) ? '' : 'warn';
  if (tone === 'warn' && !context.isOperator)
    return h('div', { class: 'note warn' }, h('p', null, 'An operator has to look at this.'), reason);
  const [heading, lines] = advice(each);
  return h(
    'div',
    { class: `note ${tone}` },
    h('p', null, h('strong', null, heading)),
    reason,
    lines.map((line) => h('p', null, line)),
  );
}
