// The pages of the operator interface, and the navigation between them.

import { h, to } from '../shared/dom.js';

/**
 * @typedef {{
 *   name: string, text: string, load: () => Promise<{ show: import("./dashboard.js").Show }>,
 *   for?: "operators" | "account", under?: string, isApart?: boolean,
 * }} Page a page of the navigation. `under` is the page or section below which it is shown, and `isApart` puts it with
 * the settings of the service.
 */

/** @type {Page[]} all pages; `name` is the first part of a page's path */
export const pages = [
  { name: '', text: 'Home', load: () => import('./home.js') },
  { name: 'start', text: 'First steps', under: '', load: () => import('./start.js') },
  { name: 'invoices', text: 'Invoices', for: 'account', load: () => import('./invoices.js') },
  {
    name: 'unmatched',
    text: 'Unmatched',
    for: 'operators',
    under: 'invoices',
    load: () => import('./unmatched.js'),
  },
  {
    name: 'new-invoice',
    text: 'New invoice',
    for: 'account',
    under: 'invoices',
    load: () => import('./new_invoice.js'),
  },
  { name: 'links', text: 'Payment links', for: 'account', load: () => import('./links.js') },
  { name: 'customers', text: 'Customers', for: 'account', load: () => import('./customers.js') },
  { name: 'payouts', text: 'Payouts', for: 'account', load: () => import('./payouts.js') },
  { name: 'refunds', text: 'Refunds', for: 'account', load: () => import('./refunds.js') },
  { name: 'ledger', text: 'Ledger', for: 'account', load: () => import('./ledger.js') },
  { name: 'keys', text: 'API keys', for: 'account', under: 'Developers', load: () => import('./keys.js') },
  { name: 'webhooks', text: 'Webhooks', for: 'account', under: 'Developers', load: () => import('./webhooks.js') },
  { name: 'deliveries', text: 'Deliveries', for: 'account', under: 'webhooks', load: () => import('./deliveries.js') },
  { name: 'events', text: 'Events', for: 'account', under: 'webhooks', load: () => import('./events.js') },
  { name: 'signature', text: 'Verify signature', under: 'webhooks', load: () => import('./signature.js') },
  { name: 'settings', text: 'Settings', for: 'account', load: () => import('./settings.js') },
  { name: 'tokens', text: 'Reseller', for: 'account', under: 'settings', load: () => import('./tokens.js') },
  { name: 'audit', text: 'Audit log', under: 'settings', load: () => import('./audit.js') },
  { name: 'accounts', text: 'Accounts', for: 'operators', isApart: true, load: () => import('./accounts.js') },
  { name: 'users', text: 'Team', for: 'operators', isApart: true, load: () => import('./users.js') },
  { name: 'wallets', text: 'Wallets', for: 'operators', isApart: true, load: () => import('./wallets.js') },
  { name: 'chains', text: 'Chains', for: 'operators', isApart: true, load: () => import('./chains.js') },
  { name: 'coins', text: 'Coins', for: 'operators', isApart: true, load: () => import('./coins.js') },
  { name: 'servers', text: 'Servers', for: 'operators', isApart: true, load: () => import('./servers.js') },
  { name: 'service', text: 'Maintenance', for: 'operators', isApart: true, load: () => import('./service.js') },
  { name: 'me', text: 'You', under: 'me', load: () => import('./me.js') },
];

/**
 * Returns the names of a page and of what it is below, the page first.
 * @param {Page | undefined} page
 * @returns {string[]}
 */
function trail(page) {
  if (!page) return [];
  const { name, under } = page;
  if (under === undefined || under === name) return [name];
  const parent = pages.find((one) => one.name === under);
  return [name, ...(parent ? trail(parent) : [under])];
}

/**
 * Creates an entry of the navigation. The entries below it are shown while one of them, or the entry itself, is open.
 * @param {string} name
 * @param {string} text
 * @param {string[]} open names of the open page and of what it is below
 * @param {Page[]} allowed
 * @returns {Element | null}
 */
function entry(name, text, open, allowed) {
  const isOpen = open.includes(name);
  const children = allowed.filter((page) => page.under === name && page.name !== name);
  // The pages about webhooks have tabs of their own.
  const shown = isOpen && name !== 'webhooks' ? children : [];
  const target = allowed.find((page) => page.name === name)?.name ?? children[0]?.name;
  if (target === undefined) return null;
  const listed = open.find((one) => [...shown.map((page) => page.name), name].includes(one));
  return h(
    'li',
    null,
    h(
      'a',
      {
        href: to(`/${target}`),
        class: isOpen ? 'within' : null,
        'aria-current': listed === name && target === name ? 'page' : null,
      },
      text,
    ),
    shown.length === 0
      ? null
      : h(
          'ul',
          null,
          shown.map((page) => entry(page.name, page.text, open, allowed)),
        ),
  );
}

/**
 * Creates the navigation: the pages of an account, and apart from them the settings of the service.
 * @param {Page | undefined} now
 * @param {(page: Page) => boolean} isAllowed
 */
export function navigation(now, isAllowed) {
  const open = trail(now);
  const allowed = pages.filter(isAllowed);
  const top = allowed.filter((page) => page.under === undefined && !page.isApart);
  const entries = top.map((page) => entry(page.name, page.text, open, allowed));
  const settings = top.findIndex((page) => page.name === 'settings');
  entries.splice(settings < 0 ? entries.length : settings, 0, entry('Developers', 'Developers', open, allowed));
  const apart = allowed.filter((page) => page.isApart);
  return [
    h('ul', null, entries),
    apart.length === 0
      ? null
      : [
          h('h2', { id: 'apart' }, 'Service'),
          h(
            'ul',
            { 'aria-labelledby': 'apart' },
            apart.map((page) => entry(page.name, page.text, open, allowed)),
          ),
        ],
  ];
}
