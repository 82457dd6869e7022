// Payment links: the list. Each link has its own page (`link`).

import { operator } from '../shared/api.js';
import { copyButton, empty, h, localTime, to } from '../shared/dom.js';
import { detail, price, stateBadge, usesText } from './link.js';
import { create } from './link_dialogs.js';
import { head, pagedList } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["PaymentLink"]} Link */

/** @param {Context} context */
export function show(context) {
  const [id] = context.parts;
  return id ? detail(context, id) : list(context);
}

/** @param {Context} context */
async function list(context) {
  const { mode } = context;
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => create(context) }, 'Create payment link…');
  const found = await pagedList({
    label: 'Payment links',
    load: (before) => operator('GET', context.path('payment-links'), undefined, { mode, before, limit: 50 }),
    none: empty(
      'No payment links yet',
      'A payment link is a page on which anybody can pay you. Create one, then send its URL, print its QR code, or put ' +
        'it on your website.',
      add(),
    ),
    href: (one) => to(`/links/${one.id}`),
    columns: /** @type {import("../shared/dom.js").Column<Link>[]} */ ([
      { name: 'Name', cell: (one) => one.name, wide: true },
      { name: 'Status', cell: (one) => stateBadge(one.state) },
      { name: 'Price', end: true, cell: price },
      { name: 'Paid uses', end: true, cell: usesText },
      { name: 'Created', cell: (one) => localTime(one.createdAt) },
      { name: '', cell: (one) => copyButton(one.url, 'URL') },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head('Payment links', 'Pages on which customers pay without a shop.', add()),
    found,
  );
}
