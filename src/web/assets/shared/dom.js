// Building blocks of pages that a script fills: elements, a small router, and formats for people.
//
// Invariant: server data is inserted as text, never as markup. Links lead only to this service, to websites or to known
// apps. Scripts do not compute with money: amounts are the server's texts.

/** @typedef {Node | string | number | null | undefined | false | readonly unknown[]} Child a list is of children */
/** @typedef {Record<string, unknown>} Props */

/**
 * Creates an element. A function property whose name begins with `on` is an event listener. `true` is an attribute
 * without a value; `false`, `null` and `undefined` add none. `value`, `checked` and `selected` are set as properties.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) {
      if (typeof value !== 'function') throw new Error(`${name} must be a function`);
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (['value', 'checked', 'selected', 'indeterminate'].includes(name)) {
      Object.assign(element, { [name]: value });
    } else if (['href', 'src', 'action'].includes(name)) {
      if (isSafe(String(value))) element.setAttribute(name, String(value));
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  add(element, children);
  return element;
}

/**
 * Creates an SVG element.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Child} children
 */
export function s(tag, props, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(props ?? {})) element.setAttribute(name, String(value));
  add(element, children);
  return element;
}

/** URL schemes that open authenticators and wallets. */
const apps = ['otpauth:', 'bitcoin:', 'litecoin:', 'dogecoin:', 'ethereum:', 'solana:'];

/**
 * Returns true if a URL leads to this service, a website or a known app. `javascript:` URLs do not.
 * @param {string} url
 */
export function isSafe(url) {
  try {
    return ['http:', 'https:', 'blob:', ...apps].includes(new URL(url, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/**
 * Appends children. Skips empty ones and flattens lists.
 * @param {Node} element
 * @param {Child[]} children
 */
export function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * Replaces all children of an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

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

const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/**
 * Formats a time in local time. The element's title is the exact time in UTC.
 * @param {string | null | undefined} moment
 * @returns {Node}
 */
export function localTime(moment) {
  if (!moment) return document.createTextNode('–');
  return h('time', { datetime: moment, title: moment, class: 'number' }, moments.format(new Date(moment)));
}

/**
 * Formats the times in a text from the server.
 * @param {string} text
 * @returns {Child[]}
 */
export function withLocalTimes(text) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
  return parts.map((part, at) => (at % 2 === 1 ? localTime(part) : part));
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
 * A column of a table.
 * @template Row
 * @typedef {{ name: string, cell: (row: Row) => Child, end?: boolean }} Column
 */

/** Minimum width of a readable table, in pixels. */
const TABLE_WIDTH_MIN = 560;

/**
 * Creates a table. In a narrow place, as on a phone, its rows become cards. `label` is its name for screen readers.
 * @template Row
 * @param {string} label
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @returns {{ element: HTMLElement, append: (rows: Row[]) => void }}
 */
export function table(label, columns, rows) {
  const body = h('tbody', { role: 'rowgroup' });
  const names = columns.map((column) =>
    h(
      'th',
      { role: 'columnheader', scope: 'col', class: column.end ? 'end' : null },
      column.name || h('span', { class: 'visually-hidden' }, 'Actions'),
    ),
  );
  const head = h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, names));
  const card = h(
    'div',
    { class: 'card table', tabindex: '0', role: 'group', 'aria-label': label },
    h('table', { role: 'table', 'aria-label': label }, head, body),
  );
  function fit() {
    card.classList.remove('rows');
    card.classList.toggle('rows', card.clientWidth < TABLE_WIDTH_MIN || card.scrollWidth > card.clientWidth);
  }
  /** @param {Row[]} more */
  const append = (more) => {
    add(
      body,
      more.map((row) =>
        h(
          'tr',
          { role: 'row' },
          columns.map((column) =>
            h(
              'td',
              { role: 'cell', 'data-label': column.name || null, class: column.end ? 'end number' : null },
              h('div', null, column.cell(row)),
            ),
          ),
        ),
      ),
    );
    if (card.isConnected) fit();
  };
  append(rows);
  // The height of this element never changes, so `fit` does not trigger the observer again.
  const width = h('div');
  new ResizeObserver(fit).observe(width);
  return { element: h('div', null, width, card), append };
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
