// The settings of an account: checkout with a preview, terms, and payout addresses.

import { form, operator } from '../shared/api.js';
import { ask, copyButton, empty, fill, h, table, toast, localTime, words } from '../shared/dom.js';
import { actionButton, head } from './list.js';
import { changedFields, wholeNumber } from './values.js';
import { confirmAction } from './webhooks.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["AccountSettings"]} Account */

const languages = /** @type {[string, string][]} */ ([
  ['auto', 'The customer’s own'],
  ['en', 'English'],
  ['de', 'Deutsch'],
  ['fr', 'Français'],
  ['es', 'Español'],
  ['it', 'Italiano'],
  ['pt', 'Português'],
  ['nl', 'Nederlands'],
  ['pl', 'Polski'],
  ['tr', 'Türkçe'],
  ['ja', '日本語'],
  ['zh', '简体中文'],
  ['ar', 'العربية'],
]);

/** @param {Context} context */
export async function show(context) {
  const account = /** @type {Account} */ (await operator('GET', context.path('').replace(/\/$/, '')));
  const coins = context.isOperator ? (await operator('GET', 'coins')).data : [];
  const frame = h('div', { class: 'stack' });
  await preview(context, frame);
  return h(
    'div',
    { class: 'page' },
    head('Settings', account.name),
    h(
      'div',
      { class: 'halves' },
      h(
        'section',
        { class: 'card', 'aria-labelledby': 'checkout' },
        h('h2', { id: 'checkout' }, 'Checkout'),
        checkoutForm(context, account, coins),
      ),
      h('section', { class: 'card', 'aria-labelledby': 'preview' }, h('h2', { id: 'preview' }, 'Preview'), frame),
    ),
    addresses(context, account),
    context.isOperator ? terms(context, account) : null,
  );
}

/**
 * Saves the changed settings. Other pages then show the new settings too.
 * @param {Context} context
 * @param {Account} account the account as loaded
 * @param {Record<string, unknown>} body
 */
async function save(context, account, body) {
  await operator('PATCH', context.path('').replace(/\/$/, ''), changedFields(account, body));
  await context.refresh();
  toast('The settings are saved.');
}

/** @param {Context} context @param {Account} account @param {any[]} coins */
function checkoutForm(context, account, coins) {
  const known = languages.some(([code]) => code === account.checkoutLang);
  return form({
    label: 'Checkout',
    fields: [
      { name: 'name', label: 'Name', value: account.name, required: true, hint: 'Customers read it.' },
      {
        name: 'logoUrl',
        label: 'Logo',
        type: 'url',
        value: account.branding.logoUrl,
        hint: 'The https address of a picture; empty: none.',
      },
      { name: 'color', label: 'Color', value: account.branding.color, hint: 'Like #1a56db; empty: the usual one.' },
      {
        name: 'checkoutLang',
        label: 'Language',
        type: 'select',
        value: account.checkoutLang,
        options: known ? languages : [[account.checkoutLang, account.checkoutLang], ...languages],
      },
      {
        name: 'ttlSeconds',
        label: 'Seconds to pay',
        inputmode: 'numeric',
        value: String(account.ttlSeconds),
        required: true,
        hint: '60 to 86400, where an invoice says nothing.',
      },
      {
        name: 'successUrl',
        label: 'Where customers go after paying',
        value: account.successUrl,
        hint: 'Where an invoice says nothing.',
      },
      { name: 'cancelUrl', label: 'Where customers go who give up', value: account.cancelUrl },
      {
        name: 'allowedOrigins',
        label: 'Sites that may use the public keys and show the checkout',
        type: 'textarea',
        rows: 3,
        value: account.allowedOrigins.join('\n'),
        hint: 'One a line, like https://shop.example; empty: all.',
      },
      coins.length > 0
        ? {
            name: 'payoutAsset',
            label: 'Coin of payouts',
            type: 'select',
            value: account.payoutAsset,
            options: coins.map((one) => [one.asset, `${one.name} (${one.asset})`]),
          }
        : {
            name: 'payoutAsset',
            label: 'Coin of payouts',
            value: account.payoutAsset,
            hint: 'Its id, like BTC or USDC-BASE.',
          },
    ],
    submit: 'Save',
    send: async (values) => {
      await save(context, account, {
        name: values.name,
        ttlSeconds: wholeNumber(values, 'ttlSeconds'),
        successUrl: values.successUrl || null,
        cancelUrl: values.cancelUrl || null,
        checkoutLang: values.checkoutLang,
        payoutAsset: values.payoutAsset,
        branding: { color: values.color || null, logoUrl: values.logoUrl || null },
        allowedOrigins: values.allowedOrigins.split(/\s+/).filter(Boolean),
      });
    },
  });
}

/** Shows the checkout of the newest test invoice. @param {Context} context @param {HTMLElement} frame */
async function preview(context, frame) {
  const [newest] = (await operator('GET', context.path('invoices'), undefined, { mode: 'test', limit: 1 })).data;
  if (!newest) {
    fill(
      frame,
      empty(
        'Nothing to show yet',
        'The preview is the checkout of the newest test invoice, and there is none.',
        h('a', { class: 'button', href: '#/start' }, 'Make a test invoice'),
      ),
    );
    return;
  }
  fill(
    frame,
    h(
      'p',
      { class: 'quiet' },
      'The checkout of the newest test invoice, as customers see it now. Saving shows it anew.',
    ),
    h('iframe', { title: 'Preview of the checkout', src: newest.checkoutUrl }),
  );
}

/** @param {Context} context @param {Account} account */
function addresses(context, account) {
  const remove = async (/** @type {string} */ chain) => {
    if (
      !(await confirmAction(
        `Forget the address on ${words(chain)}?`,
        'Payouts on this chain cannot be made until another is set.',
        'Forget it',
      ))
    )
      return false;
    await operator('DELETE', context.path(`payout-addresses/${chain}`));
    return true;
  };
  const set = () => h('button', { type: 'button', onclick: () => setAddress(context) }, 'Set an address…');
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'payout' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'payout' }, 'Where payouts go'),
      account.payoutAddresses.length > 0 ? set() : null,
    ),
    account.payoutAddresses.length === 0
      ? empty(
          'No payout address yet',
          `Payouts are sent as ${account.payoutAsset}: set an address on its chain.`,
          set(),
        )
      : table(
          'Payout addresses',
          [
            { name: 'Chain', cell: (one) => words(one.chain) },
            {
              name: 'Address',
              cell: (one) =>
                h(
                  'div',
                  { class: 'row' },
                  h('span', { class: 'mono' }, one.address),
                  copyButton(one.address, 'address'),
                ),
            },
            { name: 'Set', cell: (one) => localTime(one.changedAt) },
            { name: 'Used from', cell: (one) => localTime(one.usableAt) },
            {
              name: '',
              cell: (one) =>
                h(
                  'div',
                  { class: 'row' },
                  actionButton(context, 'Forget…', 'It is forgotten.', () => remove(one.chain), 'small danger'),
                ),
            },
          ],
          account.payoutAddresses,
        ).element,
  );
}

const chains = ['bitcoin', 'litecoin', 'dogecoin', 'ethereum', 'base', 'polygon', 'tron', 'solana'];

/** @param {Context} context */
async function setAddress(context) {
  const made = await ask('Set a payout address', (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'Compare it with your wallet, every character: what is sent to a wrong address is lost. For your safety ' +
        'payouts wait 24 hours after a change.',
    ),
    form({
      fields: [
        { name: 'chain', label: 'Chain', type: 'select', options: chains.map((one) => [one, words(one)]) },
        { name: 'address', label: 'Address', required: true },
      ],
      submit: 'Set it',
      cancel: () => close(null),
      send: async ({ chain, address }) =>
        close(await operator('PUT', context.path(`payout-addresses/${chain}`), { address })),
    }),
  ]);
  if (!made) return;
  toast('The address is set. Payouts wait 24 hours.');
  await context.reload();
}

/** Creates the form of the settings that only operators change. @param {Context} context @param {Account} account */
function terms(context, account) {
  const numbers = /** @type {[string, string, number][]} */ ([
    ['feeBps', 'Fee, in basis points (100 are 1 %)', account.feeBps],
    ['underBps', 'How much less still counts as paid, in basis points', account.underBps],
    ['overBps', 'How much more is not overpaid, in basis points', account.overBps],
    ['rateSpreadBps', 'How much lower its rates are, in basis points', account.rateSpreadBps],
    ['serverQuota', 'Servers at once', account.serverQuota],
  ]);
  const amounts = /** @type {[string, string, string][]} */ ([
    ['maxInvoiceAmount', 'The largest invoice', account.maxInvoiceAmount],
    ['payoutMinimum', 'The smallest payout', account.payoutMinimum],
    ['payoutDailyLimit', 'The most paid out in 24 hours', account.payoutDailyLimit],
  ]);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'terms' },
    h('h2', { id: 'terms' }, 'Terms'),
    h('p', { class: 'quiet' }, 'Only operators change these. What was quoted stays as it was.'),
    form({
      label: 'Terms',
      fields: [
        ...numbers.map(([name, label, value]) => ({
          name,
          label,
          value: String(value),
          inputmode: 'numeric',
          required: true,
        })),
        ...amounts.map(([name, label, value]) => ({ name, label, value, inputmode: 'decimal', required: true })),
        {
          name: 'signerLimit',
          label: 'The most that the signer is given in 24 hours',
          value: account.signerLimit,
          inputmode: 'decimal',
          hint: 'In each currency; what is above it is sent by hand. 0: nothing. Empty: no limit.',
        },
        {
          name: 'customersEnabled',
          label: 'Customers may have addresses of their own',
          type: 'checkbox',
          value: account.customersEnabled,
        },
        {
          name: 'settlementEnabled',
          label: 'Settlement is enabled (kept and shown only)',
          type: 'checkbox',
          value: account.settlementEnabled,
        },
      ],
      submit: 'Save the terms',
      send: async (values) => {
        for (const [name] of numbers) values[name] = wholeNumber(values, name);
        values.signerLimit ||= null;
        await save(context, account, values);
      },
    }),
  );
}
