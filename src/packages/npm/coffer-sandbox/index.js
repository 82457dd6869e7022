// Entry point of the package, for `import` and `require`.

'use strict';

const client = require('./lib/client.js');
const { SandboxError } = require('./lib/error.js');
const { Sandbox, startCoffer } = require('./lib/sandbox.js');

const { ApiError, Client, CofferError, NoAnswerError, SignatureError, verify } = client;

module.exports = {
  ApiError, Client, CofferError, NoAnswerError, Sandbox, SandboxError, SignatureError, startCoffer, verify,
};
