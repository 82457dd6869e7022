// Entry point of the package, for `import` and `require`.

'use strict';

const { Client } = require('./lib/client.js');
const { ApiError, CofferError, NoAnswerError, SignatureError } = require('./lib/error.js');
const { verify } = require('./lib/verify.js');

/** @typedef {import('./lib/api').CreateInvoice} CreateInvoice */
/** @typedef {import('./lib/api').CreatedInvoice} CreatedInvoice */
/** @typedef {import('./lib/api').Deposit} Deposit */
/** @typedef {import('./lib/api').Event} Event */
/** @typedef {import('./lib/api').Invoice} Invoice */
/** @typedef {import('./lib/api').LegacyEvent} LegacyEvent */
/** @typedef {import('./lib/api').Payout} Payout */
/** @typedef {import('./lib/api').Refund} Refund */

module.exports = { ApiError, Client, CofferError, NoAnswerError, SignatureError, verify };
