// Maintenance of the service.

import { operator } from '../shared/api.js';
import { badge, h } from '../shared/dom.js';
import { actionButton, head } from './list.js';
import { confirmAction } from './webhooks.js';

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const settings = /** @type {import("openapi").components["schemas"]["ServiceSettings"]} */ (
    await operator('GET', 'settings')
  );
  const toggle = async () => {
    if (
      !settings.maintenance &&
      !(await confirmAction(
        'Begin maintenance?',
        'No live invoice and no live payout can be made, of any account. Payments of what is quoted are still seen ' +
          'and booked. Test mode goes on.',
        'Begin maintenance',
      ))
    )
      return false;
    return operator('PUT', 'settings', { maintenance: !settings.maintenance });
  };
  return h(
    'div',
    { class: 'page' },
    head('Maintenance', 'Pauses live invoices and payouts of all accounts, while you move the file or mend something.'),
    h(
      'div',
      { class: 'card' },
      h('p', null, 'Maintenance is ', settings.maintenance ? badge('on', 'warn') : badge('off', 'good')),
      h(
        'div',
        { class: 'row' },
        actionButton(
          context,
          settings.maintenance ? 'End maintenance' : 'Begin maintenance…',
          settings.maintenance ? 'Maintenance has ended.' : 'Maintenance has begun.',
          toggle,
          settings.maintenance ? 'primary' : 'danger',
        ),
      ),
    ),
  );
}
