// Requests to the running sandbox: fills in the path, sends the key, parses the JSON and throws errors.

'use strict';

const { CofferError, SandboxError } = require('./error.js');
const { call } = require('./http.js');
const { within } = require('./timers.js');

/** @typedef {import('./process').Process} Process */
/** @typedef {import('./api').CallOptions} CallOptions */
/**
 * @typedef {CallOptions & {params?: Record<string, unknown>, query?: Record<string, unknown>, body?: unknown}} Options
 */

/**
 * Fills in the `{…}` of a path.
 *
 * @param {string} path
 * @param {Record<string, unknown>} params
 */
function filled(path, params) {
  return path.replace(/\{([A-Za-z]+)\}/g, (_, name) => {
    const value = params[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`params.${name} must be a text: ${path} has it`);
    }
    return encodeURIComponent(value);
  });
}

/** @param {string | {id: string}} object @returns {string} */
function idOf(object) {
  const id = typeof object === 'string' ? object : object?.id;
  if (typeof id !== 'string' || id === '') throw new TypeError('an object with an id is needed, or its id');
  return id;
}

class Client {
  #process;
  #ready;
  #base;

  /** @param {Process} process @param {import('./api').Ready} ready */
  constructor(process, ready) {
    this.#process = process;
    this.#ready = ready;
    this.#base = `http://${ready.listen}`;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Options} [options]
   * @returns {Promise<any>}
   */
  async request(method, path, options = {}) {
    const { params = {}, query = {}, body, mode = 'test', timeoutMs = 60_000 } = options;
    const url = new URL(this.#base + filled(path, params));
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const { secretLive, secretTest } = this.#ready.keys;
    const ofMode = path.startsWith('/sandbox') ? null : { test: secretTest, live: secretLive }[mode];
    if (ofMode === undefined) throw new TypeError(`mode must be "test" or "live", not ${JSON.stringify(mode)}`);
    const key = options.key === undefined ? ofMode : options.key;
    const { status, headers, text } = await this.#send(method, url, {
      headers: {
        ...(key === null ? {} : { 'X-API-Key': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs,
    });
    if (status < 200 || status > 299) throw new CofferError(`${method} ${path}`, status, headers, text);
    if (text === '') return null;
    return headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text;
  }

  /**
   * @param {string} method
   * @param {URL} url
   * @param {{headers: Record<string, string>, body?: string, timeoutMs: number}} options
   */
  async #send(method, url, options) {
    try {
      return await call(method, url, options);
    } catch (cause) {
      // The sandbox's own exit may have closed the connection. That exit is reported a moment later.
      await within(this.#process.ended, 200, () => new Error()).catch(() => {});
      const { end, log } = this.#process;
      const why = end === undefined ? /** @type {Error} */ (cause).message : `the sandbox has ended (${end})`;
      const message = `${method} ${url.pathname}: no answer: ${why}`;
      throw end === undefined ? new Error(message, { cause }) : new SandboxError(message, log, { cause });
    }
  }
}

module.exports = { Client, idOf };
