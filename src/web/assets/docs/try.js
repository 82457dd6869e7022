// The form that sends an operation to the sandbox and shows its response.
//
// Invariant: requests go only to this sandbox, with its own keys, and responses are shown as text.

import { fill, h, root } from '../shared/dom.js';
import { formatJson } from '../shared/json.js';

/** Headers with the sandbox's credentials, by kind of credential. */
const headers = /** @type {Record<string, Record<string, string>>} */ ({
  secret: { 'X-API-Key': 'sk_test_sandbox' },
  public: { 'X-API-Key': 'pk_test_sandbox' },
  reseller: { Authorization: 'Bearer rt_sandbox' },
});

/** Adds a button below each operation. @param {HTMLElement[]} articles */
export function offerTrying(articles) {
  for (const article of articles) {
    const { method, path, key } = article.dataset;
    if (!method || !path) continue;
    const place = h('div', { class: 'try' });
    const open = h('button', { type: 'button', class: 'small' }, 'Try it');
    place.append(open);
    open.addEventListener('click', () => {
      const made = form(article, method, path, key ?? '');
      fill(place, made);
      /** @type {HTMLElement | null} */ (made.querySelector('input, textarea, select, button'))?.focus();
    });
    article.append(place);
  }
}

/**
 * Creates the form of an operation.
 * @param {HTMLElement} article
 * @param {string} method
 * @param {string} path
 * @param {string} key
 */
function form(article, method, path, key) {
  /** @type {[string, string, HTMLInputElement][]} */
  const inputs = [];
  const fields = [...article.querySelectorAll('[data-place]')].map((entry) => {
    const { name = '', place = '', value = '' } = /** @type {HTMLElement} */ (entry).dataset;
    const id = `try-${article.id}-${place}-${name}`;
    const input = h('input', { id, autocomplete: 'off', spellcheck: 'false', value, required: place === 'path' });
    inputs.push([name, place, input]);
    return h(
      'div',
      { class: 'field' },
      h('label', { for: id }, name, h('span', { class: 'kind' }, ` in the ${place}`)),
      input,
    );
  });
  const example = article.querySelector('pre.body')?.textContent;
  const id = `try-${article.id}-body`;
  const area =
    example === undefined || example === null
      ? null
      : h('textarea', { id, rows: Math.min(16, example.split('\n').length), spellcheck: 'false', value: example });
  const answer = h('div', { class: 'stack', role: 'status' });
  const made = h(
    'form',
    {
      class: 'try',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void send();
      },
    },
    fields.length > 0 && h('div', { class: 'parameters' }, fields),
    area && h('div', { class: 'field' }, h('label', { for: id }, 'Body'), area),
    key === 'session' && h('p', { class: 'hint' }, 'This call needs a signed-in user: try “signIn” first.'),
    h(
      'div',
      { class: 'row' },
      h('button', { class: 'primary' }, `Send ${method}`),
      h('span', { class: 'hint' }, 'The call goes to your sandbox.'),
    ),
    answer,
  );

  async function send() {
    let target = path.slice(1);
    const query = new URLSearchParams();
    /** @type {Record<string, string>} */
    const sent = { ...headers[key] };
    for (const [name, place, { value }] of inputs) {
      if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value));
      else if (value !== '' && place === 'query') query.set(name, value);
      else if (value !== '' && place === 'header') sent[name] = value;
    }
    const url = new URL(target, root);
    url.search = query.toString();
    fill(answer, h('p', { class: 'quiet' }, 'Sent. Waiting for the response…'));
    try {
      const began = performance.now();
      const response = await fetch(url, { method, headers: sent, body: area ? area.value : undefined });
      const type = response.headers.get('content-type') ?? '';
      const text = await readStart(response);
      const ms = Math.round(performance.now() - began);
      fill(
        answer,
        h(
          'p',
          null,
          h('span', { class: `badge ${response.ok ? 'good' : 'bad'}` }, String(response.status)),
          ` ${method} ${url.pathname}${url.search} `,
          h('span', { class: 'quiet' }, `${ms} ms, ${response.headers.get('x-request-id') ?? ''}`),
        ),
        text === ''
          ? h('p', { class: 'quiet' }, 'The response has no body.')
          : h('pre', { tabindex: '0' }, type.startsWith('application/json') ? formatJson(text) : text),
      );
    } catch (error) {
      fill(
        answer,
        h('p', { class: 'wrong' }, `There was no answer: ${error instanceof Error ? error.message : error}`),
      );
    }
  }
  return made;
}

/** Limits for showing a response: number of characters, and milliseconds to wait for a stream. */
const CHARACTERS_MAX = 100_000;
const WAIT_MS = 3000;

/** Returns a response, or its start if the response is long or streamed. @param {Response} response */
async function readStart(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return '';
  const goesOn = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const timer = setTimeout(() => {
    if (goesOn) void reader.cancel();
  }, WAIT_MS);
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.length > CHARACTERS_MAX) {
      await reader.cancel();
      return `${text.slice(0, CHARACTERS_MAX)}\n… the rest is left out here.`;
    }
  }
  clearTimeout(timer);
  return text;
}

