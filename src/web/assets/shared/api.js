// Requests to the server, forms, and the display of errors.
//
// Invariant: an error appears beside the field that it names, with its request id. If the session has ended or a recent
// password is required, a dialog asks for the password, keeps the form's input, and repeats the request.

import { ask, h, root, withLocalTimes } from './dom.js';
import { parse } from './json.js';
import { setServerTime } from './time.js';

/** @typedef {import("./dom.js").Child} Child */

/** Error of a request: an error response, or no response at all. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 if there was no response
   * @param {{ error?: string, message?: string, param?: string, requestId?: string }} body
   */
  constructor(status, body) {
    super(
      body.message ??
        (status === 0
          ? 'No connection to the server. Try again when it is back.'
          : `The server answered ${status}.`),
    );
    this.status = status;
    this.code = body.error ?? '';
    this.param = body.param ?? null;
    this.requestId = body.requestId ?? null;
  }
}

/**
 * The signed-in user's email address, and functions to call: when the session has ended, when a request got no response,
 * and when the user has signed in again.
 */
export const hooks = {
  email: /** @type {string | null} */ (null),
  signedOut: () => {},
  unreachable: () => {},
  signedInAgain: () => {},
};

/**
 * Sends a request. `path` is relative to the root of the server, without a slash at its start.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body] a file, or a value that is sent as JSON
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>} the JSON response, or null if the response is empty
 */
export async function request(method, path, body, headers = {}) {
  let answer;
  let text;
  const type = body instanceof Blob ? body.type : 'application/json';
  try {
    answer = await fetch(new URL(path, root), {
      method,
      headers: body === undefined ? headers : { 'Content-Type': type, ...headers },
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      cache: 'no-store',
    });
    text = await answer.text();
  } catch {
    hooks.unreachable();
    throw new ApiError(0, {});
  }
  if (path.startsWith('dashboard/')) setServerTime(answer.headers.get('date'));
  let json = null;
  try {
    json = text === '' ? null : parse(text);
  } catch {
    json = null;
  }
  if (answer.ok) return json;
  const refusal = new ApiError(answer.status, json ?? {});
  if (refusal.code === 'reauthentication_required' && (await confirmPassword()))
    return request(method, path, body, headers);
  if (refusal.code === 'second_factor_required') return withCode(refusal, method, path, body, headers);
  if (refusal.status === 401 && refusal.code === 'unauthorized' && path.startsWith('dashboard/')) {
    const isBack = hooks.email === null ? false : await signInAgain(hooks.email);
    if (isBack) {
      hooks.signedInAgain();
      return request(method, path, body, headers);
    }
    if (isBack === false) hooks.signedOut();
  }
  throw refusal;
}

/** The open sign-in dialog, shared by all requests that find the session ended. */
let signingIn = /** @type {Promise<boolean | null> | null} */ (null);

/**
 * Asks the user for the password after the session has ended.
 * @param {string} email
 * @returns {Promise<boolean | null>} true if signed in again; null if postponed, which keeps the form's input
 */
function signInAgain(email) {
  signingIn ??= ask('Sign in again', (/** @type {(isBack: boolean) => void} */ close) => [
    h('p', null, 'Your session has ended. Your input is kept: after you sign in, the request is sent again.'),
    h('p', null, h('strong', null, email)),
    form({
      fields: [
        { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true },
      ],
      submit: 'Sign in',
      cancel: () => close(false),
      cancelText: 'Leave',
      send: async ({ password }) => {
        await request('POST', 'dashboard/api/session', { email, password });
        close(true);
      },
    }),
  ]).finally(() => (signingIn = null));
  return signingIn;
}

/**
 * Calls an operation of the operator API. Adds the values of `query` that are not empty.
 * @param {string} method
 * @param {string} path below /dashboard/api/
 * @param {unknown} [body]
 * @param {Record<string, string | number | null | undefined>} [query]
 * @param {Record<string, string>} [headers]
 */
export function operator(method, path, body, query = {}, headers = {}) {
  return request(method, `dashboard/api/${path}${queryText(query)}`, body, headers);
}

/**
 * Returns a query string with its question mark, or an empty text.
 * @param {Record<string, string | number | null | undefined>} query
 */
export function queryText(query) {
  const there = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return there.length === 0 ? '' : `?${new URLSearchParams(there.map(([name, value]) => [name, String(value)]))}`;
}

/** The open password dialog, shared by all requests that wait for it. */
let confirming = /** @type {Promise<boolean | null> | null} */ (null);

/** Asks for the user's password again. @returns {Promise<boolean>} true if it was confirmed */
async function confirmPassword() {
  confirming ??= ask('Confirm with your password', (/** @type {(given: boolean) => void} */ close) => [
    h('p', null, 'This action needs your password again. It is then valid for 15 minutes.'),
    form({
      fields: [
        { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true },
      ],
      submit: 'Confirm',
      cancel: () => close(false),
      send: async (values) => {
        await request('POST', 'dashboard/api/session/confirm', values);
        close(true);
      },
    }),
  ]).finally(() => (confirming = null));
  return (await confirming) === true;
}

/**
 * Asks for a code of the second factor and repeats a request with it.
 * @param {ApiError} refusal thrown if the user enters no code
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} headers
 */
async function withCode(refusal, method, path, body, headers) {
  /** @type {any} */
  let answer = null;
  const given = await ask('Enter your code', (close) => [
    h(
      'p',
      null,
      'Your second factor is on. Enter the six digits that your authenticator app shows now, or a recovery code.',
    ),
    form({
      fields: [{ name: 'code', label: 'Code', autocomplete: 'one-time-code', required: true }],
      submit: 'Continue',
      cancel: () => close(false),
      send: async ({ code }) => {
        answer = await request(method, path, { ...Object(body), code }, headers);
        close(true);
      },
    }),
  ]);
  if (given !== true) throw refusal;
  return answer;
}

/**
 * A field of a form. `type` is that of an input, or `select`, `textarea`, `checkbox` or `none` (`element` only).
 * @typedef {{
 *   name: string, label: string, type?: string, value?: string | boolean | null, hint?: Child, required?: boolean,
 *   options?: [string, string][], placeholder?: string, autocomplete?: string, inputmode?: string, rows?: number,
 *   pattern?: string,
 * }} Field
 */

let counter = 0;

/**
 * Creates a field with its label, its hint and a place for its error.
 * @param {Field} field
 */
export function field(field) {
  counter += 1;
  const id = `field-${counter}`;
  const wrong = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
  const hint = field.hint ? h('p', { class: 'hint', id: `${id}-hint` }, field.hint) : null;
  const props = {
    id,
    name: field.name,
    required: field.required,
    placeholder: field.placeholder,
    inputmode: field.inputmode,
    'aria-describedby': hint ? `${hint.id} ${wrong.id}` : wrong.id,
    autocomplete: field.autocomplete ?? 'off',
  };
  const text = typeof field.value === 'string' ? field.value : '';
  /** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */
  let input;
  if (field.type === 'select') {
    input = h(
      'select',
      props,
      (field.options ?? []).map(([value, name]) => h('option', { value, selected: value === text }, name)),
    );
  } else if (field.type === 'textarea') {
    input = h('textarea', { ...props, rows: field.rows, value: text });
  } else if (field.type === 'checkbox') {
    input = h('input', { ...props, type: 'checkbox', checked: field.value === true });
  } else {
    input = h('input', {
      ...props,
      type: field.type ?? 'text',
      value: text,
      spellcheck: 'false',
      pattern: field.pattern,
    });
  }
  const label = h('label', { for: id }, field.label);
  const element =
    field.type === 'checkbox'
      ? h('div', { class: 'field' }, h('div', { class: 'check' }, input, label), hint, wrong)
      : h('div', { class: 'field' }, label, input, hint, wrong);
  return {
    element,
    input,
    name: field.name,
    /** @returns {string | boolean} */
    value: () => (input instanceof HTMLInputElement && input.type === 'checkbox' ? input.checked : input.value.trim()),
    /** @returns {string | boolean} the untrimmed value, for passwords */
    exact: () => (input instanceof HTMLInputElement && input.type === 'checkbox' ? input.checked : input.value),
    /** @param {string | null} message */
    say: (message) => {
      if (message !== null) input.closest('details')?.setAttribute('open', '');
      wrong.textContent = message ?? '';
      wrong.hidden = message === null;
      if (message === null) input.removeAttribute('aria-invalid');
      else input.setAttribute('aria-invalid', 'true');
    },
  };
}

/** Returns true if spaces at the ends of an input's value count. @param {Element} input */
const isExact = (input) =>
  input instanceof HTMLTextAreaElement || (input instanceof HTMLInputElement && input.type === 'password');

/**
 * A part of a form: a field, an element without a value, or fields in a row, under a legend or folded under a summary.
 * @typedef {Field | { element: HTMLElement } | { fields: Part[], legend?: string, summary?: string, isOpen?: boolean }} Part
 */

/**
 * Creates a form. `send` receives the values by name. An error of `send` appears beside the field that it names, or
 * above the button.
 * @param {{
 *   fields: Part[], submit: string, danger?: boolean, cancel?: () => void,
 *   cancelText?: string, send: (values: Record<string, any>) => Promise<unknown>, class?: string, label?: string,
 * }} options
 */
export function form(options) {
  /** @type {ReturnType<typeof field>[]} */
  const fields = [];
  /** @param {Part} one @returns {HTMLElement} */
  const build = (one) => {
    if ('element' in one) return one.element;
    if ('fields' in one) {
      const inner = one.fields.map(build);
      if (one.legend) return h('fieldset', null, h('legend', null, one.legend), inner);
      if (!one.summary) return h('div', { class: 'pair' }, inner);
      const open = one.isOpen ? true : null;
      return h('details', { open }, h('summary', null, one.summary), h('div', { class: 'stack' }, inner));
    }
    const made = field(one);
    fields.push(made);
    return made.element;
  };
  const parts = options.fields.map(build);
  const problem = h('div', { class: 'note bad', role: 'alert', hidden: true });
  const button = h('button', { type: 'submit', class: options.danger ? 'danger' : 'primary' }, options.submit);
  const cancel = options.cancel
    ? h('button', { type: 'button', onclick: options.cancel }, options.cancelText ?? 'Cancel')
    : null;
  const onsubmit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (button.getAttribute('aria-busy') === 'true') return;
    for (const one of fields) one.say(null);
    problem.hidden = true;
    const missing = fields.find((one) => one.input.required && one.value() === '');
    if (missing) {
      missing.say('Enter a value.');
      missing.input.focus();
      return;
    }
    const values = Object.fromEntries(fields.map((one) => [one.name, isExact(one.input) ? one.exact() : one.value()]));
    await runBusy(button, async () => {
      try {
        await options.send(values);
      } catch (error) {
        const named =
          error instanceof ApiError && error.param !== null
            ? fields.find(
                (one) =>
                  one.name === error.param ||
                  error.param?.startsWith(`${one.name}.`) ||
                  error.param?.startsWith(`${one.name}[`),
              )
            : undefined;
        if (named) {
          named.say(errorSentence(error));
          named.input.focus();
        } else {
          problem.replaceChildren(problemText(error));
          problem.hidden = false;
        }
      }
    });
  };
  return h(
    'form',
    { class: `form ${options.class ?? ''}`, novalidate: true, onsubmit, 'aria-label': options.label },
    parts,
    problem,
    h('div', { class: 'ends' }, cancel, button),
  );
}

/**
 * Runs `work` while the button shows that it is busy.
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} work
 */
export async function runBusy(button, work) {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  button.setAttribute('aria-disabled', 'true');
  try {
    await work();
  } finally {
    button.removeAttribute('aria-busy');
    button.removeAttribute('aria-disabled');
  }
}

/** Returns an error's message as a sentence. @param {unknown} error */
export function errorSentence(error) {
  const text = error instanceof Error ? error.message : String(error);
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Returns an error's message with its request id. @param {unknown} error */
export function problemText(error) {
  const id = error instanceof ApiError ? error.requestId : null;
  return h(
    'div',
    null,
    h('p', null, withLocalTimes(errorSentence(error))),
    id ? h('p', { class: 'quiet' }, `Request ${id}`) : null,
  );
}

/** Creates a note that shows an error. @param {unknown} error */
export function problemNote(error) {
  return h('div', { class: 'note bad', role: 'alert' }, problemText(error));
}
