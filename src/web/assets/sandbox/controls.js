// The sandbox's controls: clock, webhook target, faults and reset.

import { ask as dialog, copyButton, exactTime, fill, h, root, toast } from '../shared/dom.js';
import { request, runDisabled } from './ask.js';

/** @typedef {import("controls").components["schemas"]["SandboxState"]} State */

/** @type {((state: State) => void)[]} */
const listeners = [];

/** Current state of the sandbox. */
export const state = {
  /** @returns {Promise<State>} */
  async get() {
    const now = await /** @type {Promise<State>} */ (request('GET', 'sandbox', { isOwn: true }));
    state.is(now);
    return now;
  },
  refresh() {
    state.get().catch(() => {});
  },
  /** @param {State} now */
  is(now) {
    for (const listener of listeners) listener(now);
  },
};

/** @param {string} name @param {string} hint @param {...import('../shared/dom.js').Child} children */
function card(name, hint, ...children) {
  return h(
    'section',
    { class: 'card later' },
    h('h2', null, name),
    hint !== '' && h('p', { class: 'quiet' }, hint),
    children,
  );
}

/** Controls of the clock, which only moves forward. */
export function clock() {
  const shown = h('p', { class: 'number' }, '–');
  const freeze = h(
    'button',
    { type: 'button', class: 'small', onclick: () => set({ frozen: freeze.dataset.frozen !== 'true' }) },
    'Stop clock',
  );
  /** @param {object} body */
  const set = (body) =>
    runDisabled(freeze, async () => {
      state.is(await request('POST', 'sandbox/clock', { body }).then(() => request('GET', 'sandbox', { isOwn: true })));
      toast('Clock changed. All work that was due is done.');
    });
  listeners.push(({ time, frozen }) => {
    fill(shown, exactTime(time), frozen ? ', stopped' : '');
    freeze.dataset.frozen = String(frozen);
    freeze.textContent = frozen ? 'Start clock' : 'Stop clock';
    const now = document.getElementById('now');
    if (now)
      fill(
        now,
        h('span', { class: 'quiet' }, 'Clock'),
        h('span', { class: 'number' }, time.slice(0, 16).replace('T', ' '), ' UTC'),
      );
  });
  const steps = /** @type {const} */ ([
    ['1m', '1 minute'],
    ['20m', '20 minutes'],
    ['1h', '1 hour'],
    ['1d', '1 day'],
  ]);
  return card(
    'Clock',
    'Deadlines and retries on the way happen in order, each at its own time.',
    shown,
    h(
      'div',
      { class: 'row' },
      steps.map(([span, name]) =>
        h('button', { type: 'button', class: 'small', onclick: () => set({ advance: span }) }, `Advance ${name}`),
      ),
      freeze,
    ),
  );
}

/** Controls of the webhook target. */
export function webhooks() {
  const inbox = new URL('sandbox/inbox/page', root).href;
  const list = h('ul', { class: 'made' });
  const field = h('input', {
    id: 'endpoint',
    type: 'url',
    placeholder: 'http://127.0.0.1:8081/webhooks',
    required: true,
  });
  const here = h(
    'button',
    { type: 'button', class: 'small', onclick: () => runDisabled(here, () => to(inbox)) },
    'Receive webhooks here',
  );
  const send = h('button', { class: 'small' }, 'Set endpoint');
  /** @param {string} url */
  const to = async (url) => {
    state.is(await request('PATCH', 'sandbox/account', { body: { endpoints: [{ url }] } }));
    toast('Endpoint set. Later webhooks go there.');
  };
  listeners.push(({ account }) => {
    fill(
      list,
      account.endpoints.length === 0
        ? h('li', { class: 'quiet' }, 'No endpoint yet. Receive webhooks here, or enter the URL of your receiver.')
        : account.endpoints.map(({ url, secret }) =>
            h(
              'li',
              null,
              h('code', null, url),
              h('div', { class: 'secret' }, h('code', null, secret), copyButton(secret, 'secret')),
            ),
          ),
    );
  });
  return card(
    'Webhooks',
    'Endpoint of the account, and the secret that signs its webhooks.',
    list,
    h('div', { class: 'row' }, here),
    h(
      'form',
      {
        class: 'stack',
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void runDisabled(send, () => to(field.value));
        },
      },
      h('div', { class: 'field' }, h('label', { for: 'endpoint' }, 'URL of your receiver'), field),
      h('div', { class: 'row' }, send),
    ),
  );
}

/** Controls of the faults for the next requests. */
export function faults() {
  const routes = [
    'any call',
    'POST /v1/invoices',
    'POST /v1/invoices/{id}/select',
    'GET /v1/invoices/{id}',
    'POST /v1/payouts',
  ];
  const route = h(
    'select',
    { id: 'fault-route' },
    routes.map((name) => h('option', { value: name }, name)),
  );
  const kinds = /** @type {const} */ ({
    500: 'status 500',
    503: 'status 503',
    429: 'status 429',
    drop: 'no response, work done',
    slow: 'response after 3 s',
  });
  const kind = h(
    'select',
    { id: 'fault-kind' },
    Object.entries(kinds).map(([value, name]) => h('option', { value }, name)),
  );
  const now = h('p', { class: 'quiet', role: 'status' });
  listeners.push(({ faults: { calls } }) => {
    now.textContent =
      calls.length === 0
        ? 'No faults.'
        : calls.map(({ route: of, times }) => `${of ?? 'Any call'}: the next ${times === 1 ? 'one' : times} will fail.`).join(' ');
  });
  const add = h(
    'button',
    {
      type: 'button',
      class: 'small',
      onclick: () =>
        runDisabled(add, async () => {
          const what = { drop: { dropAnswer: true }, slow: { delayMs: 3000 } }[kind.value] ?? {
            status: Number(kind.value),
          };
          const where = route.value === 'any call' ? {} : { route: route.value };
          await request('POST', 'sandbox/faults', { body: { ...where, ...what, times: 1 } });
          state.refresh();
        }),
    },
    'Fail next call',
  );
  const end = h(
    'button',
    {
      type: 'button',
      class: 'small',
      onclick: () =>
        runDisabled(end, async () => {
          await request('DELETE', 'sandbox/faults');
          state.refresh();
        }),
    },
    'End all faults',
  );
  return card(
    'Faults',
    'Test what your program does when a call fails.',
    h(
      'div',
      { class: 'make' },
      h('div', { class: 'field' }, h('label', { for: 'fault-route' }, 'Call'), route),
      h('div', { class: 'field' }, h('label', { for: 'fault-kind' }, 'Fault'), kind),
    ),
    h('div', { class: 'row' }, add, end),
    now,
  );
}

/** Control that resets the sandbox. */
export function reset() {
  const button = h(
    'button',
    {
      type: 'button',
      class: 'small danger',
      onclick: () =>
        runDisabled(button, async () => {
          const is = await dialog('Reset the sandbox?', (/** @type {(answer: boolean) => void} */ close) => [
            h(
              'p',
              null,
              'All invoices, payments, events and endpoints are removed, and the clock goes back to real time. ' +
                'Snapshots stay.',
            ),
            h(
              'div',
              { class: 'ends' },
              h('button', { type: 'button', onclick: () => close(false) }, 'Keep everything'),
              h('button', { type: 'button', class: 'danger', onclick: () => close(true) }, 'Reset sandbox'),
            ),
          ]);
          if (!is) return;
          state.is(await request('POST', 'sandbox/reset'));
        }),
    },
    'Reset sandbox',
  );
  return card('Reset', 'Back to the seeded account and real time. The keys stay the same.', h('div', { class: 'row' }, button));
}
