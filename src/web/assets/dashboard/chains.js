// Chains: how far each has been read, its problems, and claims of payments that a node does not report.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, facts, h, table, toast, localTime, words } from '../shared/dom.js';
import { nodeSection } from './chain_nodes.js';
import { head, txLink } from './list.js';
import { wholeNumber } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["ChainList"]["data"][number]} Chain */

/** @param {Context} context */
export async function show(context) {
  const [found, nodes] = await Promise.all([operator('GET', 'chains'), operator('GET', 'chain-nodes')]);
  const chains = /** @type {Chain[]} */ (found.data);
  return h(
    'div',
    { class: 'page' },
    head(
      'Chains',
      'The chains that have a node, and how far each has been read.',
      h('button', { type: 'button', onclick: () => context.reload() }, 'Look again'),
    ),
    chains.length === 0
      ? empty(
          'No chain has a node',
          nodes.data.length === 0
            ? 'Live payments are seen by nodes. A sandbox simulates them.'
            : 'Live payments are seen by nodes: connect a chain below. Test payments need none.',
          h('a', { class: 'button', href: 'docs/chains' }, 'How to take real money'),
        )
      : h(
          'div',
          { class: 'halves' },
          chains.map((one) => card(context, one)),
        ),
    nodeSection(context, nodes.data),
  );
}

/** @param {Context} context @param {Chain} one */
function card(context, one) {
  const claims = h('div', { class: 'stack' });
  const showClaims = async () => {
    const list = (await operator('GET', `chains/${one.chain}/claims`, undefined, { limit: 50 })).data;
    claims.replaceChildren(
      list.length === 0
        ? h('p', { class: 'quiet' }, 'Nothing was claimed.')
        : table(
            'Claims',
            [
              {
                name: 'Transaction',
                cell: (/** @type {Schemas["Claim"]} */ claim) => txLink(claim.explorerUrl, claim.txid),
              },
              { name: 'Amount', cell: (claim) => `${claim.amountCrypto} ${claim.asset}` },
              { name: 'Came of it', cell: (claim) => (claim.outcome ? badge(claim.outcome) : badge('pending')) },
              { name: 'Why', cell: (claim) => claim.reason ?? '–' },
              { name: 'By', cell: (claim) => h('span', null, claim.askedBy, ', ', localTime(claim.askedAt)) },
            ],
            list,
          ).element,
    );
  };
  return h(
    'section',
    { class: 'card', 'aria-label': words(one.chain) },
    h(
      'div',
      { class: 'row between' },
      h('h2', null, words(one.chain)),
      one.problem ? badge('problem', 'bad') : one.keepsUp ? badge('keeps up', 'good') : badge('lags', 'warn'),
    ),
    one.problem ? h('p', { class: 'note bad' }, one.problem) : null,
    facts(
      ['Node', h('span', { class: 'mono' }, one.node)],
      ['Network', one.network],
      ['Head', one.headHeight],
      ['Read to', one.height],
      ['Complete to', one.completeHeight],
      [
        'Lag',
        one.lagBlocks === null
          ? null
          : `${one.lagBlocks} blocks${one.lagSeconds === null ? '' : `, ${one.lagSeconds} s`}`,
      ],
      ['Rescans at', one.rescanAt],
      ['Addresses watched', one.watchedAddresses],
      ['Requests so far', one.requests],
      ['Requests a day', one.requestsPerDay],
    ),
    one.unexplained.length === 0
      ? null
      : h(
          'div',
          { class: 'note warn' },
          h('p', null, h('strong', null, 'Money that no transaction told of: ')),
          one.unexplained.map((each) =>
            h(
              'p',
              null,
              `${each.balanceCrypto} ${each.asset} at `,
              h('span', { class: 'mono' }, each.address),
              `, of which ${each.knownCrypto} is known.`,
            ),
          ),
        ),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', class: 'small', onclick: () => claim(context, one) }, 'Claim a payment…'),
      h('button', { type: 'button', class: 'small', onclick: showClaims }, 'Claims'),
    ),
    claims,
  );
}

/** @param {Context} context @param {Chain} one */
async function claim(context, one) {
  const made = await ask(`Claim a payment on ${words(one.chain)}`, (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'A contract can pay in a way that the node does not tell of. Coffer asks the node for this transaction, and ' +
        'books the payment only if it is there.',
    ),
    form({
      fields: [
        { name: 'txid', label: 'Transaction id', required: true },
        { name: 'address', label: 'Address that was paid', required: true },
        { name: 'amount', label: 'Amount, in whole coins', required: true, inputmode: 'decimal' },
        { name: 'ordinal', label: 'Which of several equal ones', inputmode: 'numeric', hint: 'Empty: the first.' },
      ],
      submit: 'Claim it',
      cancel: () => close(null),
      send: async (values) =>
        close(
          await operator('POST', `chains/${one.chain}/claims`, {
            txid: values.txid,
            address: values.address,
            amount: values.amount,
            ordinal: wholeNumber(values, 'ordinal'),
          }),
        ),
    }),
  ]);
  if (!made) return;
  toast('It is claimed; what came of it stands under “Claims”.');
  await context.reload();
}
