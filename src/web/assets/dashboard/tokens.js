// Reseller tokens of an account, and the servers ordered with them.

import { operator } from '../shared/api.js';
import { badge, empty, h, table, localTime } from '../shared/dom.js';
import { showOnce } from './keys.js';
import { actionButton, confirmAction, head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {Context} context */
export async function show(context) {
  const [tokens, servers] = await Promise.all([
    operator('GET', context.path('reseller-tokens')),
    operator('GET', context.path('servers'), undefined, { limit: 100 }),
  ]);
  const make = async () => {
    const made = await operator('POST', context.path('reseller-tokens'));
    await showOnce('Your new token', 'token', made.token);
    return true;
  };
  const revoke = async (/** @type {Schemas["ResellerToken"]} */ one) => {
    if (
      !(await confirmAction(
        'Revoke this token?',
        `The token that ends in ${one.last4} stops working immediately. Servers ordered with it stay.`,
        'Revoke token',
      ))
    )
      return false;
    await operator('DELETE', context.path(`reseller-tokens/${one.id}`));
    return true;
  };
  return h(
    'div',
    { class: 'page' },
    head(
      'Reseller',
      `This account orders servers through the reseller API. Its quota is ${context.account?.serverQuota ?? 0} servers.`,
      h('div', { class: 'row' }, actionButton(context, 'Create token', 'Token created.', make, 'primary')),
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'tokens' },
      h('h2', { id: 'tokens' }, 'Tokens'),
      tokens.data.length === 0
        ? empty('No tokens yet', 'Create a token to call /api/v1/reseller for this account.')
        : table(
            'Tokens',
            [
              {
                name: 'Token',
                cell: (/** @type {Schemas["ResellerToken"]} */ one) => h('span', { class: 'mono' }, `…${one.last4}`),
              },
              { name: 'Status', cell: (one) => (one.revokedAt ? badge('revoked', 'bad') : badge('active', 'good')) },
              { name: 'Created', cell: (one) => localTime(one.createdAt) },
              { name: 'Last used', cell: (one) => localTime(one.lastUsedAt) },
              {
                name: '',
                cell: (one) =>
                  one.revokedAt
                    ? null
                    : h(
                        'div',
                        { class: 'row' },
                        actionButton(context, 'Revoke…', 'Token revoked.', () => revoke(one), 'small danger'),
                      ),
              },
            ],
            tokens.data,
          ).element,
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'servers' },
      h('h2', { id: 'servers' }, 'Servers'),
      servers.data.length === 0
        ? h('p', { class: 'quiet' }, 'No servers yet. Order one with POST /api/v1/reseller/servers.')
        : table(
            'Servers',
            [
              { name: 'Host', cell: (/** @type {Schemas["Server"]} */ one) => one.hostname },
              { name: 'Status', cell: (one) => badge(one.status) },
              { name: 'Size', cell: (one) => `${one.cpu} CPU, ${one.ramMb} MB, ${one.diskGb} GB` },
              { name: 'Address', cell: (one) => one.address ?? '–' },
              { name: 'Created', cell: (one) => localTime(one.createdAt) },
            ],
            servers.data,
          ).element,
    ),
  );
}
