// Tests of the process: errors at start and during the run, and complete removal.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SandboxError, startCoffer } from 'coffer-sandbox';
import { BINARY, folder, nothingIsLeft, processesOf, script, until } from './places.mjs';

const ORDER = { amount: '20.00', currency: 'EUR' };
const PACKAGE = JSON.stringify(createRequire(import.meta.url).resolve('coffer-sandbox'));

test('nothing is left of one that was stopped, twice, or disposed of', async (t) => {
  const TMPDIR = folder(t);
  const coffer = await startCoffer({ env: { TMPDIR } });
  await coffer.createInvoice(ORDER);
  assert.equal(processesOf(TMPDIR).length, 1);
  await Promise.all([coffer.stop(), coffer.stop()]);
  await coffer.stop();
  await nothingIsLeft(TMPDIR);
  await (await startCoffer({ env: { TMPDIR } }))[Symbol.asyncDispose]();
  await nothingIsLeft(TMPDIR);
});

test('a file that was asked for stays, and is gone on with', async (t) => {
  const file = join(folder(t), 'shop.db');
  const first = await startCoffer({ args: ['--file', file] });
  const { id } = await first.createInvoice(ORDER);
  await first.stop();
  const second = await startCoffer({ args: [`--file=${file}`] });
  assert.equal((await second.getInvoice(id)).id, id);
  await second.stop();
});

test('a crash says so, in what is called then and at the end, and nothing is left', async (t) => {
  const TMPDIR = folder(t);
  const coffer = await startCoffer({ env: { TMPDIR } });
  await coffer.createInvoice(ORDER);
  // The snapshot is beside the sandbox's file.
  await coffer.snapshot('before');
  await coffer.faults.delay('POST /v1/invoices', 60_000);
  const told = assert.rejects(coffer.createInvoice(ORDER), (error) => error instanceof SandboxError
    && /POST \/v1\/invoices: no answer: the sandbox has ended \(SIGKILL\)/.test(error.message));
  await coffer.state();
  process.kill(coffer.pid, 'SIGKILL');
  await told;
  await assert.rejects(coffer.state(), /the sandbox has ended \(SIGKILL\)/);
  await assert.rejects(coffer.stop(), /The sandbox ended by itself \(SIGKILL\)/);
  await nothingIsLeft(TMPDIR);
});

test('one that does not start says why, with its log', async (t) => {
  const refused = startCoffer({ args: ['--connections-max', '1'] });
  await assert.rejects(refused, /did not get ready: exit code 1\.\nThe end of its log:\n.*from 16 to/);
  const file = join(folder(t), 'file');
  writeFileSync(file, '');
  // The temporary directory is missing or not writable.
  await assert.rejects(startCoffer({ env: { TMPDIR: file } }), (error) => error instanceof SandboxError
    && error.message.includes(file) && error.log !== '');
  await assert.rejects(startCoffer({ binary: '/dev/null/coffer' }), /The option `binary` names \/dev\/null\/coffer/);
  await assert.rejects(startCoffer({ binary: 'no-such-coffer' }), /it could not be started: spawn no-such-coffer ENOENT/);
  const plain = join(folder(t), 'coffer');
  writeFileSync(plain, 'no program');
  await assert.rejects(startCoffer({ binary: plain }), /it could not be started: spawn .* EACCES/);
  // The file's machine type is changed. Node would pass a file that the system cannot run to the shell.
  const head = readFileSync(BINARY).subarray(0, 64);
  head.writeUInt16LE(243, 18);
  const other = script(t, '');
  writeFileSync(other, head);
  await assert.rejects(startCoffer({ binary: other }), /is a program for another kind of machine than this, which is x64/);
  const lacking = script(t, '');
  writeFileSync(lacking, '#!/no/such/loader\n');
  await assert.rejects(startCoffer({ binary: lacking }), /it needs glibc/);
});

test('a slow start says so, with what it has logged, and is ended', async (t) => {
  const TMPDIR = folder(t);
  const slow = script(t, 'echo "waiting for a lock" >&2; exec sleep 600');
  const started = startCoffer({ binary: slow, timeout: 0.3, env: { TMPDIR } });
  // The process ignores the end of its standard input, so it is killed after the time limit.
  await assert.rejects(started, /was not ready after 0\.3 s\.\nThe end of its log:\nwaiting for a lock/);
  await nothingIsLeft(TMPDIR);
});

test('nothing is left of one that had to be killed before it was ready', async (t) => {
  const TMPDIR = folder(t);
  // The process runs with its file, but reports no readiness and ignores its standard input.
  const stuck = script(t, `exec "${BINARY}" sandbox --listen 127.0.0.1:0`);
  await assert.rejects(startCoffer({ binary: stuck, timeout: 2, env: { TMPDIR } }), /was not ready after 2 s/);
  await nothingIsLeft(TMPDIR);
});

test('what else is written to standard output does no harm', async (t) => {
  const noisy = script(t, `echo 'not JSON'; echo '{"url": "no"}'; echo null; "${BINARY}" "$@"; echo bye; exit 0`);
  const seen = [];
  const coffer = await startCoffer({ binary: noisy, onLog: (line) => seen.push(line) });
  assert.equal((await coffer.createInvoice(ORDER)).status, 'created');
  await coffer.stop();
  assert.deepEqual(seen.slice(0, 3), ['not JSON', '{"url": "no"}', 'null']);
  assert.match(coffer.log, /bye/);
});

test('variables of another Coffer are not its own', async () => {
  process.env.COFFER_PUBLIC_URL = 'https://pay.example.com';
  process.env.COFFER_LISTEN = '127.0.0.1:1';
  try {
    const coffer = await startCoffer();
    assert.match(coffer.url, /^http:\/\/127\.0\.0\.1:/);
    await coffer.stop();
    const asked = await startCoffer({ args: ['--public-url', 'https://pay.example.com'] });
    assert.equal(asked.url, 'https://pay.example.com');
    assert.equal((await asked.createInvoice(ORDER)).status, 'created');
    await asked.stop();
  } finally {
    delete process.env.COFFER_PUBLIC_URL;
    delete process.env.COFFER_LISTEN;
  }
});

/** Runs a script that starts sandboxes and reports when they are ready. Returns the process. */
async function child(t, TMPDIR, text) {
  const source = `const { startCoffer } = require(${PACKAGE}); (async () => { ${text} })();`;
  const started = spawn(process.execPath, ['-e', source], {
    env: { ...process.env, TMPDIR, COFFER_BINARY: BINARY }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => started.kill('SIGKILL'));
  return started;
}

test('nothing is left of a process that was killed, or that forgot its sandboxes', async (t) => {
  const TMPDIR = folder(t);
  const killed = await child(t, TMPDIR, `
    await Promise.all([startCoffer(), startCoffer(), startCoffer()]);
    console.log('ready'); setInterval(() => {}, 1000);`);
  await once(createInterface({ input: killed.stdout }), 'line');
  assert.equal(processesOf(TMPDIR).length, 4);
  killed.kill('SIGKILL');
  await nothingIsLeft(TMPDIR);
  // A receiver also does not keep the process running.
  const forgetful = await child(t, TMPDIR, 'const coffer = await startCoffer(); await coffer.receiver();');
  const [code] = await once(forgetful, 'exit');
  assert.equal(code, 0);
  await nothingIsLeft(TMPDIR);
});

test('one of a worker thread ends with the thread', async (t) => {
  const TMPDIR = folder(t);
  const worker = new Worker(`
    const { parentPort } = require('node:worker_threads');
    const { startCoffer } = require(${PACKAGE});
    startCoffer({ env: { TMPDIR: ${JSON.stringify(TMPDIR)} } }).then(async (coffer) => {
      parentPort.postMessage((await coffer.createInvoice({ amount: '20.00', currency: 'EUR' })).status);
      setInterval(() => {}, 1000);
    });`, { eval: true });
  assert.deepEqual(await once(worker, 'message'), ['created']);
  await until(() => processesOf(TMPDIR).length === 1, 'it runs');
  await worker.terminate();
  await nothingIsLeft(TMPDIR);
});
