// Help for finding the extended public key in wallet programs. Some programs show none.

import { fill, h } from '../shared/dom.js';

/**
 * A place of the key: the wallet program and two lines.
 * @typedef {[string, string, string]} Place
 */

/** @type {Place[]} */
const bitcoin = [
  [
    'Electrum',
    'Open the menu Wallet, then Information, and copy “Master Public Key” (zpub).',
    'Compare with the tab Addresses: show it by View, then Show Addresses.',
  ],
  [
    'Sparrow',
    'Open Settings of the wallet and copy the xpub under Keystores; choose “Native SegWit” here, too.',
    'Compare with the tab Addresses, under Receive Addresses.',
  ],
  [
    'BlueWallet',
    'Open the wallet, then its settings (⋯), then “Show Wallet XPUB” (zpub for HD SegWit).',
    'Compare with “Show addresses” in the same settings. A Lightning wallet has no such key.',
  ],
  [
    'Ledger',
    'Open the account in Ledger’s app, then the wrench, then Advanced, and copy “xpub”.',
    'Choose the script of the account here: “Native SegWit”, unless it is an older one. Compare with Receive.',
  ],
  [
    'Trezor',
    'Open the account in Trezor Suite, then Account details, then “Show public key”.',
    'Compare with the tab Receive, which lists the first addresses.',
  ],
];

/** @type {Place[]} */
const litecoin = [
  [
    'Electrum',
    'Electrum itself knows bitcoin only. Electrum-LTC is its litecoin edition: Wallet, then Information.',
    'Compare with the tab Addresses: show it by View, then Show Addresses.',
  ],
  ['Sparrow', 'Sparrow knows bitcoin only.', 'Use another program of this list for litecoin.'],
  ['BlueWallet', 'BlueWallet knows bitcoin only.', 'Use another program of this list for litecoin.'],
  [
    'Ledger',
    'Open the litecoin account in Ledger’s app, then the wrench, then Advanced, and copy “xpub” (or Ltub).',
    'Choose the script of the account here: “Native SegWit”, unless it is an older one. Compare with Receive.',
  ],
  [
    'Trezor',
    'Open the litecoin account in Trezor Suite, then Account details, then “Show public key” (zpub).',
    'Compare with the tab Receive, which lists the first addresses.',
  ],
];

const WITHOUT_KEY =
  'MetaMask, Rabby, Trust Wallet, Coinbase Wallet, Phantom, TronLink, Exodus, Ledger’s app and Trezor Suite show no ' +
  'extended public key for these chains.';

/** Shows where the key of a chain is found. @param {HTMLElement} place @param {string} chain */
export function fillHelp(place, chain) {
  const lists = { bitcoin, litecoin };
  const list = chain === 'bitcoin' || chain === 'litecoin' ? lists[chain] : null;
  fill(
    place,
    h(
      'details',
      null,
      h('summary', null, 'Where to find this key'),
      h(
        'div',
        { class: 'stack' },
        list ? list.map((one) => programHelp(one)) : derivedHelp(chain),
        h('p', { class: 'quiet' }, 'Menus may have other names in your version of the program.'),
      ),
    ),
  );
}

/** @param {Place} place */
function programHelp([name, where, compare]) {
  return h('div', null, h('strong', null, name), h('div', null, where), h('div', { class: 'quiet' }, compare));
}

/** @param {string} chain */
function derivedHelp(chain) {
  if (chain === 'dogecoin') {
    return h('p', null, 'Open the dogecoin account in Ledger’s app, then the wrench, then Advanced, and copy “xpub” (dgub).');
  }
  const path = chain === 'tron' ? 'm/44’/195’/0’' : 'm/44’/60’/0’';
  return [
    h('p', null, h('strong', null, WITHOUT_KEY)),
    h(
      'p',
      null,
      `Derive the key at ${path} on a computer without a network, from a new phrase that you keep for this shop. `,
      h('a', { href: 'docs/wallets#the-key-for-evm-and-tron', target: '_blank', rel: 'noopener' }, 'How to derive it'),
      '.',
    ),
    h('p', null, 'Open the same phrase in your wallet program to compare the addresses, and to spend what came in.'),
  ];
}
