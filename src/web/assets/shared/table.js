// Tables: one line for each row, in a narrow place one card for each row.
//
// A row with a link is clickable as a whole. It has one real link, so that the keyboard, screen readers and the browser's
// menu work. A long cell is clipped, and its whole text is a tip.

import { add, h } from './element.js';
import { tipOnDemand } from './tip.js';

/** @typedef {import("./element.js").Child} Child */

/**
 * A column of a table. `end` aligns numbers, `wide` gives a column with long texts more room.
 * @template Row
 * @typedef {{ name: string, cell: (row: Row) => Child, end?: boolean, wide?: boolean }} Column
 */

/** Width in pixels below which rows are cards. */
const TABLE_WIDTH_MIN = 560;
/** Width in pixels below which rows are cards if a table would have to be scrolled. */
const SCROLLED_WIDTH_MIN = 700;

/** Parts of a row that are used without following the row's link. */
const CONTROLS = 'a, button, input, label, select, summary, textarea';

/**
 * Follows the link of a row that was clicked outside its controls. A click that ends the selection of text does not.
 * @param {MouseEvent} event
 */
function followRow(event) {
  const { target, button } = event;
  if (!(target instanceof Element) || button > 1 || target.closest(CONTROLS)) return;
  const link = target.closest('tr.link')?.querySelector('a');
  if (!link || (button === 0 && String(getSelection()) !== '')) return;
  if (button === 1 || event.ctrlKey || event.metaKey || event.shiftKey) open(link.href, '_blank', 'noopener');
  else link.click();
}

/** Keeps a middle click on a row from starting to scroll. @param {MouseEvent} event */
function keepFromScrolling(event) {
  if (event.button === 1 && event.target instanceof Element && event.target.closest('tr.link')) event.preventDefault();
}

/** Marks the clipped cells of a table, so that their whole text can be read. @param {HTMLElement} card */
function markClipped(card) {
  const isCut = (/** @type {Element} */ part) =>
    part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 2;
  const cells = [...card.querySelectorAll('td > div')];
  // All sizes are read before the first change, so that the browser computes the layout once.
  const cut = cells.map((cell) => isCut(cell) || [...cell.querySelectorAll('div, p, .mono')].some(isCut));
  cells.forEach((cell, at) => {
    cell.toggleAttribute('data-clipped', cut[at]);
    if (cut[at] && !cell.querySelector(`${CONTROLS}, time`)) cell.setAttribute('tabindex', '0');
    else cell.removeAttribute('tabindex');
  });
}

/**
 * Creates a table. `label` is its name for screen readers. With `href`, each row leads to a place: its first cell is the
 * link, and its other cells have no links. `replace` keeps the elements of rows that have not changed.
 * @template Row
 * @param {string} label
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @param {{ href?: (row: Row) => string | null }} [options]
 * @returns {{ element: HTMLElement, append: (rows: Row[]) => void, replace: (rows: Row[]) => void }}
 */
export function table(label, columns, rows, { href } = {}) {
  tipOnDemand();
  const body = h('tbody', {
    role: 'rowgroup',
    onclick: followRow,
    onauxclick: followRow,
    onmousedown: keepFromScrolling,
  });
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
    { class: 'card table list', role: 'group', 'aria-label': label },
    h('table', { role: 'table', 'aria-label': label }, head, body),
  );
  function fit() {
    card.classList.remove('rows', 'tight', 'scrolled');
    const overflows = () => card.scrollWidth > card.clientWidth;
    card.classList.toggle('tight', overflows());
    const isCut = overflows();
    const isNarrow = card.clientWidth < TABLE_WIDTH_MIN || (isCut && card.clientWidth < SCROLLED_WIDTH_MIN);
    card.classList.toggle('rows', isNarrow);
    card.classList.toggle('scrolled', isCut && !isNarrow);
    if (isNarrow) card.classList.remove('tight');
    if (isCut && !isNarrow) card.setAttribute('tabindex', '0');
    else card.removeAttribute('tabindex');
    markClipped(card);
  }
  /** Row elements with the JSON of their rows. @type {{ json: string, element: HTMLElement }[]} */
  let shown = [];
  const made = (/** @type {Row} */ row) => {
    const place = href?.(row) ?? null;
    const cells = columns.map((column, at) => {
      const content = column.cell(row);
      const classes = [column.end && 'end number', column.wide && 'wide', content === '–' && 'none'];
      return h(
        'td',
        { role: 'cell', 'data-label': column.name || null, class: classes.filter(Boolean).join(' ') || null },
        h('div', null, place && at === 0 ? h('a', { href: place }, content) : content),
      );
    });
    return { json: JSON.stringify(row), element: h('tr', { role: 'row', class: place ? 'link' : null }, cells) };
  };
  /** @param {Row[]} more */
  const append = (more) => {
    const added = more.map(made);
    shown.push(...added);
    add(
      body,
      added.map(({ element }) => element),
    );
    if (card.isConnected) fit();
  };
  /** @param {Row[]} all */
  const replace = (all) => {
    const focused = document.activeElement?.closest('tr.link a')?.getAttribute('href');
    const before = new Map(shown.map((one) => [one.json, one]));
    shown = all.map((row) => before.get(JSON.stringify(row)) ?? made(row));
    const kept = new Set(shown);
    for (const one of before.values()) if (!kept.has(one)) one.element.remove();
    shown.forEach(({ element }, at) => {
      if (body.children[at] !== element) body.insertBefore(element, body.children[at] ?? null);
    });
    if (focused && !document.activeElement?.closest('tr')) {
      [...body.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus();
    }
    if (card.isConnected) fit();
  };
  append(rows);
  // The height of this element never changes, so `fit` does not trigger the observer again.
  const width = h('div');
  new ResizeObserver(fit).observe(width);
  return { element: h('div', null, width, card), append, replace };
}
