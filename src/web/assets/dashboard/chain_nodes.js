// Nodes of chains: which are in use, and the forms by which operators enter and remove them.

import { form, operator } from '../shared/api.js';
import { ask, badge, facts, h, toast, localTime, words } from '../shared/dom.js';
import { actionButton, confirmAction } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["ChainNode"]} ChainNode */

/** URLs that show the expected form, for each chain. @type {Record<string, string>} */
const examples = {
  bitcoin: 'electrums://electrum.example:50002 or http://user:password@127.0.0.1:8332',
  litecoin: 'electrums://electrum.example:50002 or http://user:password@127.0.0.1:9332',
  dogecoin: 'http://user:password@127.0.0.1:22555',
};

/** Creates the section of the nodes. @param {Context} context @param {ChainNode[]} nodes */
export function nodeSection(context, nodes) {
  if (nodes.length === 0) return null;
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'nodes' },
    h('h2', { id: 'nodes' }, 'Nodes'),
    h(
      'p',
      { class: 'quiet' },
      'Coffer sees real payments through a node, an Electrum server or a provider. A URL is tested before it is stored, ' +
        'and is never shown again.',
    ),
    h(
      'div',
      { class: 'halves' },
      nodes.map((one) => card(context, one)),
    ),
  );
}

/** @param {Context} context @param {ChainNode} one */
function card(context, one) {
  const name = words(one.chain);
  const remove = async () => {
    const isSure = await confirmAction(
      `Remove node of ${name}?`,
      'The chain is no longer followed. Its coins are not on offer, and payments of open invoices are not seen.',
      'Remove node',
    );
    return isSure && operator('DELETE', `chain-nodes/${one.chain}`);
  };
  const enter = h(
    'button',
    { type: 'button', class: 'small', onclick: () => enterNode(context, one) },
    one.source === 'none' ? 'Connect chain…' : 'Change node…',
  );
  return h(
    'section',
    { class: 'card', 'aria-label': `Node of ${name}` },
    h(
      'div',
      { class: 'row between' },
      h('h3', null, name),
      one.source === 'none' ? badge('no node', one.missing ? 'bad' : undefined) : badge('has a node', 'good'),
    ),
    one.missing
      ? h('p', { class: 'note warn' }, 'A restore under another public URL removed the node. Enter it again.')
      : null,
    facts(
      ['Node', one.node ? h('span', { class: 'mono' }, one.node) : null],
      ['Changed', one.changedAt ? h('span', null, localTime(one.changedAt), ` by ${one.changedBy}`) : null],
    ),
    one.source === 'settings'
      ? h('p', { class: 'quiet' }, 'Set by --node or COFFER_NODE. Change it there.')
      : h(
          'div',
          { class: 'row' },
          enter,
          one.source === 'file'
            ? actionButton(context, 'Remove node…', 'Node removed.', remove, 'small danger')
            : null,
        ),
  );
}

/** Asks for the url of a node, and stores it once the node has answered. @param {Context} context @param {ChainNode} one */
async function enterNode(context, one) {
  const name = words(one.chain);
  const made = await ask(`Connect ${name}`, (/** @type {(answer: any) => void} */ close) => [
    h(
      'p',
      null,
      'Coffer asks the node for its network and newest block. All operators see the change on Home for seven days.',
    ),
    form({
      fields: [
        {
          name: 'url',
          label: 'Node URL',
          type: 'password',
          required: true,
          hint:
            `For example ${examples[one.chain] ?? 'https://provider.example/v2/key or http://127.0.0.1:8545'}. ` +
            'Separate several URLs with commas. Use Electrum servers of two different operators.',
        },
      ],
      submit: 'Connect node',
      cancel: () => close(null),
      send: async ({ url }) => close(await operator('PUT', `chain-nodes/${one.chain}`, { url: url.trim() })),
    }),
  ]);
  if (!made) return;
  toast(`${name} is connected: network ${made.network}, block ${made.height}.`);
  await context.reload();
}
