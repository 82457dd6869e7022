// The dialogs that create and edit a payment link.

import { ApiError, form, operator } from '../shared/api.js';
import { ask, to, toast } from '../shared/dom.js';
import { currencies } from './list.js';
import { changedFields, wholeNumber } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["PaymentLink"]} Link */

/** Asks for a new link, and opens its page. @param {Context} context */
export async function create(context) {
  const made = await ask('Create payment link', (/** @type {(made: Link | null) => void} */ close) =>
    linkForm(null, 'Create payment link', close, (body) =>
      operator('POST', context.path('payment-links'), body, { mode: context.mode }),
    ),
  );
  if (!made) return;
  toast(`The payment link is created, in ${context.mode} mode.`);
  location.hash = to(`/links/${made.id}`);
}

/** Asks for changes of a link. Sends only changed fields. @param {Context} context @param {Link} link */
export async function edit(context, link) {
  const made = await ask('Edit payment link', (/** @type {(made: Link | null) => void} */ close) =>
    linkForm(link, 'Save payment link', close, (body) =>
      operator('PATCH', context.path(`payment-links/${link.id}`), changedFields(link, body), { mode: context.mode }),
    ),
  );
  if (!made) return;
  toast('The payment link is saved.');
  context.reload();
}

/**
 * Creates the form of a link.
 * @param {Link | null} link
 * @param {string} submit
 * @param {(made: Link | null) => void} close
 * @param {(body: Record<string, unknown>) => Promise<Link>} send
 */
function linkForm(link, submit, close, send) {
  const end = localText(link?.expiresAt ?? null);
  const amount = {
    name: 'amount',
    label: 'Price',
    inputmode: 'decimal',
    value: link?.amount,
    hint: 'Leave it empty to let customers enter the amount.',
  };
  const element = form({
    fields: [
      { name: 'name', label: 'Name', required: true, value: link?.name, hint: 'Customers see it.' },
      link ? amount : { fields: [amount, { name: 'currency', label: 'Currency', type: 'select', options: currencies }] },
      { name: 'description', label: 'Description', value: link?.description },
      {
        summary: 'Expiry, limit and redirect',
        isOpen: Boolean(link?.expiresAt || link?.paidUsesMax || link?.redirectUrl),
        fields: [
          {
            name: 'expiresAt',
            label: 'Expires',
            type: 'datetime-local',
            value: end,
            hint: 'In your local time. From then on the link creates no invoices. Leave it empty for no end.',
          },
          {
            name: 'paidUsesMax',
            label: 'Limit of paid uses',
            inputmode: 'numeric',
            value: link?.paidUsesMax ? String(link.paidUsesMax) : null,
            hint: 'After so many payments the link creates no invoices. Leave it empty for no limit.',
          },
          {
            name: 'redirectUrl',
            label: 'Redirect URL',
            type: 'url',
            value: link?.redirectUrl,
            placeholder: 'https://',
            hint: 'Where customers go after payment. Leave it empty to use the success URL of Settings.',
          },
        ],
      },
    ],
    submit,
    cancel: () => close(null),
    send: async (values) => {
      const input = element.querySelector('[name="expiresAt"]');
      if (input instanceof HTMLInputElement && input.validity.badInput)
        throw new ApiError(400, { message: 'Enter a whole date and time, or none.', param: 'expiresAt' });
      const body = {
        ...values,
        amount: values.amount || null,
        description: values.description || null,
        // A time that was not edited keeps its seconds.
        expiresAt: values.expiresAt === end ? (link?.expiresAt ?? null) : utcText(values.expiresAt),
        paidUsesMax: wholeNumber(values, 'paidUsesMax'),
        redirectUrl: values.redirectUrl || null,
      };
      close(await send(body));
    },
  });
  return element;
}

/** Returns a time as the value of a field in local time: `2026-12-24T18:00`. @param {string | null} moment */
function localText(moment) {
  if (moment === null) return '';
  const at = new Date(moment);
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  const day = [String(at.getFullYear()).padStart(4, '0'), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns the value of a field in local time as a time in UTC, or null if it is empty. @param {string} local */
function utcText(local) {
  return local === '' ? null : new Date(local).toISOString();
}
