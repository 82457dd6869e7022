// The user's own second factor: turning it on and off.
//
// Invariant: recovery codes are shown once, and stay visible until the user confirms that they are stored.

import { form, operator } from '../shared/api.js';
import { ask, badge, copyButton, h, qrCode, secretWithCopy } from '../shared/dom.js';
import { actionButton } from './list.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */

const path = 'session/second-factor';

/** Number of remaining recovery codes at which the page suggests new ones. */
const FEW = 3;

/** Shows the second factor on the user's page. @param {Context} context @param {Schemas["Session"]} session */
export function secondFactor(context, session) {
  const { enabled, recoveryCodesLeft: left } = session.secondFactor;
  const button = enabled
    ? actionButton(context, 'Turn off second factor…', 'Second factor turned off.', turnOff, 'danger')
    : actionButton(
        context,
        'Turn on second factor…',
        'Second factor turned on. You are signed out everywhere else.',
        () => turnOn(context),
        'primary',
      );
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'second-factor' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'second-factor' }, 'Second factor'),
      enabled ? badge('on', 'good') : badge('off', 'warn'),
    ),
    h(
      'p',
      null,
      enabled
        ? 'To sign in, you need your password and a code from your authenticator app.'
        : 'Codes from an authenticator app protect your account: a stolen password is not enough to sign in.',
    ),
    enabled
      ? h(
          'p',
          { class: left <= FEW ? 'note warn' : 'quiet' },
          `${left} recovery ${left === 1 ? 'code' : 'codes'} left. To get new codes, turn the second factor off and on again.`,
        )
      : null,
    h('div', { class: 'row' }, button),
  );
}

/** @param {Context} context */
async function turnOn(context) {
  const begun = /** @type {Schemas["NewSecondFactor"]} */ (await operator('POST', path));
  const codes = await ask('Turn on second factor', (/** @type {(codes: string[] | null) => void} */ close) => [
    h(
      'p',
      null,
      'Scan this code with your authenticator app. If the app is on this device, ',
      h('a', { href: begun.uri }, 'open it in the app'),
      '.',
    ),
    begun.qr ? qrCode(begun.qr, 'QR code for an authenticator app') : null,
    h('div', { class: 'stack' }, h('p', null, 'Or enter this key in the app:'), secretWithCopy(begun.secret, 'key')),
    form({
      fields: [
        {
          name: 'code',
          label: 'Code',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          required: true,
          hint: 'The six digits that the app shows.',
        },
      ],
      submit: 'Turn on second factor',
      cancel: () => close(null),
      send: async (values) => close((await operator('POST', `${path}/confirm`, values)).codes),
    }),
  ]);
  if (!codes) return false;
  // The dialog is shown again if Escape closed it, because the server sends the codes only once.
  while (!(await showCodes(context, codes)));
  return true;
}

/** Shows recovery codes until the user confirms. @param {Context} context @param {string[]} codes */
function showCodes(context, codes) {
  const text = [
    `Recovery codes of ${context.user.email} for Coffer at ${location.host}`,
    'Each code works once, instead of a code from the app.',
    '',
    ...codes,
    '',
  ].join('\n');
  const file = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  return ask('Your recovery codes', (/** @type {(kept: boolean) => void} */ close) => [
    h(
      'p',
      null,
      h('strong', null, 'Second factor turned on. Store these codes now. They are not shown again. '),
      'If you lose your phone, each code signs you in once.',
    ),
    h('p', { class: 'quiet' }, `For ${context.user.email} at ${location.host}`),
    h(
      'ul',
      { class: 'codes' },
      codes.map((code) => h('li', null, h('code', null, code))),
    ),
    h(
      'div',
      { class: 'row' },
      copyButton(codes.join('\n'), 'codes'),
      h('a', { class: 'button small', href: file, download: 'coffer-recovery-codes.txt' }, 'Download'),
      h('button', { type: 'button', class: 'small', onclick: () => print() }, 'Print'),
    ),
    form({
      fields: [{ name: 'kept', label: 'I have stored the codes somewhere other than my phone', type: 'checkbox' }],
      submit: 'Done',
      send: async ({ kept }) => {
        if (!kept) throw new Error('Store the codes, then select the checkbox.');
        URL.revokeObjectURL(file);
        close(true);
      },
    }),
  ]);
}

async function turnOff() {
  return (
    (await await ask('Turn off second factor?', (/** @type {(done: boolean) => void} */ close) => [
      h('p', null, 'Your password alone is then enough to sign in, and your recovery codes become invalid.'),
      form({
        fields: [
          {
            name: 'code',
            label: 'Code',
            autocomplete: 'one-time-code',
            required: true,
            hint: 'The six digits from your app, or a recovery code.',
          },
        ],
        submit: 'Turn off second factor',
        danger: true,
        cancel: () => close(false),
        cancelText: 'Cancel',
        send: async (values) => {
          await operator('POST', `${path}/off`, values);
          close(true);
        },
      }),
    ])) === true
  );
}
