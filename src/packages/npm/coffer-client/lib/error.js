// Errors of the client. No message contains the key, a secret or a body.

'use strict';

/** Base of all errors of this package, except those of wrong arguments (TypeError, RangeError). */
class CofferError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = this.constructor.name;
  }
}

/** An error response. */
class ApiError extends CofferError {
  /**
   * @param {string} call method and path
   * @param {number} status
   * @param {import('./api').AnswerHeaders} headers
   * @param {string} text body of the response
   */
  constructor(call, status, headers, text) {
    const body = fieldsOf(text);
    const { error = 'unknown', message = '', param = null, requestId = headers.get('x-request-id') } = body;
    super(`${call}: ${status} ${error}${message === '' ? '' : `: ${message}`}`);
    /** The HTTP status. */
    this.status = status;
    /** The error code, for programs: `amount_too_large`. `unknown` if there is none, as from a proxy. */
    this.code = error;
    /** The field at fault, or null: `amount`. */
    this.field = param;
    /** The request id, which is also in the service's log, or null. */
    this.requestId = requestId;
    /** Seconds to wait before another try, or null. */
    this.retryAfter = retryAfterOf(headers);
  }
}

/** There was no answer, not even to the last attempt, or it was not the service's. The request may have been done. */
class NoAnswerError extends CofferError {}

/** No signature of a webhook is valid and recent, or what is signed is not an event. */
class SignatureError extends CofferError {}

/**
 * Returns the fields of an error response that are text.
 *
 * @param {string} text
 * @returns {{error?: string, message?: string, param?: string, requestId?: string}}
 */
function fieldsOf(text) {
  try {
    const fields = Object.entries(Object(JSON.parse(text))).filter(([, value]) => typeof value === 'string');
    return Object.fromEntries(fields);
  } catch {
    // The body is a proxy's page or is truncated. The status is enough.
    return {};
  }
}

/**
 * Returns the seconds of `Retry-After`, or null without a whole number of them.
 *
 * @param {import('./api').AnswerHeaders} headers
 */
function retryAfterOf(headers) {
  const text = headers.get('retry-after') ?? '';
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

module.exports = { ApiError, CofferError, NoAnswerError, SignatureError, retryAfterOf };
