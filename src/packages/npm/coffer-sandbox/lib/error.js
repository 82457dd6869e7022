// Errors: the service refused a request (CofferError), or the sandbox itself failed (SandboxError).

'use strict';

/** An error response from Coffer. */
class CofferError extends Error {
  /**
   * @param {string} call method and path
   * @param {number} status
   * @param {Record<string, string | string[] | undefined>} headers
   * @param {string} text body of the response
   */
  constructor(call, status, headers, text) {
    /** @type {{error?: string, message?: string, param?: string, requestId?: string}} */
    let body = {};
    try {
      body = Object(JSON.parse(text));
    } catch {
      // The body is a proxy's page or is truncated. The status is enough.
    }
    super(`${call}: ${status} ${body.error ?? ''}: ${body.message ?? text.slice(0, 200)}`);
    this.name = 'CofferError';
    /** The HTTP status. */
    this.status = status;
    /** The error code, for programs: `amount_too_large`. `unknown` if the body has none. */
    this.code = body.error ?? 'unknown';
    /** The field at fault, if there is one: `amount`. */
    this.field = body.param ?? null;
    /** The service's message, for people. */
    this.reason = body.message ?? '';
    /** The request id, which is also in the sandbox's log. */
    this.requestId = body.requestId ?? null;
    /** The headers of the response, with lower-case names: `retry-after`. */
    this.headers = headers;
  }
}

/** The sandbox could not start, or ended unexpectedly. The message contains the end of its log. */
class SandboxError extends Error {
  /**
   * @param {string} message
   * @param {string} [log] text that the sandbox wrote to standard error
   * @param {ErrorOptions} [options]
   */
  constructor(message, log = '', options) {
    const end = log.trimEnd().split('\n').slice(-20).join('\n');
    super(end === '' ? message : `${message}\nThe end of its log:\n${end}`, options);
    this.name = 'SandboxError';
    /** Text that the sandbox wrote to standard error, or its end if it is long. */
    this.log = log;
  }
}

module.exports = { CofferError, SandboxError };
