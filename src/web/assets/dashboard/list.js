// Building blocks of the pages: paged lists, filters, headings, tabs, links and buttons.

import { runBusy, field, operator, problemText } from '../shared/api.js';
import { fill, h, currentPlace, root, table, to, toast } from '../shared/dom.js';
import { toHex } from '../shared/hmac.js';
import { formatJson, source } from '../shared/json.js';

/** @typedef {import("../shared/dom.js").Child} Child */
/** @typedef {import("./dashboard.js").Context} Context */

/**
 * Creates a list that loads page by page, with a button for older entries. `none` is its empty state.
 * @template Row
 * @param {{ label: string, columns: import("../shared/dom.js").Column<Row>[], none: Child,
 *   load: (before: string | null) => Promise<{ data: Row[], hasMore?: boolean, nextBefore?: string | null }> }} options
 * @returns {Promise<HTMLElement>}
 */
export async function pagedList(options) {
  const first = await options.load(null);
  const list = table(options.label, options.columns, first.data);
  let before = first.nextBefore ?? null;
  const told = h('p', { class: 'quiet', role: 'status' });
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const more = h('button', { type: 'button', onclick: next }, 'Show older');
  more.hidden = !first.hasMore;
  let count = first.data.length;
  async function next() {
    await runBusy(more, async () => {
      try {
        const page = await options.load(before);
        list.append(page.data);
        count += page.data.length;
        before = page.nextBefore ?? null;
        more.hidden = !page.hasMore;
        problem.hidden = true;
        list.element.hidden = count === 0;
        told.textContent =
          page.data.length === 0 && page.hasMore
            ? 'None among these; older ones have not been looked at.'
            : `${page.data.length} more shown.`;
      } catch (error) {
        fill(problem, problemText(error));
        problem.hidden = false;
      }
    });
  }
  if (count === 0 && !first.hasMore) return h('div', null, options.none);
  if (count === 0) {
    list.element.hidden = true;
    told.textContent = 'None among the newest; older ones have not been looked at.';
  }
  return h('div', { class: 'stack' }, list.element, problem, h('div', { class: 'row' }, more, told));
}

/**
 * Creates a form of filters. Their values are in the page's address.
 * @param {string} path
 * @param {(import("../shared/api.js").Field & { wide?: boolean })[]} fields
 */
export function filters(path, fields) {
  const { query } = currentPlace();
  const parts = fields.map((one) => ({ ...field({ ...one, value: query.get(one.name) ?? '' }), wide: one.wide }));
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    location.hash = to(path, Object.fromEntries(parts.map((part) => [part.name, String(part.value())])));
  };
  const change = (/** @type {Event} */ event) => {
    if (event.target instanceof HTMLSelectElement) go(event);
  };
  const isSet = fields.some(({ name }) => query.get(name));
  return h(
    'form',
    { class: 'card filters', role: 'search', onsubmit: go, onchange: change },
    parts.map((part) => {
      if (part.wide) part.element.classList.add('wide');
      return part.element;
    }),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'submit' }, 'Search'),
      isSet ? h('a', { class: 'button', href: to(path) }, 'Clear') : null,
    ),
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
      onclick: () => toast('The download has begun. Large files take a while; your browser shows how far it is.'),
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

/** Creates a link with the short form of an id. @param {string} path @param {string} id */
export function idLink(path, id) {
  return h('a', { href: to(`${path}/${encodeURIComponent(id)}`), class: 'mono', title: id }, `${id.slice(0, 8)}…`);
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
