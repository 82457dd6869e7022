// Receipts by e-mail for the payers of an account.

import { form, operator } from '../shared/api.js';
import { h, toast } from '../shared/dom.js';

/** Creates the switch of the receipts. @param {import("./dashboard.js").Context} context */
export async function receiptSection(context) {
  const receipts = /** @type {import("openapi").components["schemas"]["Receipts"]} */ (
    await operator('GET', context.path('receipts'))
  );
  const state = receipts.available
    ? `Sent in the last 24 hours: ${receipts.lastDay} of at most ${receipts.dailyLimit}.`
    : 'This server sends no e-mail. The operator can set a mail server with --smtp.';
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'receipts' },
    h('h2', { id: 'receipts' }, 'Receipts by e-mail'),
    h('p', { class: 'quiet' }, state),
    form({
      label: 'Receipts by e-mail',
      fields: [
        {
          name: 'enabled',
          label: 'Send a receipt when an invoice is paid',
          type: 'checkbox',
          value: receipts.enabled,
          hint: 'To the customerEmail that your server gave with the invoice, in the language of the checkout.',
        },
      ],
      submit: 'Save receipt settings',
      send: async (values) => {
        await operator('PUT', context.path('receipts'), values);
        toast('Receipt settings saved.');
      },
    }),
  );
}
