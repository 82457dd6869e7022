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
        `Switch ${one.name} off?`,
        'Nobody is offered it any more. What was quoted stays payable.',
        'Switch it off',
      ))
    )
      return false;
    return operator('PUT', `coins/${one.asset}`, { enabled: !one.enabled });
  };
  return h(
    'div',
    { class: 'page' },
    head('Coins', 'What customers may pay in, what one costs in live mode, and how deep payments have to lie.'),
    table(
      'Coins',
      [
        {
          name: 'Coin',
          cell: (/** @type {Coin} */ one) =>
            h('div', null, one.name, h('div', { class: 'quiet' }, `${one.asset} on ${words(one.chain)}`)),
        },
        {
          name: 'Is',
          cell: (one) =>
            one.enabled ? badge('on', 'good') : h('span', null, badge('off'), ' since ', localTime(one.offSince)),
        },
        {
          name: 'Costs',
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
                'Confirmations…',
              ),
              h(
                'button',
                {
                  type: 'button',
                  class: 'small',
                  onclick: () => setNetworkFee(context, one, settings.networkFees[one.asset]),
                },
                'Network fee…',
              ),
              actionButton(
                context,
                one.enabled ? 'Switch off…' : 'Switch on',
                one.enabled ? 'It is off.' : 'It is on.',
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
  const from = fee.source === 'setting' ? 'set' : 'built in';
  return h('div', null, money(fee.amount, coin.symbol), h('div', { class: 'quiet' }, from));
}

/** @param {Context} context @param {Coin} coin @param {Schemas["NetworkFee"] | undefined} now */
async function setNetworkFee(context, coin, now) {
  const made = await ask(`Network fee of ${coin.name}`, (/** @type {(answer: boolean) => void} */ close) => [
    h(
      'p',
      null,
      'What sending a payout or a refund costs where the chain’s node tells no estimate. It is taken out of what is ' +
        'sent.',
    ),
    form({
      fields: [
        {
          name: 'networkFees',
          label: `Network fee in ${coin.symbol}`,
          inputmode: 'decimal',
          value: now?.source === 'setting' ? now.amount : '',
          hint: 'In whole coins, like 0.0002. Empty: the built-in fee.',
        },
      ],
      submit: 'Save',
      cancel: () => close(false),
      send: async (values) => {
        await operator('PUT', 'settings', { networkFees: { [coin.asset]: values.networkFees || null } });
        close(true);
      },
    }),
  ]);
  if (!made) return;
  toast('The network fee is saved.');
  await context.reload();
}

/** @param {Schemas["Rates"]} told */
function sources(told) {
  if (isFixed(told)) return h('p', { class: 'quiet' }, 'Rates are fixed in a sandbox. No source of rates is asked.');
  if (told.sources.length === 0)
    return h('p', { class: 'quiet' }, 'No source of rates is asked: none is set, or none is needed.');
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'sources' },
    h('h2', { id: 'sources' }, 'Where rates come from'),
    table(
      'Sources of rates',
      [
        { name: 'Source', cell: (one) => words(one.source) },
        { name: 'Asked', cell: (one) => localTime(one.triedAt) },
        { name: 'Told', cell: (one) => localTime(one.toldAt) },
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
      'How many confirmations a payment needs before it counts. Fewer is faster; what a chain takes back after that ' +
        'is your loss.',
    ),
    form({
      fields: [
        {
          name: 'confirmations',
          label: 'One rule a line',
          type: 'textarea',
          rows: 4,
          value: text,
          hint:
            'Like “100: 1” for what is worth less than 100 in its invoice’s currency, then “3” for the rest; ' +
            '“final” where the chain has that. Empty: its chain’s own.',
        },
      ],
      submit: 'Save',
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
  toast('The confirmations are saved.');
  await context.reload();
}
