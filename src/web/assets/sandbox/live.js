// The activity list of the sandbox: calls, events and webhooks.
//
// Invariant: the list has a maximum length, and received data is shown as text.

import { badge, copyButton, fill, h, root, toast } from '../shared/dom.js';
import { formatJson, source } from '../shared/json.js';
import { curlCommand } from './curl.js';
import { verify } from './signature.js';

/** @typedef {import('./stream.js').Activity} Activity */

const ENTRIES_MAX = 300;
const kinds = /** @type {const} */ ({
  all: 'All',
  call: 'Calls',
  event: 'Events',
  delivery: 'Webhooks',
  mail: 'E-mail',
});

/** Messages at the beginning of a run. */
const beginnings = /** @type {const} */ ({
  start: 'The sandbox was started again. What it did before is gone.',
  reset: 'The sandbox was reset. What it did before is gone.',
  restore: 'A snapshot was restored. What the sandbox did before is gone.',
});

/**
 * Fills the place of the activity list. The list keeps the newest activity, and as many calls by the operator pages,
 * which are hidden until they are asked for.
 * @param {HTMLElement} place
 */
export function activityList(place) {
  const list = h('ol', { class: 'list', tabindex: '0', 'aria-labelledby': 'live-name' });
  const connected = h('span', { class: 'quiet', role: 'status' }, 'Connecting…');
  const empty = h('p', { class: 'empty' }, 'No activity yet. Run a payment, or call the API from a terminal.');
  let shown = 'all';
  /** @type {Activity[]} */
  let waiting = [];
  let isPaused = false;
  const segments = h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'Kind of activity' },
    Object.entries(kinds).map(([kind, name]) => {
      const button = h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(kind === shown),
          onclick: () => {
            shown = kind;
            for (const other of segments.querySelectorAll('button'))
              other.setAttribute('aria-pressed', String(other === button));
            filter();
          },
        },
        name,
      );
      return button;
    }),
  );
  const pause = h(
    'button',
    {
      type: 'button',
      class: 'small',
      'aria-pressed': 'false',
      onclick: () => {
        isPaused = !isPaused;
        pause.setAttribute('aria-pressed', String(isPaused));
        if (!isPaused) for (const activity of waiting.splice(0)) insert(activity);
      },
    },
    'Pause',
  );
  const operators = h('input', { type: 'checkbox', id: 'operators', onchange: filter });
  fill(
    place,
    h('div', { class: 'row between' }, h('h2', { id: 'live-name' }, 'Activity'), connected),
    h(
      'div',
      { class: 'row between' },
      segments,
      h('div', { class: 'row' }, pause, h('button', { type: 'button', class: 'small', onclick: clear }, 'Clear')),
    ),
    h('div', { class: 'check quiet' }, operators, h('label', { for: 'operators' }, 'Show calls by the operator pages')),
    h('div', { class: 'list-place' }, empty, list),
  );
  place.hidden = false;

  /** Shows the entries of the chosen kind. */
  function filter() {
    for (const entry of list.children) show(/** @type {HTMLElement} */ (entry));
    showEmpty();
  }

  /** @param {HTMLElement} entry */
  function show(entry) {
    const { kind, operator } = entry.dataset;
    const isOther = shown !== 'all' && kind !== shown && kind !== 'missed' && kind !== 'run';
    entry.hidden = isOther || (operator !== undefined && !operators.checked);
  }

  /** Shows the empty state if no entry is shown. */
  function showEmpty() {
    const is = [...list.children].every((entry) => /** @type {HTMLElement} */ (entry).hidden);
    empty.hidden = !is;
    list.hidden = is;
  }

  function clear() {
    fill(list);
    waiting = [];
    showEmpty();
  }

  /** @param {HTMLElement} entry */
  function prepend(entry) {
    show(entry);
    list.prepend(entry);
    const isOperator = 'operator' in entry.dataset;
    const same = [...list.children].filter(
      (other) => 'operator' in /** @type {HTMLElement} */ (other).dataset === isOperator,
    );
    for (const old of same.slice(ENTRIES_MAX)) old.remove();
    showEmpty();
  }

  /** @param {Activity} activity */
  function insert(activity) {
    prepend(activityEntry(activity));
  }
  showEmpty();
  return {
    /** Adds an activity, or keeps it while the list is paused. @param {Activity} activity */
    add(activity) {
      if (!isPaused) insert(activity);
      else if (waiting.length < ENTRIES_MAX) waiting.push(activity);
    },
    /** Removes the activity of an earlier run, and says why. @param {keyof typeof beginnings} cause */
    begin(cause) {
      clear();
      prepend(h('li', { class: 'kind-missed', 'data-kind': 'run' }, beginnings[cause]));
      toast(beginnings[cause]);
    },
    /** @param {boolean} is */
    setConnected(is) {
      const text = is ? 'Live' : '';
      if (connected.textContent !== text) connected.textContent = text;
    },
  };
}

/** Returns true for a call by the operator pages. @param {Activity} activity */
function isByOperatorPages(activity) {
  return activity.kind === 'call' && /^\/dashboard(?:[/?]|$)/.test(activity.target);
}

/** Creates an entry of the activity list. @param {Activity} activity */
function activityEntry(activity) {
  if (activity.kind === 'missed') {
    return h(
      'li',
      { class: 'kind-missed', 'data-kind': 'missed' },
      `${activity.count} earlier entries are not kept.`,
    );
  }
  const [summary, inside] = parts(activity);
  const details = h('details', null, h('summary', null, summary));
  // The details are created when they are first opened.
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(h('div', { class: 'inside' }, inside()));
  });
  return h(
    'li',
    {
      class: `kind-${activity.kind}`,
      'data-kind': activity.kind,
      'data-operator': isByOperatorPages(activity),
    },
    details,
  );
}

/**
 * @param {Exclude<Activity, { kind: 'missed' }>} activity
 * @returns {[import('../shared/dom.js').Child[], () => import('../shared/dom.js').Child[]]}
 */
function parts(activity) {
  switch (activity.kind) {
    case 'call':
      return [
        [
          h('span', { class: 'badge' }, 'call'),
          h('span', { class: 'what' }, `${activity.method} ${activity.target}`),
          badge(String(activity.status), tone(activity.status)),
          h('span', { class: 'number' }, `${activity.ms} ms, ${time(activity.at)}`),
        ],
        () => [
          h(
            'p',
            { class: 'quiet' },
            activity.requestId,
            activity.operation && [
              ', ',
              h('a', { href: new URL(`docs#${activity.operation}`, root).href }, activity.operation),
            ],
            activity.key && [', with ', h('code', null, activity.key)],
          ),
          h('div', { class: 'row' }, curlButton(activity)),
          body('Request', activity.sent),
          body('Response', activity.answered),
        ],
      ];
    case 'event': {
      const event = /** @type {{ id?: string, type?: string, created?: string }} */ (activity.event);
      return [
        [
          h('span', { class: 'badge info' }, 'event'),
          h('span', { class: 'what' }, event.type ?? ''),
          h('span', { class: 'number' }, time(event.created ?? '')),
        ],
        () => [h('p', { class: 'quiet' }, event.id ?? ''), h('pre', { tabindex: '0' }, formatJson(source(event)))],
      ];
    }
    case 'mail':
      return [
        [
          h('span', { class: 'badge' }, 'e-mail'),
          h('span', { class: 'what' }, `${activity.subject} → ${activity.to}`),
          h('span', { class: 'number' }, `not sent, ${time(activity.at)}`),
        ],
        () => [
          h('p', { class: 'quiet' }, 'A sandbox sends no e-mail. This is what would be sent.'),
          h('pre', { tabindex: '0', lang: activity.language, dir: 'auto' }, activity.text),
        ],
      ];
    case 'delivery': {
      const verdict = h('p', { class: 'verdict' }, 'Checking the signature…');
      return [
        [
          h('span', { class: 'badge good' }, 'webhook'),
          h('span', { class: 'what' }, `${type(activity.sent.text)} → ${activity.url}`),
          badge(activity.status === null ? 'no response' : String(activity.status), tone(activity.status ?? 0)),
          h('span', { class: 'number' }, `attempt ${activity.number}, ${activity.ms} ms, ${time(activity.at)}`),
        ],
        () => {
          const unchecked = () => /** @type {[boolean, string]} */ ([false, 'The sandbox does not respond.']);
          void verify(activity).catch(unchecked).then(([isGood, text]) => {
            verdict.className = `verdict note ${isGood ? 'good' : 'warn'}`;
            verdict.textContent = text;
          });
          const headers = Object.entries(activity.headers).map(([name, value]) => `${name}: ${value}`);
          return [
            verdict,
            h('h3', null, 'Headers'),
            h('pre', { tabindex: '0' }, headers.join('\n')),
            body('Body', activity.sent),
            activity.error && h('p', { class: 'wrong' }, `No response: ${activity.error}`),
            activity.answer && body('Response', { text: activity.answer, cut: false }),
          ];
        },
      ];
    }
  }
}

/** Creates the button that copies the command of a call. @param {Extract<Activity, { kind: 'call' }>} call */
function curlButton(call) {
  const command = curlCommand(call);
  if (command === null) return h('span', { class: 'quiet' }, 'No command: the body is too long, or may hold a secret.');
  const button = copyButton(command, 'curl command');
  button.removeAttribute('aria-label');
  button.textContent = 'Copy as curl';
  return button;
}

/** @param {string} name @param {{ text: string, cut: boolean }} part */
function body(name, { text, cut }) {
  if (text === '') return null;
  return [h('h3', null, cut ? `${name}, first 32 KiB` : name), h('pre', { tabindex: '0' }, formatJson(text))];
}

/** Returns the type of the event in a webhook body. @param {string} text */
function type(text) {
  try {
    const { type, event } = JSON.parse(text);
    return String(type ?? event ?? '');
  } catch {
    return '';
  }
}

/** @param {string} moment */
function time(moment) {
  return moment.slice(11, 19);
}

/** @param {number} status */
function tone(status) {
  return status >= 500 || status === 0 ? 'bad' : status >= 400 ? 'warn' : 'good';
}
