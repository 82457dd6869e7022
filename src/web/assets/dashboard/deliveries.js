// Webhook deliveries: their attempts with request and response, and sending them again.

import { ApiError, form, operator } from '../shared/api.js';
import { ask, badge, copyButton, empty, facts, h, to, toast, localTime } from '../shared/dom.js';
import { formatJson } from '../shared/json.js';
import { actionButton, filters, head, pagedList, tabs } from './list.js';
import { nextToVerify } from './signature.js';
import { webhookTabs } from './webhooks.js';

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
  const endpoints = (await operator('GET', context.path('endpoints'))).data;
  const found = await pagedList({
    label: 'Deliveries',
    load: (before) => operator('GET', context.path('deliveries'), undefined, { mode, before, limit: 50, ...wanted }),
    none: empty(
      'Nothing was sent',
      'As soon as something happens, and an endpoint is on, it stands here.',
      h('a', { class: 'button', href: '#/webhooks' }, 'Endpoints'),
    ),
    columns: /** @type {import("../shared/dom.js").Column<Delivery>[]} */ ([
      { name: 'Event', cell: (one) => h('a', { href: to(`/deliveries/${one.id}`) }, one.type) },
      { name: 'State', cell: (one) => badge(one.state) },
      { name: 'To', cell: (one) => h('span', { class: 'mono' }, one.url) },
      { name: 'Last answer', cell: (one) => lastAttempt(one) },
      { name: 'Attempts', end: true, cell: (one) => one.attempts.at(-1)?.number ?? 0 },
      { name: 'Next', cell: (one) => localTime(one.nextAttemptAt) },
      { name: 'Made', cell: (one) => localTime(one.createdAt) },
    ]),
  });
  return h(
    'div',
    { class: 'page' },
    head(
      'Deliveries',
      'What your endpoints were sent, and what they answered.',
      h('button', { type: 'button', onclick: () => resendSince(context, endpoints) }, 'Send again since…'),
    ),
    tabs('Webhooks', webhookTabs),
    filters('/deliveries', [
      {
        name: 'state',
        label: 'State',
        type: 'select',
        options: [
          ['', 'Any'],
          ['pending', 'Pending'],
          ['delivered', 'Delivered'],
          ['failed', 'Failed'],
        ],
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
  return attempt.status === null ? (attempt.error ?? 'No answer') : String(attempt.status);
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
      h('h1', null, 'No such delivery'),
      h('p', null, `There is none with this id in ${mode} mode. `, h('a', { href: '#/deliveries' }, 'All deliveries')),
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
          'Send it again',
          'It is sent again.',
          () => operator('POST', context.path(`deliveries/${one.id}/resend`), undefined, { mode }),
          'primary',
        ),
      ),
    ),
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'what' },
      h('h2', { id: 'what' }, 'What it is'),
      facts(
        ['To', h('span', { class: 'mono' }, one.url)],
        ['Event', h('span', { class: 'mono' }, one.event)],
        ['About', h('a', { href: objectHref(one), class: 'mono' }, one.objectId)],
        ['Made', localTime(one.createdAt)],
        ['Next attempt', one.nextAttemptAt ? localTime(one.nextAttemptAt) : null],
      ),
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'attempts' },
      h('h2', { id: 'attempts' }, 'Attempts'),
      one.attempts.length === 0
        ? h('p', { class: 'quiet' }, 'None yet.')
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
                    attempt.status === null ? 'No answer' : String(attempt.status),
                    attempt.status !== null && attempt.status < 300 ? 'good' : 'bad',
                  ),
                ),
                facts(
                  ['When', localTime(attempt.at)],
                  ['Took', `${attempt.latencyMs} ms`],
                  ['What went wrong', attempt.error],
                ),
                attemptRequest(one.body, attempt.headers),
                attempt.answer
                  ? h(
                      'div',
                      { class: 'stack' },
                      h('h4', null, 'Its answer'),
                      h('pre', { tabindex: '0' }, attempt.answer),
                    )
                  : h(
                      'p',
                      { class: 'quiet' },
                      attempt.status === null ? 'There was no answer.' : 'The answer had no body.',
                    ),
              ),
            ),
    ),
    h(
      'section',
      { class: 'stack', 'aria-labelledby': 'body' },
      h('div', { class: 'row between' }, h('h2', { id: 'body' }, 'The body'), copyButton(one.body, 'body')),
      h('p', { class: 'quiet' }, 'This was sent, as the copy has it; here it is written in lines.'),
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
      'Its headers are not shown: nothing could be sent, or the body was in another format, or they were not kept yet.',
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
      h('h4', null, 'Its headers'),
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
          'Check its signature',
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
    'Send again since a time',
    (/** @type {(answer: Schemas["Resent"] | null) => void} */ close) => [
      h(
        'p',
        null,
        'Every delivery of the events since then is sent again, delivered ones too. Your shop must know an event ' +
          'that it has had.',
      ),
      form({
        fields: [
          { name: 'since', label: 'Since', type: 'datetime-local', required: true },
          {
            name: 'endpoint',
            label: 'To',
            type: 'select',
            options: [
              ['', 'All endpoints'],
              ...endpoints.map((one) => /** @type {[string, string]} */ ([one.id, one.url])),
            ],
          },
        ],
        submit: 'Send again',
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
  toast(`${sent.count} deliveries are sent again.`);
  await context.reload();
}
