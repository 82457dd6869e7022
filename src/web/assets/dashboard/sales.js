// The sales of the home page: a period, compared with the period before, as a chart over a table, and by coin.

import { operator, problemText, runBusy } from '../shared/api.js';
import { dayName, fill, h, money, s, to } from '../shared/dom.js';
import { coinName } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Sales"]} Sales */
/** @typedef {Schemas["CurrencySales"]} CurrencySales */

/** Periods of the sales, in days. @type {[string, string][]} */
const periods = [
  ['1', 'Today'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
];

/** The choices in this tab: the period of the sales, and whether their tables are visible. */
const chosen = { days: '7', hasTables: false };

/** Takes the period in the address of the page. @param {URLSearchParams} query */
export function choosePeriod(query) {
  const asked = query.get('days');
  if (asked && periods.some(([days]) => days === asked)) chosen.days = asked;
}

/** Reads the sales of the chosen period. @param {Context} context @returns {Promise<Sales>} */
export function readSales(context) {
  return operator('GET', context.path('sales'), undefined, { mode: context.mode, days: chosen.days });
}

/**
 * Creates the section of the sales. A choice of the period changes only this section.
 * @param {Context} context
 * @param {Sales} sold
 */
export function salesSection(context, sold) {
  const place = h('div', { class: 'halves' });
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const buttons = periods.map(([days, text]) => {
    const button = h('button', { type: 'button', 'aria-pressed': String(days === chosen.days), onclick: pick }, text);
    async function pick() {
      await runBusy(button, async () => {
        try {
          chosen.days = days;
          const found = await readSales(context);
          // The user has chosen another period meanwhile.
          if (chosen.days !== days) return;
          problem.hidden = true;
          history.replaceState(null, '', to('/', { days }));
          for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
          fillSales(place, found);
        } catch (error) {
          fill(problem, problemText(error));
          problem.hidden = false;
        }
      });
    }
    return button;
  });
  fillSales(place, sold);
  return h(
    'section',
    { class: 'stack', 'aria-labelledby': 'sales' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'sales' }, 'Sales'),
      h('div', { class: 'segments periods', role: 'group', 'aria-label': 'Period of the sales' }, buttons),
    ),
    problem,
    place,
  );
}

/** Fills in the cards of a period. A currency without sales is left out. @param {Element} place @param {Sales} sold */
function fillSales(place, sold) {
  const isSold = (/** @type {CurrencySales} */ one) => one.count > 0 || one.beforeCount > 0;
  const there = sold.currencies.filter(isSold);
  const shown = there.length > 0 ? there : sold.currencies.slice(0, 1);
  fill(
    place,
    shown.map((one) => [salesCard(sold, one), one.coins.length > 0 ? coinsCard(one) : null]),
  );
}

/** @param {Sales} sold @param {CurrencySales} one */
function salesCard(sold, one) {
  const name = `Sales in ${one.currency}, ${periodName(sold.days)}`;
  return h(
    'div',
    { class: 'card' },
    h(
      'div',
      null,
      h('h3', { class: 'quiet' }, name),
      h('p', { class: 'stat' }, money(one.total, one.currency)),
      h('p', { class: 'quiet' }, comparison(sold, one)),
    ),
    chart(sold, one, name),
  );
}

/** @param {number} days */
const periodName = (days) => (days === 1 ? 'today' : `last ${days} days`);

/** Says how the sales compare with the period before. @param {Sales} sold @param {CurrencySales} one */
function comparison(sold, one) {
  const until = `${sold.comparedUntil.slice(11, 16)} UTC`;
  const before = sold.days === 1 ? `yesterday until ${until}` : `in the ${sold.days} days before, both until ${until}`;
  if (one.changePercent === null) return `No sales ${before}.`;
  const tone = one.changePercent.startsWith('-') ? 'bad' : one.changePercent.startsWith('+') ? 'good' : '';
  return [
    h('span', { class: `badge ${tone}` }, `${one.changePercent.replace('-', '\u2212')} %`),
    ` from ${money(one.before, one.currency)} ${before}`,
  ];
}

/**
 * Draws the bars over a table with the same values, which screen readers read and a button shows.
 * @param {Sales} sold
 * @param {CurrencySales} one
 * @param {string} name
 */
function chart(sold, one, name) {
  const step = 10;
  const labelOf = (/** @type {string} */ start) =>
    sold.days === 1 ? `${start.slice(11, 16)} UTC` : dayName(start.slice(0, 10));
  const bars = one.bars.map((bar, at) =>
    s(
      'g',
      null,
      s('title', null, `${labelOf(bar.start)}: ${money(bar.amount, one.currency)} (${bar.count})`),
      s('rect', { class: 'hit', x: at * step, y: 0, width: step, height: 100 }),
      bar.count === 0
        ? null
        : s('rect', {
            class: 'bar',
            x: at * step + 1.5,
            width: step - 3,
            y: 100 - Math.max(1, bar.percentOfAxis),
            height: Math.max(1, bar.percentOfAxis),
          }),
    ),
  );
  const lines = one.axis.map(({ percent }) =>
    s('line', { class: 'grid', x1: 0, x2: bars.length * step, y1: 100 - percent, y2: 100 - percent }),
  );
  const table = h(
    'table',
    null,
    h('caption', null, name),
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'col' }, sold.days === 1 ? 'Hour' : 'Day'),
        h('th', { scope: 'col', class: 'end' }, 'Sales'),
        h('th', { scope: 'col', class: 'end' }, 'Amount'),
      ),
    ),
    h(
      'tbody',
      null,
      one.bars.map((bar) =>
        h(
          'tr',
          null,
          h('th', { scope: 'row' }, labelOf(bar.start)),
          h('td', { class: 'end number' }, bar.count),
          h('td', { class: 'end number' }, money(bar.amount, one.currency)),
        ),
      ),
    ),
  );
  const values = h('div', { class: 'chart-values', role: 'group', 'aria-label': name }, table);
  const toggle = h(
    'button',
    {
      type: 'button',
      class: 'small',
      onclick: () => {
        chosen.hasTables = !chosen.hasTables;
        showTable();
      },
    },
    '',
  );
  function showTable() {
    values.classList.toggle('visually-hidden', !chosen.hasTables);
    // A visible table may scroll, also by the keyboard.
    values.tabIndex = chosen.hasTables ? 0 : -1;
    toggle.textContent = chosen.hasTables ? 'Hide table' : 'Show table';
  }
  showTable();
  const first = one.bars[0]?.start ?? sold.from;
  const edges = sold.days === 1 ? ['00:00', '12:00', '24:00 UTC'] : [labelOf(first), 'Today (UTC)'];
  return [
    h(
      'div',
      { class: 'chart', 'aria-hidden': 'true' },
      h(
        'div',
        { class: 'chart-axis' },
        [...one.axis].reverse().map(({ label }) => h('span', null, money(label))),
      ),
      s(
        'svg',
        { viewBox: `0 0 ${bars.length * step} 100`, preserveAspectRatio: 'none', focusable: 'false' },
        lines,
        bars,
      ),
      h(
        'div',
        { class: 'chart-edges' },
        edges.map((text) => h('span', null, text)),
      ),
    ),
    values,
    h('div', { class: 'row' }, toggle),
  ];
}

/** Lists the sales by coin. @param {CurrencySales} one */
function coinsCard(one) {
  return h(
    'div',
    { class: 'card' },
    h(
      'table',
      { class: 'coins' },
      h('caption', null, `Sales by coin, in ${one.currency}`),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, 'Coin'),
          h('th', { scope: 'col', class: 'end' }, 'Sales'),
          h('th', { scope: 'col', class: 'end' }, 'Amount'),
          h('th', { scope: 'col', class: 'end' }, 'Share'),
        ),
      ),
      h(
        'tbody',
        null,
        one.coins.map((coin) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, coinName(coin.symbol, coin.asset)),
            h('td', { class: 'end number' }, coin.count),
            h('td', { class: 'end number' }, money(coin.amount)),
            h(
              'td',
              { class: 'end number' },
              s(
                'svg',
                { class: 'share', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
                s('rect', { class: 'bar', width: coin.percentOfTotal, height: 10 }),
              ),
              h('span', null, `${coin.percentOfTotal} %`),
            ),
          ),
        ),
      ),
    ),
  );
}
