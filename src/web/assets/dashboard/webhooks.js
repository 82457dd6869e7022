// Webhook endpoints: creating and changing them, their secrets and latest deliveries.

import { field, form, operator } from '../shared/api.js';
import { ask, badge, empty, facts, h, secretWithCopy, table, to, toast, localTime, words } from '../shared/dom.js';
import { actionButton, confirmAction, head, tabs } from './list.js';
import { changedFields } from './values.js';
import { eventTypes, webhookTabs } from './webhook_pages.js';


/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Endpoint"]} Endpoint */

/** @param {Context} context */
export async function show(context) {
  const [endpoints, summary] = await Promise.all([
    operator('GET', context.path('endpoints')),
    operator('GET', context.path('summary'), undefined, { mode: context.mode }),
  ]);
  /** @type {Schemas["FailingEndpoint"][]} */
  const failing = summary.failingEndpoints;
  const add = () =>
    h('button', { type: 'button', class: 'primary', onclick: () => edit(context, null) }, 'Add endpoint…');
  return h(
    'div',
    { class: 'page' },
    head(
      'Webhooks',
      'Coffer sends each event to your endpoints, up to 11 times within a day until it is accepted.',
      add(),
    ),
    tabs('Webhooks', webhookTabs),
    endpoints.data.length === 0
      ? empty(
          'No endpoints yet',
          'Add a URL of your shop that receives events, for example of payments.',
          add(),
        )
      : table(
          'Endpoints',
          [
            {
              name: 'URL',
              wide: true,
              cell: (/** @type {Endpoint} */ one) =>
                h('div', { class: 'stack' }, h('span', { class: 'mono' }, one.url), failureNote(failing, one)),
            },
            { name: 'Status', cell: (one) => (one.enabled ? badge('on', 'good') : badge('off')) },
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
    `Failing: ${found.failedAttempts} attempts since `,
    localTime(found.failingSince),
    `. Last: ${found.lastStatus ?? found.lastError ?? 'no response'}.`,
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
      'Roll the signing secret?',
      `Webhooks to ${one.url} are signed with a new secret, and for 24 hours with the old one as well.`,
      'Roll secret',
    );
    if (sure) showSecret(await operator('POST', `${path}/roll-secret`));
    return false;
  };
  const remove = async () => {
    if (
      !(await confirmAction(
        'Remove this endpoint?',
        `Coffer no longer sends events to ${one.url}. Pending deliveries are cancelled.`,
        'Remove endpoint',
      ))
    )
      return false;
    await operator('DELETE', path);
    return true;
  };
  return h(
    'div',
    { class: 'row' },
    h('button', { type: 'button', class: 'small', onclick: () => edit(context, one) }, 'Edit…'),
    actionButton(context, 'Show secret', '', reveal, 'small'),
    actionButton(context, 'Roll secret…', '', roll, 'small'),
    h('a', { class: 'button small', href: to('/deliveries', { endpoint: one.id }) }, 'Deliveries'),
    actionButton(context, 'Remove…', 'Endpoint removed.', remove, 'small danger'),
  );
}

/** @param {Schemas["SigningSecret"]} found */
export function showSecret(found) {
  return ask('Signing secret', (close) => [
    h('p', null, 'Store it on your server only. The audit log records that you viewed it.'),
    secretWithCopy(found.secret, 'secret'),
    found.previousUntil
      ? h('p', { class: 'quiet' }, 'The previous secret also signs until ', localTime(found.previousUntil), '.')
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
    h('summary', null, 'Events'),
    h(
      'fieldset',
      null,
      h('legend', { class: 'visually-hidden' }, 'Events'),
      types.map((one) => one.element),
    ),
  );
  const made = await ask(
    endpoint ? 'Edit endpoint' : 'Add endpoint',
    (/** @type {(answer: any) => void} */ close) =>
      form({
        fields: [
          {
            name: 'url',
            label: 'URL',
            type: 'url',
            required: true,
            value: endpoint?.url ?? 'https://',
            hint: 'An https URL of your shop.',
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
              ['event', 'event: for new integrations'],
              ['legacy', 'legacy: for older shops'],
            ],
          },
          { name: 'enabled', label: 'Enabled', type: 'checkbox', value: endpoint?.enabled ?? true },
          { element: picked },
        ],
        submit: endpoint ? 'Save changes' : 'Add endpoint',
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
  toast(endpoint ? 'Endpoint updated.' : 'Endpoint added.');
  if (made.secret) await showSecret({ object: 'secret', secret: made.secret, previousUntil: null });
  await context.reload();
  return made;
}

/** Shows the secret that signs webhooks to an invoice's own URL. @param {Context} context */
function legacy(context) {
  return h(
    'details',
    { class: 'card' },
    h('summary', null, 'Invoices with their own webhook URL'),
    h(
      'div',
      { class: 'stack' },
      h('p', null, 'Webhooks to the webhookUrl of an invoice are signed with the account’s legacy secret.'),
      h(
        'div',
        { class: 'row' },
        actionButton(context, 'Show legacy secret', '', async () => {
          showSecret(await operator('GET', context.path('legacy-secret')));
          return false;
        }),
        actionButton(context, 'Roll legacy secret…', '', async () => {
          if (
            await confirmAction('Roll the legacy secret?', 'The old secret also signs for 24 hours.', 'Roll secret')
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
