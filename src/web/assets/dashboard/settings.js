// The settings of an account: checkout with a preview, terms, and payout addresses.

import { form, operator } from '../shared/api.js';
import { ask, copyButton, empty, fill, h, table, toast, localTime, words } from '../shared/dom.js';
import { favoriteChoice } from './favorites.js';
import { actionButton, confirmAction, head } from './list.js';
import { receiptSection } from './receipts.js';
import { changedFields, wholeNumber, windowMinutes, windowSeconds } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["AccountSettings"]} Account */

const languages = /** @type {[string, string][]} */ ([
  ['auto', 'Browser’s language'],
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
      h(
        'div',
        { class: 'stack' },
        h('section', { class: 'card', 'aria-labelledby': 'preview' }, h('h2', { id: 'preview' }, 'Preview'), frame),
        await receiptSection(context),
      ),
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
  const changes = changedFields(account, body);
  for (const name of /** @type {const} */ (['favoriteCoins', 'addressLines'])) {
    // The order of these lists matters.
    if (body[name] && JSON.stringify(body[name]) !== JSON.stringify(account[name])) changes[name] = body[name];
  }
  await operator('PATCH', context.path('').replace(/\/$/, ''), changes);
  await context.refresh();
  toast('Settings saved.');
}

/** @param {Context} context @param {Account} account @param {any[]} coins all coins, or none for a merchant user */
function checkoutForm(context, account, coins) {
  const known = languages.some(([code]) => code === account.checkoutLang);
  const minutes = windowMinutes(account.ttlSeconds);
  const favorites = coins.length > 0 ? favoriteChoice(coins, account.favoriteCoins) : null;
  return form({
    label: 'Checkout',
    fields: [
      {
        legend: 'Shop',
        fields: [
          {
            name: 'name',
            label: 'Name',
            value: account.name,
            required: true,
            hint: 'Shown on the checkout and on receipts.',
          },
          {
            name: 'logoUrl',
            label: 'Logo',
            type: 'url',
            value: account.branding.logoUrl,
            hint: 'The https address of a picture. Leave empty for none.',
          },
          {
            name: 'color',
            label: 'Color',
            value: account.branding.color,
            hint: 'For example #1a56db. Leave empty for the default.',
          },
          {
            name: 'checkoutLang',
            label: 'Language',
            type: 'select',
            value: account.checkoutLang,
            options: known ? languages : [[account.checkoutLang, account.checkoutLang], ...languages],
          },
          {
            name: 'addressLines',
            label: 'Receipt lines',
            type: 'textarea',
            rows: 4,
            value: account.addressLines.join('\n'),
            hint: 'Shown below the name on receipts: at most 8 lines, for example an address and a tax number.',
          },
        ],
      },
      {
        legend: 'Payment',
        fields: [
          {
            name: 'ttlSeconds',
            label: 'Payment window, in minutes',
            inputmode: 'numeric',
            value: minutes,
            required: true,
            hint: '1 to 1440. Used for invoices without their own.',
          },
          favorites ?? {
            name: 'favoriteCoins',
            label: 'Favorite coins',
            type: 'textarea',
            rows: 3,
            value: account.favoriteCoins.join('\n'),
            hint: 'Listed first on the checkout. One id a line, in order, for example USDC-BASE.',
          },
          coins.length > 0
            ? {
                name: 'payoutAsset',
                label: 'Payout coin',
                type: 'select',
                value: account.payoutAsset,
                options: coins.map((one) => [one.asset, `${one.name} (${one.asset})`]),
              }
            : {
                name: 'payoutAsset',
                label: 'Payout coin',
                value: account.payoutAsset,
                hint: 'The id of a coin, for example BTC or USDC-BASE.',
              },
        ],
      },
      {
        legend: 'Website',
        fields: [
          {
            name: 'successUrl',
            label: 'Success URL',
            value: account.successUrl,
            hint: 'Customers go here after paying. Used for invoices without their own.',
          },
          {
            name: 'cancelUrl',
            label: 'Cancel URL',
            value: account.cancelUrl,
            hint: 'Customers go here if they do not pay. Used for invoices without their own.',
          },
          {
            name: 'allowedOrigins',
            label: 'Allowed origins',
            type: 'textarea',
            rows: 3,
            value: account.allowedOrigins.join('\n'),
            hint: 'Sites that may show the checkout. One a line, for example https://shop.example. Leave empty for all.',
          },
        ],
      },
    ],
    submit: 'Save settings',
    send: async (values) => {
      await save(context, account, {
        name: values.name,
        // A window that was not edited keeps its seconds.
        ttlSeconds: values.ttlSeconds === minutes ? account.ttlSeconds : windowSeconds(values, 'ttlSeconds'),
        successUrl: values.successUrl || null,
        cancelUrl: values.cancelUrl || null,
        checkoutLang: values.checkoutLang,
        payoutAsset: values.payoutAsset,
        branding: { color: values.color || null, logoUrl: values.logoUrl || null },
        allowedOrigins: values.allowedOrigins.split(/\s+/).filter(Boolean),
        favoriteCoins: favorites?.ids() ?? values.favoriteCoins.toUpperCase().split(/[\s,]+/).filter(Boolean),
        addressLines: values.addressLines.split('\n').map((/** @type {string} */ line) => line.trim()).filter(Boolean),
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
        'No preview yet',
        'The checkout of the newest test invoice appears here. Create a test invoice to begin.',
        h('a', { class: 'button', href: '#/start' }, 'Create test invoice'),
      ),
    );
    return;
  }
  fill(
    frame,
    h(
      'p',
      { class: 'quiet' },
      'The checkout of the newest test invoice. It updates when you save.',
    ),
    h('iframe', { title: 'Preview of the checkout', src: newest.checkoutUrl }),
  );
}

/** @param {Context} context @param {Account} account */
function addresses(context, account) {
  const remove = async (/** @type {string} */ chain) => {
    if (
      !(await confirmAction(
        `Remove the address on ${words(chain)}?`,
        'Payouts on this chain stop until you set another address.',
        'Remove address',
      ))
    )
      return false;
    await operator('DELETE', context.path(`payout-addresses/${chain}`));
    return true;
  };
  const set = () => h('button', { type: 'button', onclick: () => setAddress(context) }, 'Set address…');
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'payout' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'payout' }, 'Payout addresses'),
      account.payoutAddresses.length > 0 ? set() : null,
    ),
    account.payoutAddresses.length === 0
      ? empty(
          'No payout addresses yet',
          `Payouts are sent in ${account.payoutAsset}. Set an address on its chain to begin.`,
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
            { name: 'Changed', cell: (one) => localTime(one.changedAt) },
            { name: 'Usable from', cell: (one) => localTime(one.usableAt) },
            {
              name: '',
              cell: (one) =>
                h(
                  'div',
                  { class: 'row' },
                  actionButton(context, 'Remove…', 'Address removed.', () => remove(one.chain), 'small danger'),
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
  const made = await ask('Set payout address', (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'Compare every character with your wallet: payouts to a wrong address are lost. ' +
        'Payouts to a new address start after 24 hours.',
    ),
    form({
      fields: [
        { name: 'chain', label: 'Chain', type: 'select', options: chains.map((one) => [one, words(one)]) },
        { name: 'address', label: 'Address', required: true },
      ],
      submit: 'Set address',
      cancel: () => close(null),
      send: async ({ chain, address }) =>
        close(await operator('PUT', context.path(`payout-addresses/${chain}`), { address })),
    }),
  ]);
  if (!made) return;
  toast('Address set. Payouts to it start in 24 hours.');
  await context.reload();
}

/** Creates the form of the settings that only operators change. @param {Context} context @param {Account} account */
function terms(context, account) {
  const numbers = /** @type {[string, string, number][]} */ ([
    ['feeBps', 'Fee, in basis points (100 = 1 %)', account.feeBps],
    ['underBps', 'Underpayment tolerance, in basis points', account.underBps],
    ['overBps', 'Overpayment tolerance, in basis points', account.overBps],
    ['rateSpreadBps', 'Rate spread, in basis points', account.rateSpreadBps],
    ['serverQuota', 'Server quota', account.serverQuota],
  ]);
  const amounts = /** @type {[string, string, string][]} */ ([
    ['maxInvoiceAmount', 'Maximum invoice amount', account.maxInvoiceAmount],
    ['payoutMinimum', 'Minimum payout', account.payoutMinimum],
    ['payoutDailyLimit', 'Payout limit in 24 hours', account.payoutDailyLimit],
  ]);
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'terms' },
    h('h2', { id: 'terms' }, 'Terms'),
    h('p', { class: 'quiet' }, 'Only operators can change these. Existing quotes stay as they are.'),
    form({
      label: 'Terms',
      class: 'wide',
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
          label: 'Signer limit in 24 hours',
          value: account.signerLimit,
          inputmode: 'decimal',
          hint: 'In each currency. Larger transfers are sent by hand. 0 sends nothing, empty sets no limit.',
        },
        {
          name: 'customersEnabled',
          label: 'Customer addresses enabled',
          type: 'checkbox',
          value: account.customersEnabled,
        },
        {
          name: 'settlementEnabled',
          label: 'Settlement enabled (stored and shown only)',
          type: 'checkbox',
          value: account.settlementEnabled,
        },
      ],
      submit: 'Save terms',
      send: async (values) => {
        for (const [name] of numbers) values[name] = wholeNumber(values, name);
        values.signerLimit ||= null;
        await save(context, account, values);
      },
    }),
  );
}
