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
      'No server here',
      'Accounts with a quota order servers by the reseller interface; the orders stand here.',
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
      { name: 'Ordered', cell: (one) => localTime(one.createdAt) },
      {
        name: '',
        cell: (one) =>
          ['failed', 'deleted'].includes(one.status)
            ? null
            : h('button', { type: 'button', class: 'small', onclick: () => decide(context, one) }, 'Decide…'),
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
  const done = await ask(`Decide about ${one.hostname}`, (/** @type {(answer: boolean) => void} */ close) => [
    facts(
      ['Status', words(one.status)],
      ['Size', `${one.cpu} CPU, ${one.ramMb} MB, ${one.diskGb} GB`],
      ['Its provider’s name', one.ref],
    ),
    form({
      fields: [
        {
          name: 'action',
          label: 'It is',
          type: 'select',
          options: [
            ['activate', 'There: it is active'],
            ['fail', 'Failed: it will not be made'],
            ['delete', 'Gone: it is removed'],
            ['release', 'Looked at: the provisioner may try again'],
          ],
        },
        { name: 'address', label: 'Address, where it is there' },
        { name: 'ref', label: 'What its provider calls it' },
        { name: 'reason', label: 'Why it failed', hint: 'The reseller reads it.' },
      ],
      submit: 'Decide',
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
  toast('It is decided.');
  await context.reload();
}
