// The search box of the top bar, and what a search finds besides invoices.

import { operator } from '../shared/api.js';
import { badge, h, table, to, words } from '../shared/dom.js';
import { shortId } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["Match"]} Match */

/** Elements in which `/` is a character. */
const FIELDS = 'input, select, textarea, [contenteditable]';

/**
 * Creates the search box. `/` moves the focus to it, except in a field.
 * @param {(text: string) => void} search
 */
export function searchBox(search) {
  const input = h('input', {
    type: 'search',
    id: 'search',
    'aria-label': 'Search',
    'aria-keyshortcuts': '/',
    placeholder: 'Search orders, emails, transactions',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '200',
  });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text !== '') search(text);
  };
  return h('form', { class: 'find', role: 'search', onsubmit }, input, h('kbd', { 'aria-hidden': 'true' }, '/'));
}

document.addEventListener('keydown', (event) => {
  const { key, target, altKey, ctrlKey, metaKey } = event;
  const isTyping = target instanceof Element && target.closest(FIELDS);
  const input = document.getElementById('search');
  const isOurs = key === '/' && !altKey && !ctrlKey && !metaKey && !isTyping;
  if (!isOurs || !input || document.querySelector('dialog[open]')) return;
  event.preventDefault();
  input.focus();
  if (input instanceof HTMLInputElement) input.select();
});

/** Shows the text of the current search in the search box. @param {string | null} text */
export function showSearched(text) {
  const input = document.getElementById('search');
  if (input instanceof HTMLInputElement) input.value = text ?? '';
}

/** Returns the place of a match. @param {Match} match @returns {string} */
function placeOf({ kind, id, customer }) {
  if (kind === 'payout' || kind === 'refund') return to(`/${kind}s/${id}`);
  return kind === 'unmatched_payment' ? to('/unmatched', { status: 'all' }) : to('/customers', { customer });
}

/**
 * Finds what a text names besides invoices. Null if there is nothing.
 * @param {Context} context
 * @param {string} text
 */
export async function otherMatches(context, text) {
  const { mode } = context;
  const found = (await operator('GET', context.path('matches'), undefined, { mode, text })).data;
  if (found.length === 0) return null;
  return table(
    'Other results',
    /** @type {import("../shared/dom.js").Column<Match>[]} */ ([
      {
        name: 'Other results',
        cell: ({ kind, id, customer }) => (kind === 'customer' ? customer : [customer, customer && ' ', shortId(id)]),
      },
      { name: 'Type', cell: ({ kind }) => words(kind) },
      { name: 'Status', cell: ({ status }) => (status ? badge(status) : '–') },
    ]),
    found,
    { href: placeOf },
  ).element;
}
