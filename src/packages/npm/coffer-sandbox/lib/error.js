// The error of a sandbox that failed itself. Those of its calls are the client's.

'use strict';

const { CofferError } = require('./client.js');

/**
 * The sandbox could not start, ended unexpectedly, did not get a webhook, or could not deliver some. The message has the
 * end of its log, if it has one.
 */
class SandboxError extends CofferError {
  /**
   * @param {string} message
   * @param {string} [log] text that the sandbox wrote to standard error
   * @param {ErrorOptions} [options]
   */
  constructor(message, log = '', options) {
    const end = log.trimEnd().split('\n').slice(-20).join('\n');
    super(end === '' ? message : `${message}\nThe end of its log:\n${end}`, options);
    /** Text that the sandbox wrote to standard error, or its end if it is long. */
    this.log = log;
  }
}

module.exports = { SandboxError };
