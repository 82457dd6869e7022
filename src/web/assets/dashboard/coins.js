// Coins: which are on offer, their rates, required confirmations and network fees.

import { form, operator } from '../shared/api.js';
import { ask, badge, h, money, table, toast, localTime, words } from '../shared/dom.js';
import { actionButton, confirmAction, head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Coin"]} Coin */

/** @param {Context} context */
export async function show(context) {
  const [coins, rates, settings] = await Promise.all([
    operator('GET', 'coins'),
    operator('GET', 'rates'),
    operator('GET', 'settings'),
  ]);
  const told = /** @type {Schemas["Rates"]} */ (rates);
  const costs = (/** @type {Coin} */ coin) =>
    told.data.filter((one) => one.coin === coin.symbol || one.coin === coin.asset);
  const switched = async (/** @type {Coin} */ one) => {
    if (
      one.enabled &&
      !(await confirmAction(
        `Turn off ${one.name}?`,
        'Customers can no longer choose it. Existing quotes stay payable.',
        'Turn off coin',
      ))
    )
      return false;
    return operator('PUT', `coins/${one.asset}`, { enabled: !one.enabled });
  };
  return h(
    'div',
    { class: 'page' },
    head('Coins', 'Coins that customers can pay with: rate in live mode, required confirmations and network fee.'),
    table(
      'Coins',
      [
        {
          name: 'Coin',
          cell: (/** @type {Coin} */ one) =>
            h('div', null, one.name, h('div', { class: 'quiet' }, `${one.asset} on ${words(one.chain)}`)),
        },
        {
          name: 'Status',
          cell: (one) =>
            one.enabled ? badge('on', 'good') : h('span', null, badge('off'), ' since ', localTime(one.offSince)),
        },
        {
          name: 'Rate',
          cell: (one) =>
            !(told.needed || isFixed(told)) || costs(one).length === 0
              ? 'Not needed'
              : costs(one).map((rate) =>
                  h(
                    'div',
                    null,
                    rate.rate
                      ? `${money(rate.rate.rate, rate.currency)}, ${age(rate.rate)}`
                      : h('span', { class: 'bad' }, `${rate.currency}: ${rate.problem ?? 'no rate'}`),
                  ),
                ),
        },
        { name: 'Confirmations', cell: (one) => tiers(settings.confirmations[one.asset]) },
        { name: 'Network fee', cell: (one) => networkFee(one, settings.networkFees[one.asset]) },
        {
          name: '',
          cell: (one) =>
            h(
              'div',
              { class: 'row' },
              h(
                'button',
                {
                  type: 'button',
                  class: 'small',
                  onclick: () => depth(context, one, settings.confirmations[one.asset]),
                },
                'Set confirmations…',
              ),
              h(
                'button',
                {
                  type: 'button',
                  class: 'small',
                  onclick: () => setNetworkFee(context, one, settings.networkFees[one.asset]),
                },
                'Set network fee…',
              ),
              actionButton(
                context,
                one.enabled ? 'Turn off coin…' : 'Turn on coin',
                one.enabled ? 'Coin turned off.' : 'Coin turned on.',
                () => switched(one),
                one.enabled ? 'small danger' : 'small',
              ),
            ),
        },
      ],
      /** @type {Coin[]} */ (coins.data),
    ).element,
    sources(told),
  );
}

/** Returns true if the rates are fixed, as in a sandbox. @param {Schemas["Rates"]} told */
function isFixed(told) {
  return told.data.some((one) => one.newest?.source === 'fixed');
}

/** Returns the age of a rate. A fixed rate has none. @param {{ source: string, ageSeconds: number }} rate */
function age({ source, ageSeconds }) {
  return source === 'fixed' ? 'fixed' : `${ageSeconds} s old`;
}

/** @param {Schemas["ConfirmationTiers"] | undefined} list */
function tiers(list) {
  if (!list) return '–';
  return list.map((one) =>
    h(
      'div',
      null,
      one.below ? `${one.confirmations} below ${one.below}` : `${one.confirmations}${list.length > 1 ? ' above' : ''}`,
    ),
  );
}

/** @param {Coin} coin @param {Schemas["NetworkFee"] | undefined} fee */
function networkFee(coin, fee) {
  if (!fee) return '–';
  const from = fee.source === 'setting' ? 'set' : 'default';
  return h('div', null, money(fee.amount, coin.symbol), h('div', { class: 'quiet' }, from));
}

/** @param {Context} context @param {Coin} coin @param {Schemas["NetworkFee"] | undefined} now */
async function setNetworkFee(context, coin, now) {
  const made = await ask(`Network fee of ${coin.name}`, (/** @type {(answer: boolean) => void} */ close) => [
    h(
      'p',
      null,
      'Fee of a payout or a refund when the node of the chain gives no estimate. It is deducted from the amount sent.',
    ),
    form({
      fields: [
        {
          name: 'networkFees',
          label: `Network fee in ${coin.symbol}`,
          inputmode: 'decimal',
          value: now?.source === 'setting' ? now.amount : '',
          hint: 'For example 0.0002. Empty: the default fee.',
        },
      ],
      submit: 'Save network fee',
      cancel: () => close(false),
      send: async (values) => {
        await operator('PUT', 'settings', { networkFees: { [coin.asset]: values.networkFees || null } });
        close(true);
      },
    }),
  ]);
  if (!made) return;
  toast('Network fee saved.');
  await context.reload();
}

/** @param {Schemas["Rates"]} told */
function sources(told) {
  if (isFixed(told)) return h('p', { class: 'quiet' }, 'Rates are fixed in a sandbox. No rate source is used.');
  if (told.sources.length === 0)
    return h(
      'p',
      { class: 'quiet' },
      'No rate sources in use yet. Coffer requests rates once there is a live key or a live payment link.',
    );
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'sources' },
    h('h2', { id: 'sources' }, 'Rate sources'),
    table(
      'Rate sources',
      [
        { name: 'Source', cell: (one) => words(one.source) },
        { name: 'Last request', cell: (one) => localTime(one.triedAt) },
        { name: 'Last rate', cell: (one) => localTime(one.toldAt) },
        { name: 'Problem', cell: (one) => one.problem ?? 'None' },
      ],
      told.sources,
    ).element,
  );
}

/** @param {Context} context @param {Coin} coin @param {Schemas["ConfirmationTiers"] | undefined} now */
async function depth(context, coin, now) {
  const text = (now ?? [])
    .map((one) => (one.below ? `${one.below}: ${one.confirmations}` : `${one.confirmations}`))
    .join('\n');
  const made = await ask(`Confirmations of ${coin.name}`, (/** @type {(answer: boolean) => void} */ close) => [
    h(
      'p',
      null,
      'Confirmations that a payment needs before it counts as paid. With fewer, customers wait less. If a ' +
        'reorg removes the payment after that, the loss is yours.',
    ),
    form({
      fields: [
        {
          name: 'confirmations',
          label: 'Rules, one on each line',
          type: 'textarea',
          rows: 4,
          value: text,
          hint:
            'For example “100: 1” for payments worth less than 100 in the currency of their invoice, then “3” for ' +
            'all others. “final” waits until the block is final, on chains that have this. Empty: the default.',
        },
      ],
      submit: 'Save confirmations',
      cancel: () => close(false),
      send: async (values) => {
        const rules = values.confirmations
          .split('\n')
          .map((/** @type {string} */ line) => line.trim())
          .filter(Boolean)
          .map((/** @type {string} */ line) => {
            const [below, count] = line.includes(':') ? line.split(':').map((part) => part.trim()) : [undefined, line];
            const confirmations = /^\d+$/.test(count ?? '') ? Number(count) : count;
            return below === undefined ? { confirmations } : { below, confirmations };
          });
        await operator('PUT', 'settings', { confirmations: { [coin.asset]: rules.length > 0 ? rules : null } });
        close(true);
      },
    }),
  ]);
  if (!made) return;
  toast('Confirmations saved.');
  await context.reload();
}
