// Webhook deliveries: their attempts with request and response, and sending them again.

import { ApiError, form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, facts, h, to, toast, localTime } from '../shared/dom.js';
import { formatJson } from '../shared/json.js';
import { actionButton, anyOf, filters, head, pagedList, tabs } from './list.js';
import { nextToVerify, webhookTabs } from './webhook_pages.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["Delivery"]} Delivery */

/** @param {Context} context */
export function show(context) {
  const [id] = context.parts;
  return id ? detail(context, id) : list(context);
}

/** @param {Context} context */
async function list(context) {
  const { mode, query } = context;
  const wanted = Object.fromEntries(['endpoint', 'state', 'event'].map((name) => [name, query.get(name)]));
  const isFiltered = Object.values(wanted).some(Boolean);
  const endpoints = (await operator('GET', context.path('endpoints'))).data;
  const found = await pagedList({
    label: 'Deliveries',
    load: (before) => operator('GET', context.path('deliveries'), undefined, { mode, before, limit: 50, ...wanted }),
    none: empty(
      isFiltered ? 'No matching deliveries' : 'No deliveries yet',
      'Each event that is sent to an endpoint is a delivery. Add an endpoint first.',
      h('a', { class: 'button', href: '#/webhooks' }, 'Open endpoints'),
    ),
    href: (one) => to(`/deliveries/${one.id}`),
    columns: /** @type {import("../shared/dom.js").Column<Delivery>[]} */ ([
      { name: 'Event', cell: (one) => one.type },
      { name: 'Status', cell: (one) => badge(one.state) },
      { name: 'Endpoint', wide: true, cell: (one) => h('span', { class: 'mono' }, one.url) },
      { name: 'Response', cell: (one) => lastAttempt(one) },
      { name: 'Attempts', end: true, cell: (one) => one.attempts.at(-1)?.number ?? 0 },
      { name: 'Next attempt', cell: (one) => (one.nextAttemptAt ? localTime(one.nextAttemptAt) : '–') },
      { name: 'Created', cell: (one) => localTime(one.createdAt) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head(
      'Deliveries',
      'Events sent to your endpoints, with the responses.',
      h('button', { type: 'button', class: 'small', onclick: () => resendSince(context, endpoints) }, 'Resend events…'),
    ),
    tabs('Webhooks', webhookTabs),
    filters('/deliveries', [
      {
        name: 'state',
        label: 'Status',
        type: 'select',
        options: anyOf(['pending', 'delivered', 'failed']),
      },
      {
        name: 'endpoint',
        label: 'Endpoint',
        type: 'select',
        options: [
          ['', 'Any'],
          ...endpoints.map(
            (/** @type {Schemas["Endpoint"]} */ one) => /** @type {[string, string]} */ ([one.id, one.url]),
          ),
        ],
      },
      { name: 'event', label: 'Event id', type: 'search' },
    ]),
    found,
  );
}

/** @param {Delivery} one */
function lastAttempt(one) {
  const attempt = one.attempts.at(-1);
  if (!attempt) return '–';
  return attempt.status === null ? (attempt.error ?? 'No response') : String(attempt.status);
}

/** @param {Context} context @param {string} id */
async function detail(context, id) {
  const { mode } = context;
  /** @type {Schemas["DeliveryDetail"]} */
  let one;
  try {
    one = await operator('GET', context.path(`deliveries/${encodeURIComponent(id)}`), undefined, { mode });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return h(
      'div',
      { class: 'page' },
      h('h1', null, 'Delivery not found'),
      h('p', null, `No delivery has this id in ${mode} mode. `, h('a', { href: '#/deliveries' }, 'Show all deliveries')),
    );
  }
  return h(
    'div',
    { class: 'page' },
    h('p', { class: 'crumb' }, h('a', { href: '#/deliveries' }, 'Deliveries')),
    h(
      'div',
      { class: 'head' },
      h('div', { class: 'stack' }, h('h1', null, one.type), h('p', null, badge(one.state))),
      h(
        'div',
        { class: 'row' },
        actionButton(
          context,
          'Resend delivery',
          'Delivery queued. Its attempt appears here.',
          () => operator('POST', context.path(`deliveries/${one.id}/resend`), undefined, { mode }),
          'primary',
        ),
      ),
    ),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'details' },
      h('h2', { id: 'details' }, 'Details'),
      facts(
        ['Endpoint', h('span', { class: 'mono' }, one.url)],
        ['Event', h('span', { class: 'mono' }, one.event)],
        ['Object', h('a', { href: objectHref(one), class: 'mono' }, one.objectId)],
        ['Created', localTime(one.createdAt)],
        ['Next attempt', one.nextAttemptAt ? localTime(one.nextAttemptAt) : null],
      ),
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'attempts' },
      h('h2', { id: 'attempts' }, 'Attempts'),
      one.attempts.length === 0
        ? h('p', { class: 'quiet' }, 'No attempts yet. The first one starts within seconds.')
        : [...one.attempts]
            .reverse()
            .map((attempt) =>
              h(
                'div',
                { class: 'card' },
                h(
                  'div',
                  { class: 'row between' },
                  h('h3', null, `Attempt ${attempt.number}`),
                  badge(
                    attempt.status === null ? 'No response' : String(attempt.status),
                    attempt.status !== null && attempt.status < 300 ? 'good' : 'bad',
                  ),
                ),
                facts(
                  ['Sent', localTime(attempt.at)],
                  ['Duration', `${attempt.latencyMs} ms`],
                  ['Failure', attempt.error],
                ),
                attemptRequest(one.body, attempt.headers),
                attempt.answer
                  ? h(
                      'div',
                      { class: 'stack' },
                      h('h4', null, 'Response'),
                      h('pre', { tabindex: '0' }, attempt.answer),
                    )
                  : h(
                      'p',
                      { class: 'quiet' },
                      attempt.status === null ? 'No response.' : 'The response had no body.',
                    ),
              ),
            ),
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'body' },
      h('div', { class: 'row between' }, h('h2', { id: 'body' }, 'Request body'), copyButton(one.body, 'body')),
      h('p', { class: 'quiet' }, 'Shown in lines. The copy has the exact bytes.'),
      h('pre', { tabindex: '0' }, formatJson(one.body)),
    ),
  );
}

/** Shows headers and body of an attempt. @param {string} body @param {Record<string, string> | undefined} headers */
function attemptRequest(body, headers) {
  if (!headers)
    return h(
      'p',
      { class: 'quiet' },
      'No headers: nothing was sent, or the body had another format.',
    );
  const lines = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
  return h(
    'div',
    { class: 'stack' },
    h(
      'div',
      { class: 'row between' },
      h('h4', null, 'Request headers'),
      h(
        'div',
        { class: 'row' },
        copyButton(lines, 'headers'),
        h(
          'a',
          {
            class: 'button small',
            href: '#/signature',
            onclick: () => {
              nextToVerify.body = body;
              nextToVerify.headers = lines;
            },
          },
          'Verify signature',
        ),
      ),
    ),
    h('pre', { tabindex: '0' }, lines),
  );
}

/** Returns the link to the object of a delivery. @param {Delivery} one */
function objectHref(one) {
  const [kind] = one.type.split('.');
  const pages = /** @type {Record<string, string>} */ ({
    invoice: '/invoices/',
    payout: '/payouts/',
    refund: '/refunds/',
  });
  return kind && pages[kind] ? to(`${pages[kind]}${one.objectId}`) : to('/events', { object: one.objectId });
}

/** @param {Context} context @param {Schemas["Endpoint"][]} endpoints */
async function resendSince(context, endpoints) {
  const sent = await ask(
    'Resend events',
    (/** @type {(answer: Schemas["Resent"] | null) => void} */ close) => [
      h(
        'p',
        null,
        'Sends all deliveries of the events since a time again, also delivered ones. Your shop must recognize ' +
          'repeated events.',
      ),
      form({
        fields: [
          { name: 'since', label: 'Since', type: 'datetime-local', required: true },
          {
            name: 'endpoint',
            label: 'Endpoint',
            type: 'select',
            options: [
              ['', 'All endpoints'],
              ...endpoints.map((one) => /** @type {[string, string]} */ ([one.id, one.url])),
            ],
          },
        ],
        submit: 'Resend events',
        cancel: () => close(null),
        send: async ({ since, endpoint }) =>
          close(
            await operator(
              'POST',
              context.path('resend'),
              { since: new Date(since).toISOString(), endpoint: endpoint || null },
              { mode: context.mode },
            ),
          ),
      }),
    ],
  );
  if (!sent) return;
  toast(`${sent.count} deliveries queued.`);
  await context.reload();
}
