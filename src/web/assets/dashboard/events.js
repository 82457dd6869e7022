// Events, with the bodies of their webhooks.

import { operator } from '../shared/api.js';
import { empty, h, to, localTime } from '../shared/dom.js';
import { anyOf, filters, head, jsonButton, pagedList, shortId, tabs } from './list.js';
import { eventTypes, webhookTabs } from './webhook_pages.js';

/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const { mode, query } = context;
  const wanted = Object.fromEntries(['type', 'object'].map((name) => [name, query.get(name)]));
  const found = await pagedList({
    label: 'Events',
    load: (before) => operator('GET', context.path('events'), undefined, { mode, before, limit: 50, ...wanted }),
    none: empty(
      'No events yet',
      'Each change of an invoice, a payout, a refund or an account is an event.',
      h('a', { class: 'button', href: '#/start' }, 'Create test invoice'),
    ),
    href: (one) => to('/deliveries', { event: one.id }),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["Event"]>[]} */ ([
      { name: 'Type', cell: (one) => one.type },
      { name: 'Event', cell: (one) => shortId(one.id) },
      { name: 'Created', cell: (one) => localTime(one.created) },
      { name: '', cell: (one) => jsonButton(one.type, one) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Events', 'All changes, with the bodies of their webhooks. An event leads to its deliveries.'),
    tabs('Webhooks', webhookTabs),
    filters('/events', [
      { name: 'type', label: 'Type', type: 'select', options: anyOf(eventTypes, (type) => type) },
      {
        name: 'object',
        label: 'Object id',
        type: 'search',
        placeholder: 'Invoice, payout, refund or deposit',
      },
    ]),
    found,
  );
}
