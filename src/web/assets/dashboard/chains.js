// Chains: how far each has been read, its problems, and claims of payments that a node does not report.

import { errorSentence, form, operator } from '../shared/api.js';
import { ask, badge, empty, facts, h, table, toast, localTime, words } from '../shared/dom.js';
import { nodeSection } from './chain_nodes.js';
import { head, txLink } from './list.js';
import { wholeNumber } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["ChainList"]["data"][number]} Chain */

/** Chains whose claims are shown in this tab. @type {Set<string>} */
const withClaims = new Set();

/** @param {Context} context */
export async function show(context) {
  const [found, nodes] = await Promise.all([operator('GET', 'chains'), operator('GET', 'chain-nodes')]);
  const chains = /** @type {Chain[]} */ (found.data);
  const cards = await Promise.all(chains.map((one) => card(context, one)));
  return h(
    'div',
    { class: 'page' },
    head(
      'Chains',
      'Chains with a node, and how far each has been read. This page updates by itself.',
      h('button', { type: 'button', onclick: () => context.reload() }, 'Refresh chains'),
    ),
    chains.length === 0
      ? empty(
          'No chains yet',
          nodes.data.length === 0
            ? 'Chains with a node are listed here. A sandbox simulates its chains and needs no node.'
            : 'Chains with a node are listed here. Connect one below to take live payments. Test payments need no node.',
          h('a', { class: 'button', href: 'docs/chains' }, 'Read about chains'),
        )
      : h(
          'div',
          { class: 'halves' },
          cards,
        ),
    nodeSection(context, nodes.data),
  );
}

/** @param {Context} context @param {Chain} one */
async function card(context, one) {
  const claims = h('div', { class: 'stack' });
  const showClaims = async () => {
    withClaims.add(one.chain);
    const list = (await operator('GET', `chains/${one.chain}/claims`, undefined, { limit: 50 })).data;
    claims.replaceChildren(
      list.length === 0
        ? h('p', { class: 'quiet' }, 'No claims yet.')
        : table(
            'Claims',
            [
              {
                name: 'Transaction',
                cell: (/** @type {Schemas["Claim"]} */ claim) => txLink(claim.explorerUrl, claim.txid),
              },
              { name: 'Amount', cell: (claim) => `${claim.amountCrypto} ${claim.asset}` },
              { name: 'Status', cell: (claim) => (claim.outcome ? badge(claim.outcome) : badge('pending')) },
              { name: 'Reason', cell: (claim) => claim.reason ?? '–' },
              { name: 'Claimed by', cell: (claim) => h('span', null, claim.askedBy, ', ', localTime(claim.askedAt)) },
            ],
            list,
          ).element,
    );
  };
  if (withClaims.has(one.chain)) await showClaims();
  return h(
    'section',
    { class: 'card', 'aria-label': words(one.chain) },
    h(
      'div',
      { class: 'row between' },
      h('h2', null, words(one.chain)),
      one.problem ? badge('problem', 'bad') : one.keepsUp ? badge('up to date', 'good') : badge('behind', 'warn'),
    ),
    one.problem ? h('p', { class: 'note bad' }, errorSentence(one.problem)) : null,
    facts(
      ['Behind', lag(one)],
      [
        'Newest block',
        one.headHeight === null
          ? null
          : `${one.headHeight}${one.headAgeSeconds === null ? '' : `, ${age(one.headAgeSeconds)} old`}`,
      ],
      ['Read up to', one.height],
      ['Completely read up to', one.completeHeight],
      ['Rescan at block', one.rescanAt],
      [one.nodeInUse ? 'Nodes' : 'Node', h('span', { class: 'mono' }, one.node)],
      ['Node in use', one.nodeInUse ? h('span', { class: 'mono' }, one.nodeInUse) : null],
      ['Network', one.network],
      ['Watched addresses', one.watchedAddresses],
      ['Requests since start', one.requests],
      ['Requests per day', one.requestsPerDay],
    ),
    one.setAside.length === 0
      ? null
      : h(
          'div',
          { class: 'note warn' },
          h('p', null, h('strong', null, 'Not read')),
          one.setAside.map((each) =>
            h('p', null, `The ${each.kind} `, h('span', { class: 'mono' }, each.id), `: the node ${each.reason}.`),
          ),
        ),
    one.unexplained.length === 0
      ? null
      : h(
          'div',
          { class: 'note warn' },
          h('p', null, h('strong', null, 'Balance without a known payment')),
          one.unexplained.map((each) =>
            h(
              'p',
              null,
              `${each.balanceCrypto} ${each.asset} at `,
              h('span', { class: 'mono' }, each.address),
              `. Known payments: ${each.knownCrypto}.`,
            ),
          ),
        ),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', class: 'small', onclick: () => claim(context, one) }, 'Claim a payment…'),
      h('button', { type: 'button', class: 'small', onclick: showClaims }, 'Show claims'),
    ),
    claims,
  );
}

/** Says how far behind a chain is, in blocks and time. @param {Chain} one */
function lag(one) {
  if (one.lagBlocks === null) return null;
  const blocks = `${one.lagBlocks} ${one.lagBlocks === 1 ? 'block' : 'blocks'}`;
  return one.lagSeconds === null ? blocks : `${blocks}, ${age(one.lagSeconds)}`;
}

/** Formats a time span: `52 s`, `5 min`, `3 h`, `2 days`. @param {number} seconds */
function age(seconds) {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

/** @param {Context} context @param {Chain} one */
async function claim(context, one) {
  const made = await ask(`Claim a payment on ${words(one.chain)}`, (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'A contract can pay in a way that the node does not report. Coffer asks the node for this transaction, and ' +
        'books the payment only if the node has it.',
    ),
    form({
      fields: [
        { name: 'txid', label: 'Transaction id', required: true },
        { name: 'address', label: 'Receiving address', required: true },
        { name: 'amount', label: 'Amount, in whole coins', required: true, inputmode: 'decimal' },
        { name: 'ordinal', label: 'Number among equal payments', inputmode: 'numeric', hint: 'Leave empty for the first.' },
      ],
      submit: 'Claim payment',
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
  toast('Payment claimed. Its status appears under “Show claims”.');
  withClaims.add(one.chain);
  await context.reload();
}
