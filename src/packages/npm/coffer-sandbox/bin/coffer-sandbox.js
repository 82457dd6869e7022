#!/usr/bin/env node
// `npx --no coffer-sandbox`: runs `coffer sandbox` with the same arguments, passes signals on, and exits with its
// status.

'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const EXIT_WITH_PARENT = '--exit-with-parent';
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** @param {string} message */
function fail(message) {
  process.stderr.write(`coffer-sandbox: ${message}\n`);
  process.exitCode = 1;
}

/** @param {string} binary @param {string[]} args */
function run(binary, args) {
  const version = args.length === 1 && ['--version', '-V'].includes(args[0]);
  // A caller that sets the option uses standard input itself. Otherwise a pipe tells the sandbox when this process has
  // ended.
  const asked = args.includes(EXIT_WITH_PARENT) || process.env.COFFER_EXIT_WITH_PARENT !== undefined;
  const child = spawn(binary, version ? args : ['sandbox', ...(asked ? [] : [EXIT_WITH_PARENT]), ...args], {
    stdio: [asked ? 'inherit' : 'pipe', 'inherit', 'inherit'],
    // The sandbox has its own session. Ctrl-C and hang-up of the terminal reach it only from this process, and only
    // once.
    detached: true,
  });
  child.stdin?.on('error', () => {});
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM'));
  child.on('error', ({ message }) => fail(`${binary} could not be started: ${message}`));
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code ?? 1 : 128 + constants.signals[signal];
  });
}

try {
  // Fails if the client is missing.
  const { findBinary } = require('../lib/binary.js');
  run(findBinary(), process.argv.slice(2));
} catch (error) {
  fail(/** @type {Error} */ (error).message);
}
