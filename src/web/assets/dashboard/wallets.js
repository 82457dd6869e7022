// Wallets that live addresses are derived from, pools of imported addresses, and the operator's own addresses.

import { runBusy, form, operator, problemText } from '../shared/api.js';
import { ask, badge, empty, facts, fill, h, table, toast, localTime, words } from '../shared/dom.js';
import { actionButton, confirmAction, download, head } from './list.js';
import { wholeNumber } from './values.js';
import { POOL_LOW } from './home.js';
import { fillHelp } from './wallet_help.js';
import { refuseSecrets } from './wallet_secret.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Wallet"]} Wallet */

/** @param {Context} context */
export async function show(context) {
  const [wallets, pools, own] = await Promise.all([
    operator('GET', 'wallets'),
    operator('GET', 'pools'),
    operator('GET', 'own-addresses'),
  ]);
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => addWallet(context) }, 'Add wallet…');
  return h(
    'div',
    { class: 'page' },
    head(
      'Wallets',
      'Addresses for live payments are derived from an extended public key, which can receive but never spend.',
      add(),
    ),
    wallets.data.length === 0
      ? empty(
          'No wallets yet',
          'Add the extended public key of your wallet, or import addresses below. Your private keys stay in your ' +
            'wallet.',
          add(),
        )
      : h(
          'div',
          { class: 'halves' },
          wallets.data.map((/** @type {Wallet} */ one) => card(context, one)),
        ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'pools' },
      h(
        'div',
        { class: 'row between' },
        h('h2', { id: 'pools' }, 'Imported addresses'),
        h('button', { type: 'button', onclick: () => importAddresses(context, pools.data) }, 'Import addresses…'),
      ),
      table(
        'Pools',
        [
          { name: 'Pool', cell: (/** @type {Schemas["PoolList"]["data"][number]} */ one) => words(one.pool) },
          { name: 'Free', end: true, cell: (one) => one.free },
          { name: 'Assigned', end: true, cell: (one) => one.assigned },
          { name: 'Retired', end: true, cell: (one) => one.retired },
          {
            name: 'Status',
            cell: (one) =>
              one.free + one.assigned === 0
                ? badge('not in use')
                : one.free < POOL_LOW
                  ? badge('low', 'warn')
                  : badge('enough', 'good'),
          },
        ],
        pools.data,
      ).element,
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'own' },
      h(
        'div',
        { class: 'row between' },
        h('h2', { id: 'own' }, 'Own addresses'),
        h('button', { type: 'button', onclick: () => addOwn(context) }, 'Add own address…'),
      ),
      own.data.length === 0
        ? h(
            'p',
            { class: 'quiet' },
            'No own addresses yet. Add one that sends gas for sweeps: its transactions are not counted as payments.',
          )
        : table(
            'Own addresses',
            [
              { name: 'Chain', cell: (/** @type {Schemas["OwnAddress"]} */ one) => words(one.chain) },
              { name: 'Address', cell: (one) => h('span', { class: 'mono' }, one.address) },
              { name: 'Added', cell: (one) => localTime(one.createdAt) },
            ],
            own.data,
          ).element,
    ),
  );
}

/** @param {Context} context @param {Wallet} one */
function card(context, one) {
  const retire = async () => {
    if (
      !(await confirmAction(
        'Retire this wallet?',
        'New invoices no longer use its addresses. Payments to its existing addresses are still booked. To use it ' +
          'again, add it again.',
        'Retire wallet',
      ))
    )
      return false;
    return operator('POST', `wallets/${one.id}/retire`);
  };
  return h(
    'section',
    { class: 'card', 'aria-label': one.name ?? words(one.chain) },
    h(
      'div',
      { class: 'row between' },
      h('h2', null, one.name ?? words(one.chain)),
      one.problem ? badge('stopped', 'bad') : one.handsOut ? badge('in use', 'good') : badge('retired'),
    ),
    one.problem ? h('p', { class: 'note bad' }, one.problem) : null,
    facts(
      ['Chain', words(one.chain)],
      ['Script', one.script],
      ['Network', one.network],
      ['Next index', one.nextIndex],
      [
        'Gap limit',
        h('span', null, h('strong', null, one.gapLimit), ' – set it in your wallet, so that it finds all payments'),
      ],
      ['Added', localTime(one.addedAt)],
      ['Retired', one.retiredAt ? localTime(one.retiredAt) : null],
    ),
    h(
      'div',
      null,
      h('h3', null, 'First addresses'),
      h('p', { class: 'quiet' }, 'They must match the first addresses in your wallet.'),
      h(
        'ol',
        null,
        one.addresses.map((address) => h('li', { class: 'mono' }, address)),
      ),
    ),
    h(
      'div',
      { class: 'row' },
      download(`wallets/${one.id}/addresses.csv`, 'Download addresses'),
      download(`wallets/${one.id}/addresses.csv?funded=true`, 'Download funded addresses'),
      one.retiredAt ? null : actionButton(context, 'Retire…', 'Wallet retired.', retire, 'small danger'),
    ),
  );
}

/** Asks for an extended public key, shows its addresses, and adds it as a wallet. @param {Context} context */
export async function addWallet(context) {
  const added = await ask('Add wallet', (/** @type {(answer: any) => void} */ close) => {
    const place = h('div', { class: 'stack' });
    const help = h('div');
    const first = form({
      fields: [
        {
          name: 'chain',
          label: 'Chain',
          type: 'select',
          options: ['bitcoin', 'litecoin', 'dogecoin', 'evm', 'tron'].map((one) => [one, words(one)]),
        },
        { element: help },
        {
          name: 'key',
          label: 'Extended public key or descriptor',
          type: 'textarea',
          rows: 4,
          required: true,
          hint: 'From your wallet: xpub, ypub, zpub… Never enter a private key or a recovery phrase.',
        },
        {
          name: 'script',
          label: 'Address type',
          type: 'select',
          options: [
            ['', 'Detect from the key'],
            ['wpkh', 'Native SegWit (wpkh)'],
            ['sh-wpkh', 'SegWit in P2SH (sh-wpkh)'],
            ['tr', 'Taproot (tr)'],
            ['pkh', 'Legacy (pkh)'],
          ],
        },
        {
          name: 'next',
          label: 'First index',
          inputmode: 'numeric',
          hint: 'Default: 0. If the key was used before, the first unused index.',
        },
        { name: 'name', label: 'Name', hint: 'For example “Shop wallet”.' },
      ],
      submit: 'Check key',
      cancel: () => close(null),
      send: async (values) => {
        refuseSecrets({ key: values.key, name: values.name });
        const body = {
          chain: values.chain,
          key: values.key.trim(),
          script: values.script || null,
          next: wholeNumber(values, 'next'),
          name: values.name || null,
        };
        const checked = await operator('POST', 'wallets/check', body);
        fill(
          place,
          compareAddresses(
            checked,
            () => operator('POST', 'wallets', body).then(close),
            () => fill(place, first),
          ),
        );
      },
    });
    const chain = first.querySelector('select');
    const showHelp = () => fillHelp(help, chain?.value ?? '');
    chain?.addEventListener('change', showHelp);
    showHelp();
    place.append(first);
    return place;
  });
  if (!added) return null;
  toast('Wallet added.');
  await context.reload();
  return added;
}

/** @param {Schemas["WalletCheck"]} checked @param {() => Promise<unknown>} add @param {() => void} back */
function compareAddresses(checked, add, back) {
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const button = h('button', { type: 'button', class: 'primary', onclick: run }, 'Add wallet');
  async function run() {
    await runBusy(button, () =>
      add().catch((error) => {
        fill(problem, problemText(error));
        problem.hidden = false;
      }),
    );
  }
  return [
    h(
      'p',
      null,
      h('strong', null, 'Compare these with the first receiving addresses in your wallet. '),
      'Add the wallet only if they are the same. Otherwise you could not spend the payments.',
    ),
    h(
      'ol',
      null,
      checked.addresses.map((address) => h('li', { class: 'mono' }, address)),
    ),
    facts(
      ['Chain', words(checked.chain)],
      ['Script', checked.script],
      ['Network', checked.network],
      ['Next index', checked.nextIndex],
      ['Existing wallet', checked.wallet],
    ),
    problem,
    h('div', { class: 'ends' }, h('button', { type: 'button', onclick: back }, 'Back'), button),
  ];
}

/** @param {Context} context @param {Schemas["PoolList"]["data"]} pools */
async function importAddresses(context, pools) {
  const made = await ask('Import addresses', (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'Each address of your wallet is used for one invoice. If one address is invalid, none is added.',
    ),
    form({
      fields: [
        { name: 'pool', label: 'Pool', type: 'select', options: pools.map(({ pool }) => [pool, words(pool)]) },
        {
          name: 'addresses',
          label: 'Addresses, one per line',
          type: 'textarea',
          rows: 8,
          required: true,
          hint: 'At most 1000.',
        },
      ],
      submit: 'Import addresses',
      cancel: () => close(null),
      send: async ({ pool, addresses }) => {
        refuseSecrets({ addresses });
        const list = addresses.split(/\s+/).filter(Boolean);
        close(await operator('POST', `pools/${pool}/addresses`, { addresses: list }));
      },
    }),
  ]);
  if (!made) return;
  toast(`${made.added} added, ${made.duplicates} already known. ${made.free} free.`);
  await context.reload();
}

/** @param {Context} context */
async function addOwn(context) {
  const made = await ask('Add own address', (/** @type {(answer: any) => void} */ close) => [
    h('p', null, 'Transactions from this address are never counted as payments.'),
    form({
      fields: [
        {
          name: 'chain',
          label: 'Chain',
          type: 'select',
          options: ['bitcoin', 'litecoin', 'dogecoin', 'ethereum', 'base', 'polygon', 'tron', 'solana'].map((one) => [
            one,
            words(one),
          ]),
        },
        { name: 'address', label: 'Address', required: true },
      ],
      submit: 'Add address',
      cancel: () => close(null),
      send: async (values) => {
        refuseSecrets({ address: values.address });
        close(await operator('POST', 'own-addresses', values));
      },
    }),
  ]);
  if (!made) return;
  toast('Own address added.');
  await context.reload();
}
