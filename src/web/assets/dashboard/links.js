// Payment links: pages on which anyone can create an invoice and pay it.

import { form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, h, money, toast, localTime } from '../shared/dom.js';
import { actionButton, head, pagedList } from './list.js';
import { changedFields } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["PaymentLink"]} Link */

/** @param {Context} context */
export async function show(context) {
  const { mode } = context;
  const [id] = context.parts;
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => edit(context, null) }, 'Make a link…');
  const found = await pagedList({
    label: 'Payment links',
    load: async (before) =>
      id
        ? { data: [await operator('GET', context.path(`payment-links/${id}`), undefined, { mode })] }
        : operator('GET', context.path('payment-links'), undefined, { mode, before, limit: 50 }),
    none: empty(
      'No payment link yet',
      'A payment link is a page that you send to a customer, or print for the counter. It needs no shop and no code.',
      add(),
    ),
    columns: /** @type {import("../shared/dom.js").Column<Link>[]} */ ([
      {
        name: 'Link',
        cell: (one) =>
          h(
            'div',
            null,
            h('strong', null, one.name),
            one.description ? h('div', { class: 'quiet' }, one.description) : null,
          ),
      },
      {
        name: 'Price',
        end: true,
        cell: (one) => (one.amount ? money(one.amount, one.currency) : `Named by the payer, in ${one.currency}`),
      },
      { name: 'Is', cell: (one) => (one.active ? badge('on', 'good') : badge('off')) },
      {
        name: 'Address',
        cell: (one) =>
          h(
            'div',
            { class: 'row' },
            h('a', { href: one.url, target: '_blank', rel: 'noopener' }, 'Open it'),
            copyButton(one.url, 'link'),
          ),
      },
      { name: 'Made', cell: (one) => localTime(one.createdAt) },
      {
        name: '',
        cell: (one) =>
          h(
            'div',
            { class: 'row' },
            h('button', { type: 'button', class: 'small', onclick: () => edit(context, one) }, 'Change…'),
            actionButton(
              context,
              one.active ? 'Switch off' : 'Switch on',
              one.active ? 'It is off: its page makes no invoice.' : 'It is on.',
              () => operator('PATCH', context.path(`payment-links/${one.id}`), { active: !one.active }, { mode }),
              'small',
            ),
          ),
      },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    id ? h('p', { class: 'crumb' }, h('a', { href: '#/links' }, 'All payment links')) : null,
    head('Payment links', 'Pages on which a customer pays, without a shop.', id ? null : add()),
    found,
  );
}

/** @param {Context} context @param {Link | null} link */
async function edit(context, link) {
  const made = await ask(
    link ? 'Change the link' : 'Make a payment link',
    (/** @type {(answer: any) => void} */ close) =>
      form({
        fields: [
          { name: 'name', label: 'Name', required: true, value: link?.name, hint: 'The customer reads it.' },
          {
            name: 'amount',
            label: 'Price',
            inputmode: 'decimal',
            value: link?.amount,
            hint: 'Empty: the payer names it.',
          },
          ...(link
            ? []
            : [
                {
                  name: 'currency',
                  label: 'Currency',
                  type: 'select',
                  options: /** @type {[string, string][]} */ ([
                    ['EUR', 'EUR'],
                    ['USD', 'USD'],
                  ]),
                },
              ]),
          { name: 'description', label: 'What it is for', value: link?.description },
        ],
        submit: link ? 'Save' : 'Make it',
        cancel: () => close(null),
        send: async (values) => {
          const body = { ...values, amount: values.amount || null, description: values.description || null };
          const path = context.path(link ? `payment-links/${link.id}` : 'payment-links');
          const sent = link ? changedFields(link, body) : body;
          close(await operator(link ? 'PATCH' : 'POST', path, sent, { mode: context.mode }));
        },
      }),
  );
  if (!made) return;
  toast(link ? 'The link is changed.' : `The link is made, in ${context.mode} mode.`);
  await context.reload();
}
