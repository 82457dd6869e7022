// Maintenance of the service.

import { operator } from '../shared/api.js';
import { badge, h } from '../shared/dom.js';
import { actionButton, confirmAction, head } from './list.js';

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const settings = /** @type {import("openapi").components["schemas"]["ServiceSettings"]} */ (
    await operator('GET', 'settings')
  );
  const toggle = async () => {
    if (
      !settings.maintenance &&
      !(await confirmAction(
        'Start maintenance?',
        'No account can create live invoices or payouts. Payments of quoted invoices are still detected and booked. ' +
          'Test mode continues.',
        'Start maintenance',
      ))
    )
      return false;
    return operator('PUT', 'settings', { maintenance: !settings.maintenance });
  };
  return h(
    'div',
    { class: 'page' },
    head('Maintenance', 'Pauses live invoices and payouts of all accounts, for example while you move the file.'),
    h(
      'div',
      { class: 'card' },
      h('p', null, 'Maintenance is ', settings.maintenance ? badge('on', 'warn') : badge('off', 'good')),
      h(
        'div',
        { class: 'row' },
        actionButton(
          context,
          settings.maintenance ? 'End maintenance' : 'Start maintenance…',
          settings.maintenance ? 'Maintenance ended.' : 'Maintenance started.',
          toggle,
          settings.maintenance ? 'primary' : 'danger',
        ),
      ),
    ),
  );
}
