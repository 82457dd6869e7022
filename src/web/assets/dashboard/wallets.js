// Wallets that live addresses are derived from, pools of imported addresses, and the operator's own addresses.

import { runBusy, form, operator, problemText } from '../shared/api.js';
import { ask, badge, empty, facts, fill, h, table, toast, localTime, words } from '../shared/dom.js';
import { actionButton, download, head } from './list.js';
import { wholeNumber } from './values.js';
import { confirmAction } from './webhooks.js';
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
    head('Wallets', 'Live addresses are derived from an extended public key. It can receive, and never spend.', add()),
    wallets.data.length === 0
      ? empty(
          'No wallet yet',
          'Without one, live payments need imported addresses. Your keys stay in your own wallet: Coffer is given ' +
            'the public one only.',
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
            name: 'Is',
            cell: (one) =>
              one.free + one.assigned === 0
                ? badge('not in use')
                : one.free < POOL_LOW
                  ? badge('low', 'warn')
                  : badge('fine', 'good'),
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
        h('button', { type: 'button', onclick: () => addOwn(context) }, 'Declare an address…'),
      ),
      own.data.length === 0
        ? h(
            'p',
            { class: 'quiet' },
            'None is declared. What an own address sends is no payment: say one that sends gas for a sweep.',
          )
        : table(
            'Own addresses',
            [
              { name: 'Chain', cell: (/** @type {Schemas["OwnAddress"]} */ one) => words(one.chain) },
              { name: 'Address', cell: (one) => h('span', { class: 'mono' }, one.address) },
              { name: 'Declared', cell: (one) => localTime(one.createdAt) },
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
        'It hands out no more addresses. It stays watched: what comes to its addresses is booked. Adding it again ' +
          'lets it go on.',
        'Retire it',
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
        h('span', null, h('strong', null, one.gapLimit), ' – set this in your wallet, so that it sees all payments'),
      ],
      ['Added', localTime(one.addedAt)],
      ['Retired', one.retiredAt ? localTime(one.retiredAt) : null],
    ),
    h(
      'div',
      null,
      h('h3', null, 'First addresses'),
      h('p', { class: 'quiet' }, 'They must be the first ones that your wallet shows.'),
      h(
        'ol',
        null,
        one.addresses.map((address) => h('li', { class: 'mono' }, address)),
      ),
    ),
    h(
      'div',
      { class: 'row' },
      download(`wallets/${one.id}/addresses.csv`, 'Addresses'),
      download(`wallets/${one.id}/addresses.csv?funded=true`, 'Funded addresses'),
      one.retiredAt ? null : actionButton(context, 'Retire…', 'The wallet is retired.', retire, 'small danger'),
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
          label: 'Extended public key, or a descriptor',
          type: 'textarea',
          rows: 4,
          required: true,
          hint: 'xpub, ypub, zpub… from your wallet. Never a private key, never the recovery phrase.',
        },
        {
          name: 'script',
          label: 'What its outputs hold',
          type: 'select',
          options: [
            ['', 'The key tells it'],
            ['wpkh', 'Native SegWit (wpkh)'],
            ['sh-wpkh', 'SegWit in P2SH (sh-wpkh)'],
            ['tr', 'Taproot (tr)'],
            ['pkh', 'Legacy (pkh)'],
          ],
        },
        {
          name: 'next',
          label: 'Begin with index',
          inputmode: 'numeric',
          hint: 'Empty: 0. Where the key was in use elsewhere, the first that is not.',
        },
        { name: 'name', label: 'Name', hint: 'What you call it.' },
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
  toast('The wallet is added.');
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
      'Add the wallet only if they are the same: otherwise you could not spend what is paid.',
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
      ['Known as', checked.wallet],
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
      'Addresses of your own wallet, each of which is given to one invoice. All are added, or none where one is wrong.',
    ),
    form({
      fields: [
        { name: 'pool', label: 'Pool', type: 'select', options: pools.map(({ pool }) => [pool, words(pool)]) },
        {
          name: 'addresses',
          label: 'Addresses, one a line',
          type: 'textarea',
          rows: 8,
          required: true,
          hint: '1000 at most at a time.',
        },
      ],
      submit: 'Import them',
      cancel: () => close(null),
      send: async ({ pool, addresses }) => {
        refuseSecrets({ addresses });
        const list = addresses.split(/\s+/).filter(Boolean);
        close(await operator('POST', `pools/${pool}/addresses`, { addresses: list }));
      },
    }),
  ]);
  if (!made) return;
  toast(`${made.added} were added, ${made.duplicates} were known; ${made.free} are free now.`);
  await context.reload();
}

/** @param {Context} context */
async function addOwn(context) {
  const made = await ask('Declare an own address', (/** @type {(answer: any) => void} */ close) => [
    h('p', null, 'What this address sends is never taken for a payment.'),
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
      submit: 'Declare it',
      cancel: () => close(null),
      send: async (values) => {
        refuseSecrets({ address: values.address });
        close(await operator('POST', 'own-addresses', values));
      },
    }),
  ]);
  if (!made) return;
  toast('It is declared.');
  await context.reload();
}
