// Users and their roles.

import { form, operator } from '../shared/api.js';
import { ask, badge, h, table, toast, localTime } from '../shared/dom.js';
import { actionButton, head } from './list.js';
import { confirmAction } from './webhooks.js';

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
      'Operators may do everything; a merchant’s user what concerns its own account.',
      h('button', { type: 'button', class: 'primary', onclick: () => add(context) }, 'Add somebody…'),
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
        { name: 'May sign in', cell: (one) => (one.disabledAt ? badge('disabled', 'bad') : badge('yes', 'good')) },
        {
          name: 'Second factor',
          cell: (one) =>
            one.secondFactorAt ? h('div', null, badge('on', 'good'), ' ', localTime(one.secondFactorAt)) : badge('off'),
        },
        { name: 'Since', cell: (one) => localTime(one.createdAt) },
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
        'They are signed out at once and cannot sign in. You can enable them again.',
        'Disable',
      ))
    )
      return false;
    return operator('PATCH', `users/${one.id}`, { disabled: !one.disabledAt });
  };
  const unlock = async () => {
    if (
      !(await confirmAction(
        `Turn off the second factor of ${one.email}?`,
        'For somebody who lost the app and the recovery codes. They are ' +
          'signed out, and from then on the password alone signs in. First make sure that it is they who ask.',
        'Turn it off',
      ))
    )
      return false;
    return operator('DELETE', `users/${one.id}/second-factor`);
  };
  const password = async () => {
    const done = await ask(`A new password for ${one.email}`, (/** @type {(answer: boolean) => void} */ close) => [
      h('p', null, 'They are signed out everywhere, and sign in with the new one.'),
      form({
        fields: [
          { name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password', required: true },
        ],
        submit: 'Set it',
        cancel: () => close(false),
        send: async (values) => {
          await operator('PATCH', `users/${one.id}`, values);
          close(true);
        },
      }),
    ]);
    if (done) toast('The password is set.');
  };
  if (isOneself) return h('a', { href: '#/me' }, 'This is you');
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: password }, 'New password…'),
    one.secondFactorAt
      ? actionButton(context, 'Second factor off…', 'The second factor is off.', unlock, 'small danger')
      : null,
    actionButton(
      context,
      one.disabledAt ? 'Enable' : 'Disable…',
      one.disabledAt ? 'They may sign in.' : 'They may not sign in.',
      toggle,
      one.disabledAt ? 'small' : 'small danger',
    ),
  );
}

/** @param {Context} context */
async function add(context) {
  const made = await ask('Add somebody', (/** @type {(answer: any) => void} */ close) =>
    form({
      fields: [
        { name: 'email', label: 'Email', type: 'email', required: true },
        {
          name: 'password',
          label: 'First password',
          type: 'password',
          autocomplete: 'new-password',
          required: true,
          hint: 'Tell it to them in private; they change it after signing in.',
        },
        {
          name: 'account',
          label: 'May do',
          type: 'select',
          options: [
            ['', 'Everything: an operator'],
            ...context.accounts.map(({ id, name }) => /** @type {[string, string]} */ ([id, `What concerns ${name}`])),
          ],
        },
      ],
      submit: 'Add them',
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
  toast(`${made.email} may sign in.`);
  await context.reload();
}
