// Helpers of the tests: temporary directories, scripts that replace the program, and the list of running sandboxes.
//
// Invariant: a finished test leaves no process, and no file in its directory.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program of the platform's package, or the value of COFFER_BINARY. */
export const BINARY = process.env.COFFER_BINARY
  || createRequire(import.meta.url).resolve('@coffer-sandbox/linux-x64/bin/coffer');

/** Creates a directory that is removed after the test. */
export function folder(t) {
  const made = mkdtempSync(join(tmpdir(), 'coffer-npm-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Writes a shell script that replaces the program. */
export function script(t, text) {
  const path = join(folder(t), 'coffer');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/**
 * Returns the processes that use this temporary directory in their environment. Ended processes have no environment.
 */
export function processesOf(temporary) {
  return readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).filter((id) => {
    try {
      return readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(`TMPDIR=${temporary}`);
    } catch {
      return false;
    }
  });
}

/** Waits up to half a minute until a condition holds. */
export async function until(holds, what) {
  const begun = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - begun < 30_000, what);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

/** Asserts that no process and no file is left. */
export async function nothingIsLeft(temporary) {
  await until(() => processesOf(temporary).length === 0, `processes: ${processesOf(temporary)}`);
  assert.deepEqual(readdirSync(temporary), []);
}
