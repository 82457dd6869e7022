// Servers of all accounts, and decisions about orders.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, facts, h, toast, localTime, words } from '../shared/dom.js';
import { filters, head, pagedList } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["OperatedServer"]} Server */

/** @param {Context} context */
export async function show(context) {
  const status = context.query.get('status');
  const found = await pagedList({
    label: 'Servers',
    load: () => operator('GET', 'servers', undefined, { limit: 100, status }),
    none: empty(
      'No servers yet',
      'Orders that accounts place through the reseller API appear here. Set an account’s server quota to allow them.',
    ),
    columns: /** @type {import("../shared/dom.js").Column<Server>[]} */ ([
      { name: 'Host', cell: (one) => one.hostname },
      {
        name: 'Status',
        cell: (one) =>
          h(
            'div',
            { class: 'row' },
            badge(one.status),
            one.command ? badge(one.command) : null,
            one.deletionRequestedAt && !one.deletedAt ? badge('to be removed', 'warn') : null,
          ),
      },
      { name: 'Account', cell: (one) => context.accounts.find(({ id }) => id === one.account)?.name ?? one.account },
      { name: 'Size', cell: (one) => `${one.cpu} CPU, ${one.ramMb} MB, ${one.diskGb} GB` },
      { name: 'Address', cell: (one) => one.address ?? '–' },
      { name: 'Created', cell: (one) => localTime(one.createdAt) },
      {
        name: '',
        cell: (one) =>
          ['failed', 'deleted'].includes(one.status)
            ? null
            : h('button', { type: 'button', class: 'small', onclick: () => decide(context, one) }, 'Update…'),
      },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Servers', 'The newest 100 orders of all accounts.'),
    filters('/servers', [
      {
        name: 'status',
        label: 'Status',
        type: 'select',
        options: [
          ['', 'Any'],
          ...['queued', 'provisioning', 'active', 'failed', 'deleted'].map(
            (one) => /** @type {[string, string]} */ ([one, words(one)]),
          ),
        ],
      },
    ]),
    found,
  );
}

/** @param {Context} context @param {Server} one */
async function decide(context, one) {
  const done = await ask(`Update ${one.hostname}`, (/** @type {(answer: boolean) => void} */ close) => [
    facts(
      ['Status', words(one.status)],
      ['Size', `${one.cpu} CPU, ${one.ramMb} MB, ${one.diskGb} GB`],
      ['Provider reference', one.ref],
    ),
    form({
      fields: [
        {
          name: 'action',
          label: 'Outcome',
          type: 'select',
          options: [
            ['activate', 'Active: the server exists'],
            ['fail', 'Failed: the server will not be created'],
            ['delete', 'Deleted: the server is removed'],
            ['release', 'Retry: the provisioner runs again'],
          ],
        },
        { name: 'address', label: 'IP address, if active' },
        { name: 'ref', label: 'Provider reference' },
        { name: 'reason', label: 'Reason for failure', hint: 'Shown to the reseller.' },
      ],
      submit: 'Update server',
      cancel: () => close(false),
      send: async (values) => {
        await operator(
          'POST',
          `servers/${one.id}`,
          Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
        );
        close(true);
      },
    }),
  ]);
  if (!done) return;
  toast('Server updated.');
  await context.reload();
}
