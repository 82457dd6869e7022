// The audit log.

import { operator } from '../shared/api.js';
import { empty, h, localTime } from '../shared/dom.js';
import { filters, head, jsonButton, pagedList } from './list.js';

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
      'No entries yet',
      'Each change that a person makes, on these pages or by the operator interface, is an entry.',
    ),
    columns: /** @type {import("../shared/dom.js").Column<Entry>[]} */ ([
      { name: 'Time', cell: (one) => localTime(one.at) },
      { name: 'User', cell: (one) => one.actor },
      { name: 'Action', cell: (one) => one.action },
      { name: 'Object', cell: (one) => h('span', { class: 'mono' }, one.objectId ?? '–') },
      {
        name: '',
        cell: (one) =>
          Object.keys(one.detail ?? {}).length === 0 ? null : jsonButton(one.action, one.detail, 'Show details'),
      },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Audit log', 'Changes by users, newest first. Nobody can change an entry.'),
    context.isOperator
      ? filters('/audit', [
          {
            name: 'whose',
            label: 'Account',
            type: 'select',
            options: [
              ['', 'This account'],
              ['all', 'All accounts'],
            ],
          },
        ])
      : null,
    found,
  );
}
