// API keys: creating, rolling and revoking them.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, h, secretWithCopy, table, toast, localTime } from '../shared/dom.js';
import { actionButton, confirmAction, head } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Permissions of each class of key. @type {Record<string, string>} */
const classes = {
  secret: 'Secret: for your server',
  public: 'Public: for web pages, read-only',
  legacy: 'Legacy: secret, for older shops',
};

/** @param {Context} context */
export async function show(context) {
  const keys = (await operator('GET', context.path('keys'))).data;
  const add = () => h('button', { type: 'button', class: 'primary', onclick: () => createKey(context) }, 'Create key…');
  return h(
    'div',
    { class: 'page' },
    head('API keys', 'Your shop authenticates its requests with an API key. A key is shown only once.', add()),
    keys.length === 0
      ? empty('No API keys yet', 'Create a test key first. Test mode moves no real money.', add())
      : table(
          'Keys',
          [
            { name: 'Key', cell: (/** @type {Schemas["Key"]} */ one) => h('span', { class: 'mono' }, `…${one.last4}`) },
            { name: 'Type', cell: (one) => classes[one.class] ?? one.class },
            { name: 'Mode', cell: (one) => badge(one.mode, one.mode === 'test' ? 'warn' : 'info') },
            {
              name: 'Status',
              cell: (one) =>
                one.revokedAt
                  ? badge('revoked', 'bad')
                  : one.expiresAt
                    ? h('span', null, 'Until ', localTime(one.expiresAt))
                    : badge('active', 'good'),
            },
            { name: 'Created', cell: (one) => localTime(one.createdAt) },
            { name: 'Last used', cell: (one) => localTime(one.lastUsedAt) },
            { name: '', cell: (one) => (one.revokedAt ? null : buttons(context, one)) },
          ],
          keys,
        ).element,
  );
}

/** @param {Context} context @param {Schemas["Key"]} one */
function buttons(context, one) {
  const roll = () =>
    ask('Roll key', (/** @type {(answer: null) => void} */ close) => [
      h(
        'p',
        null,
        'The new key is shown once. The old key can stay valid for a while, so that your shop can switch over.',
      ),
      form({
        fields: [
          {
            name: 'overlap',
            label: 'Old key stays valid for',
            type: 'select',
            value: '86400',
            options: [
              ['0', '0 hours: it ends now'],
              ['3600', '1 hour'],
              ['86400', '1 day'],
              ['604800', '1 week'],
            ],
          },
        ],
        submit: 'Roll key',
        cancel: () => close(null),
        send: async ({ overlap }) => {
          const made = await operator('POST', context.path(`keys/${one.id}/roll`), { overlapSeconds: Number(overlap) });
          close(null);
          await showKey(made);
          await context.reload();
        },
      }),
    ]);
  const revoke = async () => {
    if (
      !(await confirmAction(
        'Revoke this key?',
        `The ${one.mode} key that ends in ${one.last4} stops working immediately. This cannot be undone.`,
        'Revoke key',
      ))
    )
      return false;
    await operator('DELETE', context.path(`keys/${one.id}`));
    return true;
  };
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: roll }, 'Roll…'),
    actionButton(context, 'Revoke…', 'Key revoked.', revoke, 'small danger'),
  );
}

/** @param {Context} context */
async function createKey(context) {
  await ask('Create an API key', (/** @type {(answer: null) => void} */ close) =>
    form({
      fields: [
        {
          name: 'mode',
          label: 'Mode',
          type: 'select',
          value: context.mode,
          options: [
            ['test', 'Test: no real money'],
            ['live', 'Live: real money'],
          ],
        },
        { name: 'class', label: 'Type', type: 'select', options: Object.entries(classes) },
        ...(context.isOperator
          ? [
              {
                name: 'import',
                label: 'Import a legacy key',
                hint: 'Optional: the existing key of an older shop.',
              },
            ]
          : []),
      ],
      submit: 'Create key',
      cancel: () => close(null),
      send: async (values) => {
        const body = values.import
          ? { mode: values.mode, import: values.import }
          : { mode: values.mode, class: values.class };
        const made = await operator('POST', context.path('keys'), body);
        close(null);
        if (made.key) await showKey(made);
        else toast('Key imported.');
        await context.reload();
      },
    }),
  );
}

/** Shows a new key. @param {Schemas["CreatedKey"]} made */
export function showKey(made) {
  const where = made.class === 'public' ? 'It may be used on web pages.' : 'Store it on your server only.';
  return showOnce('Your new key', 'key', made.key ?? '', where);
}

/**
 * Shows a secret that is never shown again, until the user confirms that it is stored. Escape does not close it.
 * @param {string} title
 * @param {string} name kind of secret, such as “key”
 * @param {string} text
 * @param {string} [where] where to store it
 */
export async function showOnce(title, name, text, where) {
  const show = () =>
    ask(title, (/** @type {(isKept: boolean) => void} */ close) => [
      h('p', null, h('strong', null, 'Copy it now. It is not shown again. '), where),
      secretWithCopy(text, name),
      h(
        'div',
        { class: 'ends' },
        h('button', { type: 'button', class: 'primary', onclick: () => close(true) }, 'I have stored it'),
      ),
    ]);
  while (!(await show()));
}
