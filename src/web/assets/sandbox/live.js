// The live activity of the sandbox: requests, events and webhooks.
//
// Invariant: the list has a maximum length, and received data is shown as text.

import { badge, fill, h, root } from '../shared/dom.js';
import { formatJson, parse, source } from '../shared/json.js';
import { verify } from './signature.js';

/** @typedef {import("controls").components["schemas"]["SandboxActivity"]} Activity */

const ENTRIES_MAX = 300;
const kinds = /** @type {const} */ ({ all: 'All', call: 'Calls', event: 'Events', delivery: 'Webhooks' });

/**
 * Fills the activity list and listens for entries.
 * @param {HTMLElement} place
 * @param {(kind: Activity['kind']) => void} happened called for each entry
 */
export function showActivity(place, happened) {
  const list = h('ol', { class: 'list', tabindex: '0', 'aria-labelledby': 'live-name' });
  const connected = h('span', { class: 'quiet', role: 'status' }, 'Connecting…');
  const empty = h(
    'p',
    { class: 'empty' },
    'Nothing has happened yet. Make an invoice, or paste the four lines into a terminal.',
  );
  let shown = 'all';
  /** @type {Activity[]} */
  let waiting = [];
  let isPaused = false;
  const segments = h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': 'What is shown' },
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
            for (const entry of list.children) show(/** @type {HTMLElement} */ (entry));
            none();
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
        pause.textContent = isPaused ? 'Go on' : 'Pause';
        if (!isPaused) for (const activity of waiting.splice(0)) add(activity);
      },
    },
    'Pause',
  );
  const clear = h(
    'button',
    {
      type: 'button',
      class: 'small',
      onclick: () => {
        fill(list);
        waiting = [];
        none();
      },
    },
    'Clear',
  );
  fill(
    place,
    h('div', { class: 'row between' }, h('h2', { id: 'live-name' }, 'What happens'), connected),
    h('div', { class: 'row between' }, segments, h('div', { class: 'row' }, pause, clear)),
    h('div', { class: 'list-place' }, empty, list),
  );
  place.hidden = false;

  /** @param {HTMLElement} entry */
  function show(entry) {
    entry.hidden = shown !== 'all' && entry.dataset.kind !== shown && entry.dataset.kind !== 'missed';
  }

  function none() {
    const is = [...list.children].every((entry) => /** @type {HTMLElement} */ (entry).hidden);
    empty.hidden = !is;
    list.hidden = is;
  }

  /** @param {Activity} activity */
  function add(activity) {
    const entry = activityEntry(activity);
    show(entry);
    list.prepend(entry);
    while (list.children.length > ENTRIES_MAX) list.lastElementChild?.remove();
    none();
  }

  const stream = new EventSource(new URL('sandbox/stream', root));
  stream.addEventListener('open', () => {
    connected.textContent = 'Live';
  });
  stream.addEventListener('error', () => {
    connected.textContent = 'The sandbox does not answer; trying again…';
  });
  for (const kind of ['call', 'event', 'delivery', 'missed']) {
    stream.addEventListener(kind, (message) => {
      const activity = /** @type {Activity} */ (parse(/** @type {MessageEvent} */ (message).data));
      happened(activity.kind);
      if (!isPaused) add(activity);
      else if (waiting.length < ENTRIES_MAX) waiting.push(activity);
    });
  }
  none();
}

/** Creates an entry of the activity list. @param {Activity} activity */
function activityEntry(activity) {
  if (activity.kind === 'missed') {
    return h(
      'li',
      { class: 'kind-missed', 'data-kind': 'missed' },
      `${activity.count} entries before this are not kept any more.`,
    );
  }
  const [summary, inside] = parts(activity);
  const details = h('details', null, h('summary', null, summary));
  // The details are created when they are first opened.
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(h('div', { class: 'inside' }, inside()));
  });
  return h('li', { class: `kind-${activity.kind}`, 'data-kind': activity.kind }, details);
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
          body('Sent', activity.sent),
          body('Answered', activity.answered),
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
    case 'delivery': {
      const verdict = h('p', { class: 'verdict' }, 'Checking the signature…');
      return [
        [
          h('span', { class: 'badge good' }, 'webhook'),
          h('span', { class: 'what' }, `${type(activity.sent.text)} → ${activity.url}`),
          badge(activity.status === null ? 'no answer' : String(activity.status), tone(activity.status ?? 0)),
          h('span', { class: 'number' }, `attempt ${activity.number}, ${activity.ms} ms, ${time(activity.at)}`),
        ],
        () => {
          void verify(activity).then(([isGood, text]) => {
            verdict.className = `verdict note ${isGood ? 'good' : 'warn'}`;
            verdict.textContent = text;
          });
          const headers = Object.entries(activity.headers).map(([name, value]) => `${name}: ${value}`);
          return [
            verdict,
            h('h3', null, 'Headers'),
            h('pre', { tabindex: '0' }, headers.join('\n')),
            body('Body', activity.sent),
            activity.error && h('p', { class: 'wrong' }, `There was no answer: ${activity.error}`),
            activity.answer && body('Answered', { text: activity.answer, cut: false }),
          ];
        },
      ];
    }
  }
}

/** @param {string} name @param {{ text: string, cut: boolean }} part */
function body(name, { text, cut }) {
  if (text === '') return null;
  return [h('h3', null, cut ? `${name}, the start of it` : name), h('pre', { tabindex: '0' }, formatJson(text))];
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
