// Events, with the bodies of their webhooks.

import { operator } from '../shared/api.js';
import { empty, h, to, localTime } from '../shared/dom.js';
import { filters, head, pagedList, formattedJson, tabs } from './list.js';
import { eventTypes, webhookTabs } from './webhooks.js';

/** @typedef {import("openapi").components["schemas"]} Schemas */

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const { mode, query } = context;
  const wanted = Object.fromEntries(['type', 'object'].map((name) => [name, query.get(name)]));
  const found = await pagedList({
    label: 'Events',
    load: (before) => operator('GET', context.path('events'), undefined, { mode, before, limit: 50, ...wanted }),
    none: empty(
      'No event here',
      'As soon as an invoice, a payout or an account goes on, it stands here.',
      h('a', { class: 'button', href: '#/start' }, 'Make a test invoice'),
    ),
    columns: /** @type {import("../shared/dom.js").Column<Schemas["Event"]>[]} */ ([
      { name: 'Type', cell: (one) => one.type },
      { name: 'When', cell: (one) => localTime(one.created) },
      { name: 'Event', cell: (one) => eventLink(one.id) },
      { name: 'Body', cell: (one) => h('details', null, h('summary', null, 'Show'), formattedJson(one)) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Events', 'Everything that happened, in the bodies of their webhooks.'),
    tabs('Webhooks', webhookTabs),
    filters('/events', [
      {
        name: 'type',
        label: 'Type',
        type: 'select',
        options: [['', 'Any'], ...eventTypes.map((one) => /** @type {[string, string]} */ ([one, one]))],
      },
      { name: 'object', label: 'Id of an invoice, payout, refund or deposit', type: 'search' },
    ]),
    found,
  );
}

/**
 * Creates a link to an event. Shows the end of the id, because ids of one second have the same start.
 * @param {string} id
 */
function eventLink(id) {
  return h('a', { class: 'mono', href: to('/deliveries', { event: id }), title: id }, `…${id.slice(-8)}`);
}
