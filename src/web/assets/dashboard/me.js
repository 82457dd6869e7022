// The signed-in user: e-mail, password and second factor.

import { form, operator } from '../shared/api.js';
import { facts, h, toast } from '../shared/dom.js';
import { head } from './list.js';
import { secondFactor } from './second_factor.js';

/** @typedef {import("openapi").components["schemas"]["MailPreferences"]} Preferences */

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const [session, mail] = await Promise.all([operator('GET', 'session'), operator('GET', 'mail')]);
  return h(
    'div',
    { class: 'page' },
    head('Your account', null),
    h(
      'div',
      { class: 'card' },
      facts(
        ['Email', context.user.email],
        ['Role', context.isOperator ? 'Operator: every account, and the service' : 'Merchant: one account'],
      ),
    ),
    mailSection(context.isOperator, mail),
    secondFactor(context, session),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'password' },
      h('h2', { id: 'password' }, 'Password'),
      h('p', { class: 'quiet' }, 'A new password signs you out on every device, including this one.'),
      form({
        label: 'Password',
        fields: [
          {
            name: 'password',
            label: 'Current password',
            type: 'password',
            autocomplete: 'current-password',
            required: true,
          },
          {
            name: 'newPassword',
            label: 'New password',
            type: 'password',
            autocomplete: 'new-password',
            required: true,
          },
        ],
        submit: 'Change password',
        send: async (values) => {
          await operator('PUT', 'session/password', values);
          toast('The password is changed. Sign in with the new one.');
          await operator('GET', 'session').catch(() => null);
        },
      }),
    ),
  );
}

/** Creates the switches of e-mail. @param {boolean} isOperator @param {Preferences} mail */
function mailSection(isOperator, mail) {
  const alarms = isOperator
    ? 'The file is damaged, a webhook endpoint fails for an hour, a chain lags, or the certificate or the rates need attention.'
    : 'A webhook endpoint of the account fails for an hour.';
  const tasks = isOperator
    ? 'Payouts and refunds to approve, unmatched payments, and invoices that are overpaid, underpaid or paid late.'
    : 'Invoices that are overpaid, underpaid or paid late.';
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'mail' },
    h('h2', { id: 'mail' }, 'E-mail'),
    h(
      'p',
      { class: 'quiet' },
      mail.available
        ? `Messages go to ${mail.email}.`
        : 'This server sends no e-mail. The operator can set a mail server with --smtp. Your choices are kept.',
    ),
    form({
      label: 'E-mail',
      fields: [
        {
          name: 'sales',
          label: 'Sales',
          type: 'select',
          value: mail.sales,
          options: [
            ['off', 'None'],
            ['each', 'Each sale'],
            ['daily', 'Daily summary'],
          ],
        },
        { name: 'tasks', label: 'Work that waits for a person', type: 'checkbox', value: mail.tasks, hint: tasks },
        { name: 'alarms', label: 'Alarms', type: 'checkbox', value: mail.alarms, hint: alarms },
      ],
      submit: 'Save e-mail settings',
      send: async (values) => {
        await operator('PUT', 'mail', values);
        toast('E-mail settings saved.');
      },
    }),
  );
}
