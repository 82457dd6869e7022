// Building blocks of the pages: paged lists, filters, headings, tabs, links and buttons.

import { runBusy, field, operator, problemText } from '../shared/api.js';
import { ask, copyButton, fill, h, currentPlace, root, table, to, toast, words } from '../shared/dom.js';
import { toHex } from '../shared/hmac.js';
import { formatJson, source } from '../shared/json.js';

/** @typedef {import("../shared/dom.js").Child} Child */
/** @typedef {import("./dashboard.js").Context} Context */

/**
 * A page of a list.
 * @template Row
 * @typedef {{ data: Row[], hasMore?: boolean, nextBefore?: string | null }} ListPage
 */

/** Maximum number of pages without a match that a search reads before it asks. */
const EMPTY_PAGES_MAX = 20;

/**
 * Creates a list that loads page by page, with a button for older entries. `none` is its empty state, and `href` the
 * place that a row leads to. `refresh` reads the newest page again: new rows are added, changed rows are drawn again.
 * @template Row
 * @param {{ label: string, columns: import("../shared/dom.js").Column<Row>[], none: Child, more?: string,
 *   href?: (row: Row) => string | null, load: (before: string | null) => Promise<ListPage<Row>> }} options
 * @returns {Promise<HTMLElement & { refresh: () => Promise<void> }>}
 */
export async function pagedList({ label, columns, none, href, load, more: moreText = 'Show older' }) {
  /** Reads a page, and the next ones while nothing is found. @param {string | null} before */
  const read = async (before) => {
    let page = await load(before);
    for (let pages = 1; page.data.length === 0 && page.hasMore && pages < EMPTY_PAGES_MAX; pages += 1)
      page = await load(page.nextBefore ?? null);
    return page;
  };
  let last = await read(null);
  let rows = last.data;
  const list = table(label, columns, rows, { href });
  const told = h('p', { class: 'quiet', role: 'status' });
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const more = h('button', { type: 'button', class: 'small', onclick: next }, moreText);
  const empty = h('div', null, none);
  const text = (/** @type {string} */ found) =>
    rows.length === 0 && last.hasMore ? 'No match so far. Older entries have not been searched.' : found;
  const draw = (/** @type {string} */ found) => {
    list.element.hidden = rows.length === 0;
    empty.hidden = rows.length > 0 || Boolean(last.hasMore);
    more.hidden = !last.hasMore;
    problem.hidden = true;
    told.textContent = text(found);
  };
  async function next() {
    await runBusy(more, async () => {
      try {
        const page = await read(last.nextBefore ?? null);
        last = page;
        rows = [...rows, ...page.data];
        list.append(page.data);
        // Live updates read only this list again, so that its older rows stay.
        list.element.setAttribute('data-extended', '');
        draw(`${page.data.length} more shown.`);
      } catch (error) {
        fill(problem, problemText(error));
        problem.hidden = false;
      }
    });
  }
  async function refresh() {
    const newest = await read(null);
    const ids = new Set(newest.data.map(toId));
    const overlap = rows.findLastIndex((row) => ids.has(toId(row)));
    const older = overlap < 0 ? [] : rows.slice(overlap + 1);
    rows = [...newest.data, ...older];
    if (older.length === 0) last = newest;
    list.replace(rows);
    draw('');
  }
  draw('');
  const foot = h('div', { class: 'row' }, more, told);
  const element = h('div', { class: 'stack', 'data-list': true }, empty, list.element, problem, foot);
  refreshers.set(element, refresh);
  return Object.assign(element, { refresh });
}

/** Functions that read the newest entries of a list. @type {WeakMap<Element, () => Promise<void>>} */
const refreshers = new WeakMap();

/** Reads the newest entries of all lists of the open page. */
export async function refreshLists() {
  await Promise.all([...document.querySelectorAll('[data-list]')].map((list) => refreshers.get(list)?.()));
}

/** Returns what identifies a row of a list. @param {unknown} row */
const toId = (row) => /** @type {{ id?: unknown }} */ (row).id ?? JSON.stringify(row);

/**
 * Creates a form of filters in one line. Their values are in the page's address. `keep` names values of the address
 * that stay.
 * @param {string} path
 * @param {import("../shared/api.js").Field[]} fields
 * @param {{ keep?: string[] }} [options]
 */
export function filters(path, fields, { keep = [] } = {}) {
  const { query } = currentPlace();
  const parts = fields.map((one) => {
    const part = field({ ...one, value: query.get(one.name) ?? '' });
    // The label of a field that its first option names, as in “Any status”, is visible only on a phone.
    if (one.options?.[0]?.[1].startsWith('Any ')) part.element.classList.add('named');
    return part;
  });
  const kept = Object.fromEntries(keep.map((name) => [name, query.get(name)]));
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    const values = Object.fromEntries(parts.map(({ name, value }) => [name, String(value())]));
    location.hash = to(path, { ...kept, ...values });
  };
  const change = (/** @type {Event} */ event) => {
    if (event.target instanceof HTMLSelectElement) go(event);
  };
  const isSet = fields.some(({ name }) => query.get(name));
  const isTyped = fields.some(({ type }) => type !== 'select');
  return h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: go, onchange: change },
    parts.map(({ element }) => element),
    isTyped ? h('button', { type: 'submit', class: 'small' }, 'Apply filters') : null,
    isSet ? h('a', { class: 'button small plain', href: to(path, kept) }, 'Clear filters') : null,
  );
}

/**
 * Creates the heading of a page with a sentence and actions.
 * @param {string} title
 * @param {Child} text
 * @param {...Child} actions
 */
export function head(title, text, ...actions) {
  return h(
    'div',
    { class: 'head' },
    h('div', { class: 'stack' }, h('h1', null, title), text ? h('p', { class: 'quiet' }, text) : null),
    h('div', { class: 'row' }, actions),
  );
}

/**
 * Creates tabs between related pages.
 * @param {string} label
 * @param {[string, string][]} entries path and text of each tab
 */
export function tabs(label, entries) {
  const { path } = currentPlace();
  return h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    entries.map(([there, text]) => h('a', { href: to(there), 'aria-current': there === path ? 'page' : null }, text)),
  );
}

/**
 * Returns the options of a filter: any, and each of these values.
 * @param {readonly string[]} values
 * @param {(value: string) => string} [name]
 * @param {string} [any] text of the first option, which may name the field
 * @returns {[string, string][]}
 */
export const anyOf = (values, name = words, any = 'Any') => [
  ['', any],
  ...values.map((one) => /** @type {[string, string]} */ ([one, name(one)])),
];

/** Options of a choice of the currency. @type {[string, string][]} */
export const currencies = [
  ['EUR', 'EUR'],
  ['USD', 'USD'],
];

/** Options of a filter by currency. @type {[string, string][]} */
export const anyCurrency = [['', 'Any currency'], ...currencies];

const DAY_MS = 24 * 3600 * 1000;

/**
 * Returns the UTC times at which a range of days begins and ends. `from` is inclusive and `to` exclusive, so the last
 * day is included. An invalid day is left unchanged, so that the server refuses it.
 * @param {string | null} from
 * @param {string | null} until
 */
export function utcRange(from, until) {
  const begin = (/** @type {string} */ day) => `${day}T00:00:00Z`;
  const last = until ? Date.parse(begin(until)) : Number.NaN;
  const end = Number.isNaN(last) ? null : new Date(last + DAY_MS).toISOString();
  return { from: from ? begin(from) : null, to: until ? (end ?? until) : null };
}

/**
 * Creates a link to a file from the server.
 * @param {string} path below /dashboard/api/
 * @param {string} text
 * @param {string} [name]
 */
export function download(path, text, name) {
  return h(
    'a',
    {
      class: 'button small',
      href: operatorUrl(path),
      download: name ?? true,
      onclick: () => toast('The download has started. The browser shows its progress.'),
    },
    text,
  );
}

/** Returns the URL of an operation of the operator API. @param {string} path below /dashboard/api/ */
export const operatorUrl = (path) => new URL(`dashboard/api/${path}`, root).href;

/**
 * Creates a link to a block explorer, or shows only the transaction id if there is no explorer.
 * @param {string | null} url
 * @param {string} txid
 */
export function txLink(url, txid) {
  const text = h('span', { class: 'mono' }, txid);
  return url
    ? h(
        'a',
        { href: url, rel: 'noopener noreferrer', target: '_blank' },
        text,
        h('span', { class: 'visually-hidden' }, ' (opens the explorer in a new tab)'),
      )
    : text;
}

/** Shows the end of an id, because ids of one minute have the same start. @param {string} id */
export function shortId(id) {
  return h('span', { class: 'mono', title: id }, `…${id.slice(-6)}`);
}

/** Creates a link with the short form of an id. @param {string} path @param {string} id */
export function idLink(path, id) {
  return h('a', { href: to(`${path}/${encodeURIComponent(id)}`) }, shortId(id));
}

/** Creates a button that shows JSON in a dialog. @param {string} title @param {unknown} json @param {string} [text] */
export function jsonButton(title, json, text = 'Show body') {
  const open = () =>
    ask(title, (/** @type {(answer: null) => void} */ close) => [
      formattedJson(json),
      h(
        'div',
        { class: 'ends' },
        copyButton(source(json), 'JSON'),
        h('button', { type: 'button', onclick: () => close(null) }, 'Close'),
      ),
    ]);
  return h('button', { type: 'button', class: 'small', onclick: open }, text);
}

/**
 * Returns a coin's symbol, followed by its asset id if the id differs from the symbol.
 * @param {string | null} symbol
 * @param {string} asset
 */
export function coinName(symbol, asset) {
  return symbol === asset ? asset : `${symbol} (${asset})`;
}

/**
 * Creates a button that runs `work`, confirms it and reloads the page.
 * @param {Context} context
 * @param {string} text
 * @param {string} done
 * @param {() => Promise<unknown>} work
 * @param {string} [kind] a class of the button
 */
export function actionButton(context, text, done, work, kind = '') {
  const button = h('button', { type: 'button', class: kind, onclick: run }, text);
  async function run() {
    await runBusy(button, async () => {
      try {
        const is = await work();
        if (is === false) return;
        toast(done);
        await context.reload();
      } catch (error) {
        const shown = h('div', { class: 'note bad', role: 'alert' }, problemText(error));
        (button.closest('.row, .ends') ?? button).after(shown);
      }
    });
  }
  return button;
}

/** Returns a header with a new idempotency key. */
export function retryKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { 'Idempotency-Key': toHex(bytes) };
}

/** Formats received JSON in indented lines. @param {unknown} json */
export function formattedJson(json) {
  return h('pre', { tabindex: '0' }, formatJson(source(json)));
}

/** Reads all coins. @returns {Promise<import("openapi").components["schemas"]["Coin"][]>} */
export async function readCoins() {
  return (await operator('GET', 'coins')).data;
}

/**
 * Asks the user to confirm an action.
 * @param {string} title
 * @param {import("../shared/dom.js").Child} text
 * @param {string} verb
 * @returns {Promise<boolean>}
 */
export async function confirmAction(title, text, verb) {
  const sure = await ask(title, (/** @type {(answer: boolean) => void} */ close) => [
    h('p', null, text),
    h(
      'div',
      { class: 'ends' },
      h('button', { type: 'button', onclick: () => close(false) }, 'Back'),
      h('button', { type: 'button', class: 'danger', onclick: () => close(true) }, verb),
    ),
  ]);
  return sure === true;
}
