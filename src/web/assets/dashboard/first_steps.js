// The list of first steps, which the home page and the page of the first steps share.

import { h } from '../shared/dom.js';

/** @typedef {import("./dashboard.js").Context} Context */
/** @typedef {import("openapi").components["schemas"]} Schemas */
/** @typedef {Schemas["FirstSteps"]} FirstSteps */
/** @typedef {Schemas["FirstStep"]} FirstStep */

/**
 * Title, advice and page of each step. Only operators do the steps of the service.
 * @type {Record<FirstStep["step"], { title: string, text: string, action: string, href: string, ofService?: boolean }>}
 */
const steps = {
  chain: {
    title: 'Connect a chain',
    text: 'Coffer sees real payments through a node, an Electrum server or a provider.',
    action: 'Connect chain',
    href: '#/chains',
    ofService: true,
  },
  wallet: {
    title: 'Add a wallet',
    text: 'Addresses are derived from an extended public key. It can receive, and never spend.',
    action: 'Add wallet',
    href: '#/wallets',
    ofService: true,
  },
  coins: {
    title: 'Offer a coin',
    text:
      'A coin is on offer once its chain is read, a wallet provides addresses and a rate is known. Coffer requests rates ' +
      'once there is a live key or a live payment link.',
    action: 'Check coins',
    href: '#/coins',
    ofService: true,
  },
  key: {
    title: 'Create a live key',
    text: 'Your shop calls Coffer with it. A key is shown once.',
    action: 'Create key',
    href: '#/keys',
  },
  endpoint: {
    title: 'Add a webhook endpoint',
    text: 'Coffer notifies your shop there when an invoice is paid.',
    action: 'Add endpoint',
    href: '#/webhooks',
  },
  test_payment: {
    title: 'Make a test payment',
    text: 'A button pays a test invoice. No real money moves.',
    action: 'Make test payment',
    href: '#/start',
  },
  real_payment: {
    title: 'Take a real payment of 1.00',
    text: 'Create a payment link of 1.00 in live mode, open its checkout, and pay from a wallet of your own.',
    action: 'Take payment',
    href: '#/start',
  },
};

/**
 * Creates the list of the steps. `parts` replaces the link of an open step by its own controls.
 * @param {Context} context
 * @param {FirstSteps} found
 * @param {"h2" | "h3"} heading
 * @param {Partial<Record<FirstStep["step"], import("../shared/dom.js").Child>>} [parts]
 */
export function stepList(context, found, heading, parts = {}) {
  return h(
    'ol',
    { class: 'steps' },
    found.steps.map((one) => item(context, one, heading, parts[one.step])),
  );
}

/**
 * @param {Context} context
 * @param {FirstStep} one
 * @param {"h2" | "h3"} heading
 * @param {import("../shared/dom.js").Child} part
 */
function item(context, one, heading, part) {
  const { title, text, action, href, ofService } = steps[one.step];
  const mayAct = context.isOperator || !ofService;
  const advice = mayAct ? text : `${text} An operator of this service does this step.`;
  const link = h('a', { class: 'button', href }, action);
  return h(
    'li',
    { class: one.done ? 'good' : '', 'data-step': one.step },
    h(
      'div',
      { class: 'stack' },
      h(heading, null, title, one.done ? h('span', { class: 'visually-hidden' }, ' (done)') : null),
      one.done && !part ? null : h('p', null, advice),
      one.problem ? h('p', { class: 'quiet' }, `Now: ${one.problem}.`) : null,
      part ? h('div', { class: 'row' }, part) : one.done || !mayAct ? null : h('div', { class: 'row' }, link),
    ),
  );
}

/** Creates the card of the home page. It is shown until every step is done. @param {Context} context @param {FirstSteps} found */
export function stepsCard(context, found) {
  if (found.done) return null;
  const done = found.steps.filter((one) => one.done).length;
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'first-steps' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'first-steps' }, 'First steps'),
      h('span', { class: 'quiet' }, `${done} of ${found.steps.length} done`),
    ),
    stepList(context, found, 'h3'),
  );
}
