// Users and their roles.

import { form, operator } from '../shared/api.js';
import { ask, badge, h, table, toast, localTime } from '../shared/dom.js';
import { actionButton, confirmAction, head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]["User"]} User */

/** @param {Context} context */
export async function show(context) {
  const users = /** @type {User[]} */ ((await operator('GET', 'users')).data);
  return h(
    'div',
    { class: 'page' },
    head(
      'Team',
      'Operators manage the whole service. Merchant users manage their own account.',
      h('button', { type: 'button', class: 'primary', onclick: () => add(context) }, 'Add user…'),
    ),
    table(
      'Users',
      [
        { name: 'Email', cell: (one) => one.email },
        {
          name: 'Role',
          cell: (one) =>
            one.role === 'operator'
              ? 'Operator'
              : `Merchant: ${context.accounts.find(({ id }) => id === one.account)?.name ?? one.account}`,
        },
        { name: 'Status', cell: (one) => (one.disabledAt ? badge('disabled', 'bad') : badge('active', 'good')) },
        {
          name: 'Second factor',
          cell: (one) =>
            one.secondFactorAt ? h('div', null, badge('on', 'good'), ' ', localTime(one.secondFactorAt)) : badge('off'),
        },
        { name: 'Created', cell: (one) => localTime(one.createdAt) },
        { name: '', cell: (one) => buttons(context, one) },
      ],
      users,
    ).element,
  );
}

/** @param {Context} context @param {User} one */
function buttons(context, one) {
  const isOneself = one.id === context.user.id;
  const toggle = async () => {
    if (
      !one.disabledAt &&
      !(await confirmAction(
        `Disable ${one.email}?`,
        'This user is signed out immediately and cannot sign in. You can enable the user again.',
        'Disable user',
      ))
    )
      return false;
    return operator('PATCH', `users/${one.id}`, { disabled: !one.disabledAt });
  };
  const unlock = async () => {
    if (
      !(await confirmAction(
        `Turn off the second factor of ${one.email}?`,
        'Only if the user lost both the authenticator app and the recovery codes. The user is signed out, and can ' +
          'then sign in with the password alone. First verify who is asking.',
        'Turn off second factor',
      ))
    )
      return false;
    return operator('DELETE', `users/${one.id}/second-factor`);
  };
  const password = async () => {
    const done = await ask(`Set a new password for ${one.email}`, (/** @type {(answer: boolean) => void} */ close) => [
      h('p', null, 'The user is signed out everywhere and signs in with the new password.'),
      form({
        fields: [
          { name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', required: true },
        ],
        submit: 'Set password',
        cancel: () => close(false),
        send: async (values) => {
          await operator('PATCH', `users/${one.id}`, values);
          close(true);
        },
      }),
    ]);
    if (done) toast('Password set.');
  };
  if (isOneself) return h('a', { href: '#/me' }, 'You');
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: password }, 'Set password…'),
    one.secondFactorAt
      ? actionButton(context, 'Turn off second factor…', 'Second factor turned off.', unlock, 'small danger')
      : null,
    actionButton(
      context,
      one.disabledAt ? 'Enable' : 'Disable…',
      one.disabledAt ? 'User enabled.' : 'User disabled.',
      toggle,
      one.disabledAt ? 'small' : 'small danger',
    ),
  );
}

/** @param {Context} context */
async function add(context) {
  const made = await ask('Add a user', (/** @type {(answer: any) => void} */ close) =>
    form({
      fields: [
        { name: 'email', label: 'Email', type: 'email', required: true },
        {
          name: 'password',
          label: 'Initial password',
          type: 'password',
          autocomplete: 'new-password',
          required: true,
          hint: 'Send it to the user privately. The user should change it after signing in.',
        },
        {
          name: 'account',
          label: 'Role',
          type: 'select',
          options: [
            ['', 'Operator: the whole service'],
            ...context.accounts.map(({ id, name }) => /** @type {[string, string]} */ ([id, `Merchant: ${name}`])),
          ],
        },
      ],
      submit: 'Add user',
      cancel: () => close(null),
      send: async ({ email, password, account }) =>
        close(
          await operator(
            'POST',
            'users',
            account ? { email, password, role: 'merchant', account } : { email, password, role: 'operator' },
          ),
        ),
    }),
  );
  if (!made) return;
  toast(`User ${made.email} added.`);
  await context.reload();
}
