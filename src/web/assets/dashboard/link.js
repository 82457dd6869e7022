// The page of a payment link: its data, its picture, its URL and QR code, HTML for a website, and its paid invoices.

import { operator } from '../shared/api.js';
import { badge, copyButton, empty, exactTime, facts, h, localTime, money, secretWithCopy, table, to } from '../shared/dom.js';
import { edit } from './link_dialogs.js';
import { pictureCard } from './link_picture.js';
import { actionButton, shortId } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["PaymentLink"]} Link */

/** Returns the price of a link, or that the customer enters it. @param {Link} link */
export const price = (link) => (link.amount ? money(link.amount, link.currency) : `Any amount in ${link.currency}`);

/** Returns the number of paid uses, with their limit. @param {Link} link */
export const usesText = (link) =>
  link.paidUsesMax === null ? String(link.paidUses) : `${link.paidUses} of ${link.paidUsesMax}`;

/** Tones of the states of a link. @type {Record<Link["state"], string>} */
const tones = { open: 'good', off: '', expired: 'warn', used_up: 'warn' };

/** Creates the badge of a link's state. @param {Link["state"]} state */
export const stateBadge = (state) => badge(state, tones[state]);

/** @param {Context} context @param {string} id */
export async function detail(context, id) {
  const { mode } = context;
  const path = `payment-links/${id}`;
  const [found, paid] = await Promise.all([
    operator('GET', context.path(path), undefined, { mode }),
    operator('GET', context.path(`${path}/paid-invoices`), undefined, { mode }),
  ]);
  const link = /** @type {Link} */ (found);
  const change = (/** @type {boolean} */ active) => operator('PATCH', context.path(path), { active }, { mode });
  return h(
    'div',
    { class: 'page' },
    h('p', { class: 'crumb' }, h('a', { href: '#/links' }, 'Payment links')),
    h(
      'div',
      { class: 'head' },
      h('div', { class: 'stack' }, h('h1', null, link.name), h('p', null, stateBadge(link.state))),
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', onclick: () => edit(context, link) }, 'Edit payment link…'),
        link.active
          ? actionButton(context, 'Turn off payment link', 'The payment link is off.', () => change(false), 'danger')
          : actionButton(context, 'Turn on payment link', 'The payment link is on.', () => change(true)),
      ),
    ),
    stateNote(link),
    limitNote(link),
    h(
      'div',
      { class: 'halves' },
      card('details', 'Details', details(link)),
      card('share', 'Share', share(link)),
      pictureCard(context, link),
      card('website', 'Add to a website', website(link)),
    ),
    h('h2', null, 'Paid invoices'),
    paidInvoices(link, paid.data),
  );
}

/**
 * Creates a card with a heading.
 * @param {string} id
 * @param {string} title
 * @param {import("../shared/dom.js").Child} content
 */
const card = (id, title, content) =>
  h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, title), content);

/** Tells why a link creates no invoices, and what to do. @param {Link} link */
function stateNote(link) {
  /** @type {Record<Link["state"], import("../shared/dom.js").Child>} */
  const texts = {
    open: null,
    off: 'This link is off. Its URL shows “Page not found”.',
    expired: [
      'This link expired on ',
      link.expiresAt && exactTime(link.expiresAt),
      '. Its page says so, and creates no invoices. Edit the link to let it expire later.',
    ],
    used_up: [
      'This link is used up. Its page says so, and creates no invoices. Edit the link to raise the limit.',
      link.unconfirmedUses > 0
        ? ` ${counted(link.unconfirmedUses, 'payment is', 'payments are')} not confirmed yet. One that fails gives its ` +
          'use back.'
        : null,
    ],
  };
  const text = texts[link.state];
  return text === null ? null : h('p', { class: 'note' }, text);
}

/** Tells that more was paid than the limit allows. @param {Link} link */
function limitNote(link) {
  const beyond = link.paidUsesMax === null ? 0 : link.paidUses - link.paidUsesMax;
  if (beyond <= 0) return null;
  return h(
    'p',
    { class: 'note warn' },
    `${counted(beyond, 'payment', 'payments')} came beyond the limit, because several invoices were open at once or the ` +
      'limit was lowered. Each is booked and marked below: deliver, or refund it.',
  );
}

/** @param {number} count @param {string} one @param {string} many */
const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

/** @param {Link} link */
function details(link) {
  return facts(
    ['Price', price(link)],
    ['Description', link.description],
    ['Expires', link.expiresAt ? exactTime(link.expiresAt) : 'Never'],
    ['Paid uses', link.paidUsesMax === null ? `${link.paidUses}, no limit` : usesText(link)],
    ['Redirect URL', link.redirectUrl ?? 'Success URL of Settings'],
    ['Created', localTime(link.createdAt)],
  );
}

/** Creates the ways to give the link to customers. @param {Link} link */
function share(link) {
  return [
    secretWithCopy(link.url, 'URL'),
    link.active
      ? h(
          'div',
          { class: 'row' },
          h('a', { class: 'button', href: link.url, target: '_blank', rel: 'noopener' }, 'Open page'),
          h('a', { class: 'button', href: `${link.url}/qr`, target: '_blank', rel: 'noopener' }, 'Print QR code'),
        )
      : null,
    h('p', { class: 'quiet' }, 'The QR code holds this URL. Print it for a counter, a table or an invoice on paper.'),
  ];
}

/** Creates the HTML for a website: a link, and a button. Both work without a script. @param {Link} link */
function website(link) {
  const label = link.amount ? `${link.name}, ${link.amount} ${link.currency}` : link.name;
  const snippets = /** @type {[string, HTMLElement][]} */ ([
    ['Link', h('a', { href: link.url }, label)],
    ['Button', h('form', { action: link.url }, h('button', null, label))],
  ]);
  return [
    h('p', { class: 'quiet' }, 'Copy one of these lines into any page. It needs no script and no key.'),
    snippets.map(([name, element]) => {
      const label = `HTML of the ${name.toLowerCase()}`;
      return h(
        'div',
        { class: 'stack' },
        h('div', { class: 'row between' }, h('h3', null, name), copyButton(element.outerHTML, label)),
        h('pre', { class: 'line', tabindex: '0', role: 'group', 'aria-label': label }, element.outerHTML),
      );
    }),
  ];
}

/**
 * Creates the table of paid invoices. Those beyond the limit are marked.
 * @param {Link} link
 * @param {Schemas["Invoice"][]} paid the one that was paid last first
 */
function paidInvoices(link, paid) {
  if (paid.length === 0) {
    return empty('No paid invoices yet', 'Invoices appear here when customers have paid through this link.');
  }
  const beyond = new Set(paid.slice(0, Math.max(0, link.paidUses - (link.paidUsesMax ?? link.paidUses))));
  const list = table(
    'Paid invoices',
    /** @type {import("../shared/dom.js").Column<Schemas["Invoice"]>[]} */ ([
      { name: 'Invoice', cell: (one) => shortId(one.id) },
      {
        name: 'Status',
        cell: (one) =>
          h('div', { class: 'row' }, badge(one.status), beyond.has(one) ? badge('beyond the limit', 'warn') : null),
      },
      { name: 'Amount', end: true, cell: (one) => money(one.amount, one.currency) },
      { name: 'Paid', cell: (one) => localTime(one.confirmedAt) },
    ]),
    paid,
    { href: (one) => to(`/invoices/${one.id}`) },
  );
  const isPart = paid.length < link.paidUses;
  return h(
    'div',
    { class: 'stack' },
    list.element,
    isPart ? h('p', { class: 'quiet' }, `The newest ${paid.length} of ${link.paidUses}.`) : null,
  );
}
