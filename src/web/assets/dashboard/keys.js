// API keys: creating, rolling and revoking them.

import { form, operator } from '../shared/api.js';
import { ask, badge, empty, h, secretWithCopy, table, toast, localTime } from '../shared/dom.js';
import { actionButton, head } from './list.js';
import { confirmAction } from './webhooks.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

/** Permissions of each class of key. @type {Record<string, string>} */
const classes = {
  secret: 'Secret: for your server',
  public: 'Public: for pages, reads only',
  legacy: 'Legacy: secret, as older shops know it',
};

/** @param {Context} context */
export async function show(context) {
  const keys = (await operator('GET', context.path('keys'))).data;
  const add = () => h('button', { type: 'button', class: 'primary', onclick: () => createKey(context) }, 'Make a key…');
  return h(
    'div',
    { class: 'page' },
    head('API keys', 'What your shop calls Coffer with. A key is shown once, when it is made.', add()),
    keys.length === 0
      ? empty('No key yet', 'Begin with a test key: what it does is no real money.', add())
      : table(
          'Keys',
          [
            { name: 'Key', cell: (/** @type {Schemas["Key"]} */ one) => h('span', { class: 'mono' }, `…${one.last4}`) },
            { name: 'Opens', cell: (one) => classes[one.class] ?? one.class },
            { name: 'Mode', cell: (one) => badge(one.mode, one.mode === 'test' ? 'warn' : 'info') },
            {
              name: 'Works',
              cell: (one) =>
                one.revokedAt
                  ? badge('revoked', 'bad')
                  : one.expiresAt
                    ? h('span', null, 'Until ', localTime(one.expiresAt))
                    : badge('yes', 'good'),
            },
            { name: 'Made', cell: (one) => localTime(one.createdAt) },
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
    ask('Make its successor', (/** @type {(answer: null) => void} */ close) => [
      h('p', null, 'A new key is shown once. The old one works on for a while, so that your shop can change over.'),
      form({
        fields: [
          {
            name: 'overlap',
            label: 'The old key works on for',
            type: 'select',
            value: '86400',
            options: [
              ['0', 'No time: it ends now'],
              ['3600', 'An hour'],
              ['86400', 'A day'],
              ['604800', 'A week'],
            ],
          },
        ],
        submit: 'Make the successor',
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
        `The ${one.mode} key that ends in ${one.last4} stops working at once, wherever it is used. It cannot be ` +
          'brought back.',
        'Revoke it',
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
    actionButton(context, 'Revoke…', 'The key is revoked.', revoke, 'small danger'),
  );
}

/** @param {Context} context */
async function createKey(context) {
  await ask('Make a key', (/** @type {(answer: null) => void} */ close) =>
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
        { name: 'class', label: 'Opens', type: 'select', options: Object.entries(classes) },
        ...(context.isOperator
          ? [
              {
                name: 'import',
                label: 'Take over a legacy key',
                hint: 'Empty, unless a shop has one already that is to go on.',
              },
            ]
          : []),
      ],
      submit: 'Make it',
      cancel: () => close(null),
      send: async (values) => {
        const body = values.import
          ? { mode: values.mode, import: values.import }
          : { mode: values.mode, class: values.class };
        const made = await operator('POST', context.path('keys'), body);
        close(null);
        if (made.key) await showKey(made);
        else toast('The key is taken over.');
        await context.reload();
      },
    }),
  );
}

/** Shows a new key. @param {Schemas["CreatedKey"]} made */
export function showKey(made) {
  const where = made.class === 'public' ? 'Pages may have it.' : 'Keep it on your server only.';
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
      h('p', null, h('strong', null, 'Copy it now: it is never shown again. '), where),
      secretWithCopy(text, name),
      h(
        'div',
        { class: 'ends' },
        h('button', { type: 'button', class: 'primary', onclick: () => close(true) }, 'I have it'),
      ),
    ]);
  while (!(await show()));
}
