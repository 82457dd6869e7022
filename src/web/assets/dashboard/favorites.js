// The choice of an account's favorite coins, in their order on the checkout.

import { fill, h } from '../shared/dom.js';

/** @typedef {import("openapi").components["schemas"]["Coin"]} Coin */

/**
 * Creates the choice of favorite coins. A coin is added at the end, or removed.
 * @param {Coin[]} coins all coins of the service
 * @param {string[]} before ids of the chosen coins
 * @returns {{ element: HTMLElement, ids: () => string[] }}
 */
export function favoriteChoice(coins, before) {
  let ids = [...before];
  const name = (/** @type {string} */ id) => coins.find((one) => one.asset === id)?.name ?? id;
  const list = h('ol', { class: 'chosen', 'aria-label': 'Favorite coins' });
  const select = h('select', { id: 'favorite', 'aria-describedby': 'favorite-hint' });
  const add = h('button', { type: 'button', onclick: () => change([...ids, select.value]) }, 'Add coin');
  /** @param {string[]} next */
  function change(next) {
    ids = next.filter(Boolean);
    draw();
    (add.hidden ? list.querySelector('button') : select)?.focus();
  }
  function draw() {
    fill(
      list,
      ids.map((id) => {
        const remove = () => change(ids.filter((other) => other !== id));
        const label = `Remove ${name(id)}`;
        return h(
          'li',
          null,
          name(id),
          h('button', { type: 'button', class: 'small plain', 'aria-label': label, onclick: remove }, 'Remove'),
        );
      }),
    );
    list.hidden = ids.length === 0;
    const others = coins.filter((one) => !ids.includes(one.asset));
    fill(
      select,
      h('option', { value: '' }, 'Choose a coin'),
      others.map((one) => h('option', { value: one.asset }, one.name)),
    );
    add.hidden = others.length === 0;
  }
  draw();
  const element = h(
    'div',
    { class: 'field' },
    h('label', { for: 'favorite' }, 'Favorite coins'),
    list,
    h('div', { class: 'pair' }, select, add),
    h('p', { class: 'hint', id: 'favorite-hint' }, 'Listed first on the checkout, in this order.'),
  );
  return { element, ids: () => ids };
}
