// The audit log.

import { operator } from '../shared/api.js';
import { empty, h, localTime } from '../shared/dom.js';
import { filters, head, pagedList, formattedJson } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["AuditLogPage"]["data"][number]} Entry */

/** @param {Context} context */
export async function show(context) {
  const isAll = context.isOperator && context.query.get('whose') === 'all';
  const found = await pagedList({
    label: 'Audit log',
    load: (before) =>
      operator('GET', 'audit-log', undefined, { before, limit: 100, account: isAll ? null : context.account?.id }),
    none: empty(
      'Nothing is noted yet',
      'Whatever a person changes in these pages, or by the operator interface, is noted here.',
    ),
    columns: /** @type {import("../shared/dom.js").Column<Entry>[]} */ ([
      { name: 'When', cell: (one) => localTime(one.at) },
      { name: 'Who', cell: (one) => one.actor },
      { name: 'What', cell: (one) => one.action },
      { name: 'On', cell: (one) => h('span', { class: 'mono' }, one.objectId ?? '–') },
      {
        name: 'Details',
        cell: (one) =>
          Object.keys(one.detail ?? {}).length === 0
            ? '–'
            : h('details', null, h('summary', null, 'Show'), formattedJson(one.detail)),
      },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Audit log', 'Who did what, newest first. Nobody can change it.'),
    context.isOperator
      ? filters('/audit', [
          {
            name: 'whose',
            label: 'Whose',
            type: 'select',
            options: [
              ['', 'What concerns this account'],
              ['all', 'All'],
            ],
          },
        ])
      : null,
    found,
  );
}
