// Webhook endpoints: creating and changing them, their secrets and latest deliveries.

import { field, form, operator } from '../shared/api.js';
import { ask, badge, empty, facts, h, secretWithCopy, table, to, toast, localTime, words } from '../shared/dom.js';
import { actionButton, head, tabs } from './list.js';
import { changedFields } from './values.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Endpoint"]} Endpoint */

/** Tabs of the pages about webhooks. @type {[string, string][]} */
export const webhookTabs = [
  ['/webhooks', 'Endpoints'],
  ['/deliveries', 'Deliveries'],
  ['/events', 'Events'],
  ['/signature', 'Check a signature'],
];

/** All event types. @type {Schemas["Event"]["type"][]} */
export const eventTypes = [
  'invoice.created',
  'invoice.detected',
  'invoice.confirmed',
  'invoice.overpaid',
  'invoice.underpaid',
  'invoice.expired',
  'invoice.paid_late',
  'invoice.cancelled',
  'invoice.failed',
  'deposit.confirmed',
  'payout.paid',
  'payout.failed',
  'refund.paid',
  'refund.failed',
  'account.approved',
  'account.suspended',
];

/** @param {Context} context */
export async function show(context) {
  const [endpoints, summary] = await Promise.all([
    operator('GET', context.path('endpoints')),
    operator('GET', context.path('summary'), undefined, { mode: context.mode }),
  ]);
  /** @type {Schemas["FailingEndpoint"][]} */
  const failing = summary.failingEndpoints;
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => edit(context, null) }, 'Add an endpoint…');
  return h(
    'div',
    { class: 'page' },
    head(
      'Webhooks',
      'Where your shop is told what happens: each event is sent until it is taken, up to 11 times within a day.',
      add(),
    ),
    tabs('Webhooks', webhookTabs),
    endpoints.data.length === 0
      ? empty(
          'No endpoint yet',
          'An endpoint is an address of your shop that is told of payments. Without one, your shop has to ask.',
          add(),
        )
      : table(
          'Endpoints',
          [
            {
              name: 'Address',
              cell: (/** @type {Endpoint} */ one) =>
                h('div', { class: 'stack' }, h('span', { class: 'mono' }, one.url), failureNote(failing, one)),
            },
            { name: 'Is', cell: (one) => (one.enabled ? badge('on', 'good') : badge('off')) },
            { name: 'Mode', cell: (one) => words(one.mode ?? 'both') },
            { name: 'Events', cell: (one) => (one.types ? one.types.join(', ') : 'All') },
            { name: 'Body', cell: (one) => words(one.format) },
            { name: '', cell: (one) => buttons(context, one) },
          ],
          endpoints.data,
        ).element,
    legacy(context),
  );
}

/** @param {Schemas["FailingEndpoint"][]} failing @param {Endpoint} endpoint */
function failureNote(failing, endpoint) {
  const found = failing.find((one) => one.id === endpoint.id);
  if (!found) return null;
  return h(
    'p',
    { class: 'bad' },
    `Fails: ${found.failedAttempts} attempts since `,
    localTime(found.failingSince),
    `. Last: ${found.lastStatus ?? found.lastError ?? 'no answer'}.`,
  );
}

/** @param {Context} context @param {Endpoint} one */
function buttons(context, one) {
  const path = context.path(`endpoints/${one.id}`);
  const reveal = async () => {
    showSecret(await operator('GET', `${path}/secret`));
    return false;
  };
  const roll = async () => {
    const sure = await confirmAction(
      'Make a new secret?',
      `From now on ${one.url} is sent signatures by a new secret. For 24 hours the old one signs too.`,
      'Make a new secret',
    );
    if (sure) showSecret(await operator('POST', `${path}/roll-secret`));
    return false;
  };
  const remove = async () => {
    if (
      !(await confirmAction(
        'Remove this endpoint?',
        `${one.url} is sent nothing more. What was still to be sent to it is given up.`,
        'Remove it',
      ))
    )
      return false;
    await operator('DELETE', path);
    return true;
  };
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: () => edit(context, one) }, 'Change…'),
    actionButton(context, 'Secret', '', reveal, 'small'),
    actionButton(context, 'New secret…', '', roll, 'small'),
    h('a', { class: 'button small', href: to('/deliveries', { endpoint: one.id }) }, 'Deliveries'),
    actionButton(context, 'Remove…', 'The endpoint is removed.', remove, 'small danger'),
  );
}

/**
 * Asks the user to confirm an action.
 * @param {string} title
 * @param {import("../shared/dom.js").Child} text
 * @param {string} verb
 * @returns {Promise<boolean>}
 */
export async function confirmAction(title, text, verb) {
  const sure = await ask(title, (/** @type {(answer: boolean) => void} */ close) => [
    h('p', null, text),
    h(
      'div',
      { class: 'ends' },
      h('button', { type: 'button', onclick: () => close(false) }, 'Back'),
      h('button', { type: 'button', class: 'danger', onclick: () => close(true) }, verb),
    ),
  ]);
  return sure === true;
}

/** @param {Schemas["SigningSecret"]} found */
export function showSecret(found) {
  return ask('The signing secret', (close) => [
    h('p', null, 'Keep it on your server only. The audit log notes that you saw it.'),
    secretWithCopy(found.secret, 'secret'),
    found.previousUntil
      ? h('p', { class: 'quiet' }, 'The one before signs too, until ', localTime(found.previousUntil), '.')
      : null,
    h('div', { class: 'ends' }, h('button', { type: 'button', class: 'primary', onclick: () => close(null) }, 'Done')),
  ]);
}

/** @param {Context} context @param {Endpoint | null} endpoint */
export async function edit(context, endpoint) {
  const types = eventTypes.map((type) =>
    field({ name: type, label: type, type: 'checkbox', value: endpoint?.types ? endpoint.types.includes(type) : true }),
  );
  const picked = h(
    'details',
    { open: endpoint?.types ? true : null },
    h('summary', null, 'Which events'),
    h(
      'fieldset',
      null,
      h('legend', { class: 'visually-hidden' }, 'Which events'),
      types.map((one) => one.element),
    ),
  );
  const made = await ask(
    endpoint ? 'Change the endpoint' : 'Add an endpoint',
    (/** @type {(answer: any) => void} */ close) =>
      form({
        fields: [
          {
            name: 'url',
            label: 'Address',
            type: 'url',
            required: true,
            value: endpoint?.url ?? 'https://',
            hint: 'An https address of your shop.',
          },
          {
            name: 'mode',
            label: 'Mode',
            type: 'select',
            value: endpoint ? (endpoint.mode ?? '') : context.mode,
            options: [
              ['', 'Live and test'],
              ['live', 'Live'],
              ['test', 'Test'],
            ],
          },
          {
            name: 'format',
            label: 'Body',
            type: 'select',
            value: endpoint?.format ?? 'event',
            options: [
              ['event', 'event: for new shops'],
              ['legacy', 'legacy: as older shops know it'],
            ],
          },
          { name: 'enabled', label: 'It is on', type: 'checkbox', value: endpoint?.enabled ?? true },
          { element: picked },
        ],
        submit: endpoint ? 'Save' : 'Add it',
        cancel: () => close(null),
        send: async ({ url, mode, format, enabled }) => {
          const chosen = types.filter((one) => one.value()).map((one) => one.name);
          const body = {
            url,
            mode: mode || null,
            format,
            enabled,
            types: chosen.length === types.length ? null : chosen,
          };
          const path = endpoint ? `endpoints/${endpoint.id}` : 'endpoints';
          const sent = endpoint ? changedFields(endpoint, body) : body;
          close(await operator(endpoint ? 'PATCH' : 'POST', context.path(path), sent));
        },
      }),
  );
  if (!made) return null;
  toast(endpoint ? 'The endpoint is changed.' : 'The endpoint is added.');
  if (made.secret) await showSecret({ object: 'secret', secret: made.secret, previousUntil: null });
  await context.reload();
  return made;
}

/** Shows the secret that signs webhooks to an invoice's own URL. @param {Context} context */
function legacy(context) {
  return h(
    'details',
    { class: 'card' },
    h('summary', null, 'Invoices that name a webhook address of their own'),
    h(
      'div',
      { class: 'stack' },
      h('p', null, 'What is sent to the webhookUrl of an invoice is signed with the legacy secret of the account.'),
      h(
        'div',
        { class: 'row' },
        actionButton(context, 'Show the legacy secret', '', async () => {
          showSecret(await operator('GET', context.path('legacy-secret')));
          return false;
        }),
        actionButton(context, 'New legacy secret…', '', async () => {
          if (
            await confirmAction('Make a new legacy secret?', 'For 24 hours the old one signs too.', 'Make a new secret')
          ) {
            showSecret(await operator('POST', context.path('legacy-secret/roll')));
          }
          return false;
        }),
      ),
    ),
    facts(),
  );
}
