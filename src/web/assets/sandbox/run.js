// The button *Run a payment*: plays the life of a payment in ten seconds, from its invoice to its confirmation.
//
// Invariant: a run uses its own invoice. It ends at its first error, and when the sandbox begins anew.

import { fill, h, money, root } from '../shared/dom.js';
import { keys, Refused, request, runDisabled, Unreachable } from './ask.js';
import { state } from './controls.js';

/** @typedef {import("openapi").components["schemas"]["Invoice"]} Invoice */
/** @typedef {import("controls").components["schemas"]["SandboxPaymentSeen"]} Payment */

/** Pause after the invoice and after the coin, and time of all confirmations, in milliseconds. */
const PAUSE_MS = 1900;
const CONFIRMING_MS = 6000;
/** Largest number of steps to the needed confirmations. More confirmations come several at a time. */
const STEPS_MAX = 6;

/** A run was ended, because another one or another sandbox began. */
class Ended extends Error {}

const names = /** @type {const} */ (['Invoice created', 'Coin picked', 'Payment seen', 'Confirming', 'Paid']);

/**
 * Creates the button and the list of steps.
 * @param {() => void} changed called after each step
 */
export function payments(changed) {
  const button = h('button', { type: 'button', class: 'primary', onclick: () => runDisabled(button, play) }, 'Run a payment');
  const link = h('a', { target: '_blank', rel: 'noopener', hidden: true }, 'Open checkout');
  const steps = h('ol', { class: 'steps run' });
  const said = h('p', { class: 'visually-hidden', role: 'status' });
  const element = h('div', { class: 'stack' }, h('div', { class: 'row' }, button, link), steps, said);
  steps.hidden = true;
  let turns = 0;
  /** Number of the step that is shown last. */
  let at = 0;

  /** Ends the run, if there is one. */
  function end() {
    turns += 1;
    steps.hidden = true;
    link.hidden = true;
    said.textContent = '';
  }

  /** Shows a step as done, and the next one as current. @param {number} step @param {string} detail */
  function done(step, detail) {
    at = step + 1;
    const entries = [...steps.children];
    entries[step]?.replaceWith(stepEntry(step, 'good', detail));
    if (entries[at]) entries[at]?.replaceWith(stepEntry(at, 'now', ''));
    said.textContent = `${names[step]}: ${detail}`;
    changed();
  }

  /** @param {string} detail */
  function failed(detail) {
    steps.children[at]?.replaceWith(stepEntry(at, 'bad', detail));
    said.textContent = detail;
  }

  async function play() {
    turns += 1;
    const turn = turns;
    /** Waits for a promise, unless the run has ended meanwhile. @type {<T>(promise: Promise<T>) => Promise<T>} */
    const during = async (promise) => {
      const result = await promise;
      if (turn !== turns) throw new Ended();
      return result;
    };
    const pause = (/** @type {number} */ ms) => during(new Promise((resolve) => setTimeout(resolve, ms)));
    at = 0;
    link.hidden = true;
    steps.hidden = false;
    fill(steps, names.map((_, step) => stepEntry(step, step === 0 ? 'now' : '', '')));
    try {
      const invoice = await during(createInvoice());
      link.href = invoice.checkoutUrl;
      link.hidden = false;
      done(0, money(invoice.amount, invoice.currency));
      await pause(PAUSE_MS);
      const picked = await during(pickCoin(invoice.id));
      done(1, `${picked.amountExpected} ${picked.assetSymbol}`);
      await pause(PAUSE_MS);
      const seen = await during(
        /** @type {Promise<Payment>} */ (request('POST', 'sandbox/payments', { body: { invoice: invoice.id } })),
      );
      done(2, 'in the mempool');
      const counts = confirmationSteps(seen.confirmationsNeeded);
      for (const count of counts) {
        await pause(CONFIRMING_MS / counts.length);
        await during(request('POST', `sandbox/payments/${seen.id}`, { body: { confirmations: count } }));
        const text = `${count} of ${seen.confirmationsNeeded} confirmations`;
        steps.children[3]?.replaceWith(stepEntry(3, 'now', text));
        said.textContent = text;
        changed();
      }
      if (counts.length === 0) {
        await pause(CONFIRMING_MS);
        await during(request('POST', `sandbox/payments/${seen.id}`, { body: { state: 'confirmed' } }));
      }
      done(3, counts.length === 0 ? 'its block is final' : `${counts.at(-1)} confirmations`);
      done(4, 'Ship the order when your webhook says so.');
    } catch (error) {
      if (turn !== turns || error instanceof Ended) return;
      failed(error instanceof Unreachable ? 'Stopped.' : error instanceof Error ? error.message : String(error));
    }
  }

  return { element, end };
}

/** @param {number} step @param {'' | 'now' | 'good' | 'bad'} kind @param {string} detail */
function stepEntry(step, kind, detail) {
  return h(
    'li',
    { class: kind, 'aria-current': kind === 'now' ? 'step' : null },
    names[step],
    detail && h('span', { class: 'quiet' }, ` ${detail}`),
  );
}

/** Creates an invoice. Its webhooks go to an inbox of this page if the account has no endpoint. @returns {Promise<Invoice>} */
async function createInvoice() {
  const { account } = await state.get();
  const body = { amount: '20.00', currency: 'EUR', description: 'Run a payment' };
  const webhookUrl = new URL('sandbox/inbox/page', root).href;
  if (account.endpoints.length === 0) {
    try {
      return await request('POST', 'v1/invoices', { key: keys.test, body: { ...body, webhookUrl } });
    } catch (error) {
      // This page is not on loopback, so the sandbox sends no webhooks to its address.
      if (!(error instanceof Refused && error.param === 'webhookUrl')) throw error;
    }
  }
  return request('POST', 'v1/invoices', { key: keys.test, body });
}

/** Picks litecoin, or another coin if litecoin is not on offer. @param {string} id @returns {Promise<Invoice>} */
async function pickCoin(id) {
  const { data } = await /** @type {Promise<{ data: { id: string }[] }>} */ (
    request('GET', 'v1/currencies', { key: keys.test, isOwn: true })
  );
  const coin = data.find((one) => one.id === 'LTC') ?? data[0];
  return request('POST', `v1/invoices/${id}/select`, { key: keys.test, body: { asset: coin?.id ?? 'LTC' } });
}

/** Returns the numbers of confirmations on the way to the needed number; none for a final block. @param {Payment['confirmationsNeeded']} needed */
function confirmationSteps(needed) {
  if (typeof needed !== 'number') return [];
  const length = Math.min(needed, STEPS_MAX);
  return Array.from({ length }, (_, step) => Math.ceil(((step + 1) * needed) / length));
}
