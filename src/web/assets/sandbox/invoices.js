// The latest invoices with their actions: pay in several ways, confirm step by step, drop a payment, or restore it.
//
// Invariant: amounts are computed exactly, on their digits.

import { badge, fill, h, money, toast } from '../shared/dom.js';
import { request, runDisabled, keys } from './ask.js';
import { state } from './controls.js';

/** @typedef {import("openapi").components["schemas"]["Invoice"]} Invoice */
/** @typedef {import("controls").components["schemas"]["SandboxPaymentSeen"]} Payment */

const SHOWN_MAX = 20;
/** The newest payment that was made on this page, by invoice. @type {Map<string, Payment>} */
const payments = new Map();

export function invoices() {
  const list = h('ul', { class: 'made' });
  const amount = h('input', { id: 'amount', value: '20.00', inputmode: 'decimal', required: true });
  const currency = h(
    'select',
    { id: 'currency' },
    ['EUR', 'USD'].map((name) => h('option', { value: name }, name)),
  );
  const coins = ['LTC', 'BTC', 'ETH', 'USDC-BASE', 'SOL', 'none yet'];
  const coin = h(
    'select',
    { id: 'coin' },
    coins.map((name) => h('option', { value: name }, name)),
  );
  const mode = h(
    'select',
    { id: 'mode' },
    ['test', 'live'].map((name) => h('option', { value: name }, name)),
  );
  const make = h('button', { class: 'primary' }, 'Create invoice');
  const fields = [
    ['Amount', amount],
    ['Currency', currency],
    ['Coin', coin],
    ['Mode', mode],
  ];
  const form = h(
    'form',
    {
      class: 'stack',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void runDisabled(make, async () => {
          const asset = coin.value === 'none yet' ? {} : { asset: coin.value };
          await request('POST', 'v1/invoices', {
            key: secretKey(mode.value === 'live'),
            body: { amount: amount.value, currency: currency.value, ...asset },
          });
          await refresh();
        });
      },
    },
    h(
      'div',
      { class: 'make' },
      fields.map(([name, input]) => {
        const element = /** @type {HTMLElement} */ (input);
        return h('div', { class: 'field' }, h('label', { for: element.id }, name), element);
      }),
    ),
    h('div', { class: 'row' }, make),
  );
  const element = h(
    'section',
    { class: 'card', 'aria-labelledby': 'invoices-name' },
    h('h2', { id: 'invoices-name' }, 'Invoices'),
    form,
    list,
  );

  /** @type {Promise<void> | null} */
  let reading = null;
  let isStale = false;
  async function read() {
    const lists = await Promise.all(
      [false, true].map(
        (isLive) =>
          /** @type {Promise<{ data: Invoice[] }>} */ (
            request('GET', `v1/invoices?limit=${SHOWN_MAX}`, { key: secretKey(isLive), isOwn: true })
          ),
      ),
    );
    const found = lists.flatMap(({ data }) => data);
    found.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.focus : undefined;
    fill(
      list,
      found.length === 0
        ? h('li', { class: 'quiet' }, 'No invoices yet. Create one, or run a payment.')
        : found.slice(0, SHOWN_MAX).map((invoice) => invoiceEntry(invoice, refresh)),
    );
    if (focused)
      /** @type {HTMLElement | null} */ (list.querySelector(`[data-focus="${CSS.escape(focused)}"]`))?.focus();
  }

  /** Reads the invoices again. Requests during a read cause one more read. */
  function refresh() {
    if (reading) {
      isStale = true;
      return reading;
    }
    reading = read()
      .catch(() => {})
      .finally(() => {
        reading = null;
        if (isStale) {
          isStale = false;
          void refresh();
        }
      });
    return reading;
  }
  return { element, refresh, forget: () => payments.clear() };
}

/** @param {boolean} isLive */
function secretKey(isLive) {
  return isLive ? keys.live : keys.test;
}

/**
 * Creates the entry of an invoice with its actions.
 * @param {Invoice} invoice
 * @param {() => Promise<void>} refresh
 */
function invoiceEntry(invoice, refresh) {
  const { id, status } = invoice;
  const made = payments.get(id);
  const isOpen = status === 'created' || status === 'awaiting_payment';
  /** @type {[string, () => Promise<unknown>][]} */
  const acts = [];
  if (isOpen) {
    acts.push(
      ['Pay exactly', () => pay(invoice, 1n, 1n)],
      ['Pay half', () => pay(invoice, 1n, 2n)],
      ['Pay double', () => pay(invoice, 2n, 1n)],
      ['Pay late', () => payLate(invoice)],
      ['Pay without confirming', () => send(invoice)],
    );
  } else if (status === 'underpaid') acts.push(['Pay the rest', () => pay(invoice, 1n, 1n)]);
  else if (status === 'expired' && invoice.asset) acts.push(['Pay late', () => pay(invoice, 1n, 1n)]);
  if (made && status === 'detected') {
    acts.push(
      ['Add confirmation', () => changePayment(made, { confirmations: (made.confirmations ?? 0) + 1 })],
      ['Confirm payment', () => changePayment(made, { state: 'confirmed' })],
    );
  }
  if (made?.state === 'dropped') acts.push(['Restore payment', () => changePayment(made, { state: 'seen' })]);
  else if (made) {
    acts.push(['Drop payment', () => changePayment(made, { state: 'dropped' })]);
    if (made.state === 'confirmed' || made.confirmations)
      acts.push(['Orphan payment', () => changePayment(made, { state: 'orphaned' })]);
  }
  const depth = status === 'detected' ? made?.confirmations : null;

  /** Changes the state of a payment of this invoice. @param {Payment} payment @param {object} body */
  async function changePayment(payment, body) {
    payments.set(id, await request('POST', `sandbox/payments/${payment.id}`, { body }));
  }
  return h(
    'li',
    null,
    h(
      'div',
      { class: 'row between' },
      h(
        'span',
        { class: 'name' },
        money(invoice.amount, invoice.currency),
        invoice.amountExpected &&
          h('span', { class: 'quiet' }, ` ${invoice.amountExpected} ${invoice.assetSymbol ?? ''}`),
        typeof depth === 'number' &&
          h('span', { class: 'quiet' }, `, ${depth} of ${made?.confirmationsNeeded} confirmations`),
      ),
      h('span', { class: 'row' }, invoice.livemode && badge('live', 'info'), badge(status)),
    ),
    h(
      'div',
      { class: 'row' },
      h('code', null, id),
      h('a', { href: invoice.checkoutUrl, target: '_blank', rel: 'noopener' }, 'Checkout'),
    ),
    acts.length > 0 &&
      h(
        'div',
        { class: 'row' },
        acts.map(([name, act], at) => {
          const button = h(
            'button',
            {
              type: 'button',
              class: at === 0 ? 'small' : 'small plain',
              'data-focus': `${id} ${name}`,
              onclick: () =>
                runDisabled(button, async () => {
                  await act();
                  await refresh();
                }),
            },
            name,
          );
          return button;
        }),
      ),
  );
}

/** Chooses a coin for an invoice without one. @param {Invoice} invoice @returns {Promise<Invoice>} */
async function withCoin(invoice) {
  if (invoice.asset) return invoice;
  const path = `v1/invoices/${invoice.id}/select`;
  return request('POST', path, { key: secretKey(invoice.livemode), body: { asset: 'LTC' } });
}

/**
 * Pays a fraction of the amount due and confirms it. Chooses a coin first if the invoice has none.
 * @param {Invoice} invoice
 * @param {bigint} times
 * @param {bigint} parts
 */
async function pay(invoice, times, parts) {
  const due = await withCoin(invoice);
  const { id } = await send(due, times === parts ? {} : { amount: scaled(due.amountExpected ?? '0', times, parts) });
  payments.set(due.id, await request('POST', `sandbox/payments/${id}`, { body: { state: 'confirmed' } }));
}

/**
 * Pays an invoice without confirming the payment.
 * @param {Invoice} invoice
 * @param {object} [amount] by default the amount due
 */
async function send(invoice, amount = {}) {
  const body = { invoice: invoice.id, ...amount };
  const seen = /** @type {Payment} */ (await request('POST', 'sandbox/payments', { body }));
  payments.set(invoice.id, seen);
  return seen;
}

/** Pays an invoice after its deadline. @param {Invoice} invoice */
async function payLate(invoice) {
  const due = await withCoin(invoice);
  const now = Date.parse((await state.get()).time);
  const after = new Date(Math.max(now, Date.parse(due.expiresAt)) + 1000);
  await request('POST', 'sandbox/clock', { body: { set: after.toISOString() } });
  state.refresh();
  toast('The clock was moved past the deadline first.');
  await pay(due, 1n, 1n);
}

/**
 * Multiplies an amount by `times` and divides it by `parts`.
 * @param {string} amount
 * @param {bigint} times
 * @param {bigint} parts
 */
export function scaled(amount, times, parts) {
  const [whole = '0', rest = ''] = amount.split('.');
  const digits = String((BigInt(whole + rest) * times) / parts).padStart(rest.length + 1, '0');
  return rest === '' ? digits : `${digits.slice(0, -rest.length)}.${digits.slice(-rest.length)}`;
}
