// Building blocks of pages that a script fills: elements, a small router, and formats for people.
//
// Invariant: server data is inserted as text, never as markup. Links lead only to this service, to websites or to known
// apps. Scripts do not compute with money: amounts are the server's texts.

import { add, h, s } from './element.js';
import { exactText, keepTimesTrue, localText, timeText } from './time.js';
import { tipOnDemand } from './tip.js';

export { add, fill, h, isSafe, s } from './element.js';
export { table } from './table.js';

/** @typedef {import("./element.js").Child} Child */
/** @typedef {import("./element.js").Props} Props */
/**
 * A column of a table.
 * @template Row
 * @typedef {import("./table.js").Column<Row>} Column
 */

/** Root URL of the service, which may be below a path of another server: `../../../` from this file. */
export const root = new URL('../../../', import.meta.url);

/**
 * Formats an amount with its currency. Groups the digits before the point by three.
 * @param {string | null | undefined} amount
 * @param {string | null | undefined} [currency]
 */
export function money(amount, currency) {
  if (amount === null || amount === undefined) return '–';
  const [whole = '', rest] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f').replace('-', '\u2212');
  const text = rest === undefined ? grouped : `${grouped}.${rest}`;
  return currency ? `${text}\u00a0${currency}` : text;
}

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/**
 * Formats a time: relative within a day, otherwise as a local date with its time. Shows the exact time, local and in
 * UTC, on hover and focus.
 * @param {string | null | undefined} moment
 * @returns {Node}
 */
export function localTime(moment) {
  if (!moment) return document.createTextNode('–');
  keepTimesTrue();
  return timeElement(moment, timeText(moment), { 'data-live': true });
}

/** Formats a time as a local date with its time in seconds. @param {string} moment */
export const exactTime = (moment) => timeElement(moment, localText(moment), {});

/** @param {string} moment @param {string} text @param {Props} props */
function timeElement(moment, text, props) {
  tipOnDemand();
  return h(
    'time',
    { datetime: moment, class: 'number', tabindex: '0', 'data-tip': exactText(moment), ...props },
    text,
  );
}

/**
 * Formats the times in a text from the server.
 * @param {string} text
 * @returns {Child[]}
 */
export function withLocalTimes(text) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
  return parts.map((part, at) => (at % 2 === 1 ? exactTime(part) : part));
}

/**
 * Formats a day such as `2026-11-22`.
 * @param {string} day
 */
export function dayName(day) {
  return days.format(new Date(`${day}T00:00:00Z`));
}

/** Names of groups of chains. @type {Record<string, string>} */
const families = { evm: 'Ethereum, Base and Polygon', utxo: 'Bitcoin' };

/**
 * Formats an identifier as words: `awaiting_payment` becomes “Awaiting payment”.
 * @param {string} name
 */
export function words(name) {
  const text = families[name] ?? name.replace(/[_.]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const tones = /** @type {Record<string, string>} */ ({});
for (const name of ['confirmed', 'overpaid', 'paid', 'delivered', 'active', 'assigned', 'recorded'])
  tones[name] = 'good';
for (const name of ['detected', 'approved', 'processing', 'awaiting_payment', 'provisioning', 'seen'])
  tones[name] = 'info';
for (const name of ['underpaid', 'paid_late', 'requested', 'pending', 'queued', 'open', 'unknown'])
  tones[name] = 'warn';
for (const name of ['failed', 'rejected', 'suspended', 'dropped', 'orphaned', 'refused']) tones[name] = 'bad';

/**
 * Creates a badge with a status and its colour.
 * @param {string} status
 * @param {string} [tone] good, info, warn or bad; replaces the status's own tone
 */
export function badge(status, tone) {
  return h('span', { class: `badge ${tone ?? tones[status] ?? ''}` }, words(status));
}

/**
 * Creates a button that copies a text and confirms it.
 * @param {string} text
 * @param {string} [name] name of the copied thing, such as “address”
 */
export function copyButton(text, name = 'text') {
  const button = h(
    'button',
    { type: 'button', class: 'small', 'aria-label': `Copy the ${name}`, onclick: copy },
    'Copy',
  );
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h('textarea', { value: text, readonly: true, class: 'visually-hidden' });
      (button.closest('dialog') ?? document.body).append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      button.focus();
    }
    button.textContent = 'Copied';
    toast(`Copied the ${name}.`);
  }
  return button;
}

/**
 * Shows a text completely, with a copy button.
 * @param {string} text
 * @param {string} [name]
 */
export function secretWithCopy(text, name) {
  return h('div', { class: 'secret' }, h('code', null, text), copyButton(text, name));
}

/** Shows a message for six seconds and announces it to screen readers. @param {string} text */
export function toast(text) {
  let place = document.querySelector('.toasts');
  const dialog = document.querySelector('dialog[open]');
  if (!place) place = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });
  (dialog ?? document.body).append(place);
  const shown = h('p', { class: 'toast' }, text);
  place.replaceChildren(shown);
  setTimeout(() => shown.remove(), 6000);
}

/**
 * Draws a QR code from the server's path data.
 * @param {import("openapi").components["schemas"]["QrCode"]} code
 * @param {string} label
 */
export function qrCode({ size, path }, label) {
  return s(
    'svg',
    { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
    s('path', { d: path, fill: '#000' }),
  );
}

/**
 * Creates a list of names and values. Skips empty values.
 * @param {[string, Child][]} entries
 */
export function facts(...entries) {
  const there = entries.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return h(
    'dl',
    { class: 'facts' },
    there.map(([name, value]) => [h('dt', null, name), h('dd', null, value)]),
  );
}

/**
 * Creates the empty state of a list: what will be here, and how to begin.
 * @param {string} title
 * @param {Child} text
 * @param {...Child} actions
 */
export function empty(title, text, ...actions) {
  return h('div', { class: 'empty' }, h('h2', null, title), h('p', null, text), actions);
}

/**
 * Returns the current place: `#/invoices/ID?text=x` is the path `/invoices/ID` and its query.
 * @returns {{ path: string, query: URLSearchParams }}
 */
export function currentPlace() {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?', 2);
  return { path: path || '/', query: new URLSearchParams(query) };
}

/**
 * Returns the link to a place in the page. Skips empty query values.
 * @param {string} path
 * @param {Record<string, string | null | undefined>} [query]
 */
export function to(path, query = {}) {
  const there = Object.entries(query).filter(([, value]) => value);
  const text = new URLSearchParams(/** @type {[string, string][]} */ (there)).toString();
  return `#${path}${text ? `?${text}` : ''}`;
}

/**
 * Calls `onChange` now and whenever the place changes.
 * @param {() => void} onChange
 */
export function router(onChange) {
  addEventListener('hashchange', onChange);
  onChange();
}

/**
 * Opens a dialog and returns its result. `build` receives the function that closes it with a result. Escape closes it
 * with null. Focus returns to its earlier place.
 * @template T
 * @param {string} title
 * @param {(close: (answer: T) => void) => Child} build
 * @returns {Promise<T | null>}
 */
export function ask(title, build) {
  return new Promise((answer) => {
    const before = document.activeElement;
    const heading = h('h2', { id: `dialog-${Math.random().toString(36).slice(2)}` }, title);
    const dialog = h('dialog', { 'aria-labelledby': heading.id });
    /** @type {T | null} */
    let given = null;
    /** @param {T} value */
    const close = (value) => {
      given = value;
      dialog.close();
    };
    add(dialog, [h('div', { class: 'stack' }, heading, build(close))]);
    dialog.addEventListener('close', () => {
      const toasts = dialog.querySelector('.toasts');
      if (toasts) document.body.append(toasts);
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      answer(given);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
