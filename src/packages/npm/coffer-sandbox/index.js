// Entry point of the package, for `import` and `require`.

'use strict';

const { Coffer, startCoffer } = require('./lib/coffer.js');
const { CofferError, SandboxError } = require('./lib/error.js');
const { verifySignature } = require('./lib/signature.js');

module.exports = { Coffer, CofferError, SandboxError, startCoffer, verifySignature };
