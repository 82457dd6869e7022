// Tests of the output of failing tests: it has the log of their sandboxes since they began, and no other.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startCoffer } from 'coffer-sandbox';
import { folder, nothingIsLeft } from './places.mjs';

const FAILING = fileURLToPath(new URL('failing', import.meta.url));

/** Runs failing tests and returns their output. */
function output(t, ...args) {
  const TMPDIR = folder(t);
  const { NODE_TEST_CONTEXT, ...env } = { ...process.env, TMPDIR, NO_COLOR: '1' };
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', env, cwd: process.cwd() });
  assert.equal(run.status, 1, run.stdout + run.stderr);
  return { said: run.stdout + run.stderr, TMPDIR };
}

/** Asserts which requests are shown. */
function shows(said, shown) {
  const paths = ['merchant', 'balances', 'currencies', 'ledger', 'payouts'];
  assert.deepEqual(paths.filter((path) => said.includes(`GET /v1/${path} 200`)), shown, said);
}

// An older node does not say whether a test has passed.
const [major, minor] = process.versions.node.split('.').map(Number);
const isOld = major < 20 || (major === 20 && minor < 12);

for (const [reporter, mark] of [['spec', 'ℹ'], ['tap', '#']]) {
  test(`a failing test of node:test shows the log line by line: ${reporter}`, { skip: isOld }, async (t) => {
    const { said, TMPDIR } = output(t, '--test', `--test-reporter=${reporter}`, join(FAILING, 'node.mjs'));
    shows(said, ['balances', 'payouts']);
    const lines = said.split('\n').map((line) => line.trim());
    const heads = lines.flatMap((line, index) => (line === `${mark} log of the sandbox:` ? [index] : []));
    assert.equal(heads.length, 2, said);
    for (const head of heads) assert.ok(lines[head + 1].startsWith(`${mark} [2`), said);
    await nothingIsLeft(TMPDIR);
  });
}

test('a failing test of vitest shows the log', async (t) => {
  const manifest = createRequire(join(process.cwd(), 'unused.js')).resolve('vitest/package.json');
  const { said, TMPDIR } = output(t, join(dirname(manifest), 'vitest.mjs'), 'run', '--dir', FAILING);
  shows(said, ['balances', 'currencies', 'payouts']);
  assert.equal(said.match(/log of the sandbox:/g).length, 3);
  assert.deepEqual(readdirSync(TMPDIR).filter((name) => name.startsWith('coffer')), []);
});

test('what is no context of a test is refused', async () => {
  for (const test of [{}, null, 'a test', { after() {} }]) {
    await assert.rejects(startCoffer({ test }), { name: 'TypeError', message: /^test must be the context/ });
  }
});
