// The timeline of an invoice: what happened, when, and how long after the step before.

import { badge, exactTime, h, withLocalTimes } from '../shared/dom.js';
import { txLink } from './list.js';

/** @typedef {import("openapi").components["schemas"]["TimelineEntry"]} Entry */

/** @param {Entry[]} entries oldest first */
export function timelineList(entries) {
  return h(
    'ol',
    { class: 'steps' },
    entries.map((entry, at) =>
      h(
        'li',
        { class: tone(entry) },
        h('p', null, entry.status ? [badge(entry.status), ' '] : null, sentence(entry)),
        entry.payment ? h('p', { class: 'quiet' }, txLink(entry.payment.explorerUrl, entry.payment.txid)) : null,
        h('p', { class: 'quiet' }, exactTime(entry.at), later(entries[at - 1]?.at, entry.at)),
      ),
    ),
  );
}

/** @param {Entry} entry */
function tone(entry) {
  const status = entry.status ?? '';
  if (['confirmed', 'overpaid'].includes(status) || entry.payment?.step === 'confirmed') return 'good';
  if (['underpaid', 'expired', 'failed', 'paid_late'].includes(status)) return 'bad';
  return entry.payment?.step === 'dropped' ? 'bad' : '';
}

/** Describes an entry in a sentence. Omits the status, which a badge shows. @param {Entry} entry */
function sentence(entry) {
  const start = `${entry.status}: `;
  const text = entry.text.startsWith(start) ? entry.text.slice(start.length) : entry.text;
  return withLocalTimes(`${text.charAt(0).toUpperCase()}${text.slice(1)}`);
}

/** Describes the time since the step before, with its two largest units. @param {string | undefined} before @param {string} at */
function later(before, at) {
  const passed = before === undefined ? 0 : Math.round((Date.parse(at) - Date.parse(before)) / 1000);
  if (passed < 1) return null;
  const units = /** @type {[number, string][]} */ ([
    [Math.floor(passed / 86_400), 'd'],
    [Math.floor((passed % 86_400) / 3600), 'h'],
    [Math.floor((passed % 3600) / 60), 'min'],
    [passed % 60, 's'],
  ]);
  const first = units.findIndex(([count]) => count > 0);
  const shown = units.slice(first, first + 2).filter(([count]) => count > 0);
  return `, ${shown.map(([count, unit]) => `${count} ${unit}`).join(' ')} later`;
}
