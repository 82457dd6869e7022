// The signed-in user: password and second factor.

import { form, operator } from '../shared/api.js';
import { facts, h, toast } from '../shared/dom.js';
import { head } from './list.js';
import { secondFactor } from './second_factor.js';

/** @param {import("./dashboard.js").Context} context */
export async function show(context) {
  const session = await operator('GET', 'session');
  return h(
    'div',
    { class: 'page' },
    head('You', null),
    h(
      'div',
      { class: 'card' },
      facts(
        ['Email', context.user.email],
        ['Role', context.isOperator ? 'Operator: may do everything' : 'Merchant: may do what concerns the account'],
      ),
    ),
    secondFactor(context, session),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'password' },
      h('h2', { id: 'password' }, 'Change the password'),
      h('p', { class: 'quiet' }, 'It signs you out everywhere, here too.'),
      form({
        fields: [
          {
            name: 'password',
            label: 'Password of now',
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
        submit: 'Change it',
        send: async (values) => {
          await operator('PUT', 'session/password', values);
          toast('The password is changed. Sign in with the new one.');
          await operator('GET', 'session').catch(() => null);
        },
      }),
    ),
  );
}
