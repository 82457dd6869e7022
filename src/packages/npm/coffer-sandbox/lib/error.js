// What can go wrong: the service refused a call (CofferError), or the sandbox itself is at fault (SandboxError).

'use strict';

/** Coffer answered a call with an error. */
class CofferError extends Error {
  /**
   * @param {string} call method and path
   * @param {number} status
   * @param {Record<string, string | string[] | undefined>} headers
   * @param {string} text the answer's body
   */
  constructor(call, status, headers, text) {
    /** @type {{error?: string, message?: string, param?: string, requestId?: string}} */
    let body = {};
    try {
      body = Object(JSON.parse(text));
    } catch {
      // A proxy's page, or a body that was cut: the status says enough.
    }
    super(`${call}: ${status} ${body.error ?? ''}: ${body.message ?? text.slice(0, 200)}`);
    this.name = 'CofferError';
    /** The HTTP status. */
    this.status = status;
    /** What is wrong, for programs: `amount_too_large`; `unknown` where the body does not say. */
    this.code = body.error ?? 'unknown';
    /** The field at fault, where it is one: `amount`. */
    this.field = body.param ?? null;
    /** What is wrong, for people, in the service's words. */
    this.reason = body.message ?? '';
    /** The id that the sandbox's log has for this call. */
    this.requestId = body.requestId ?? null;
    /** The answer's headers, with lower-case names: `retry-after`. */
    this.headers = headers;
  }
}

/** The sandbox could not be started, or ended before it was asked to. The message has the end of its log. */
class SandboxError extends Error {
  /**
   * @param {string} message
   * @param {string} [log] what the sandbox wrote to standard error
   * @param {ErrorOptions} [options]
   */
  constructor(message, log = '', options) {
    const end = log.trimEnd().split('\n').slice(-20).join('\n');
    super(end === '' ? message : `${message}\nThe end of its log:\n${end}`, options);
    this.name = 'SandboxError';
    /** What the sandbox wrote to standard error; of a long one the end. */
    this.log = log;
  }
}

module.exports = { CofferError, SandboxError };
