// What the tests of the package stand on: folders for temporary files of their own, scripts in place of the program,
// and which sandboxes run there.
//
// What always holds: a test that is over has left neither a process nor a file in its folder.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program of the platform's package, or what COFFER_BINARY names. */
export const BINARY = process.env.COFFER_BINARY
  || createRequire(import.meta.url).resolve('@coffer-sandbox/linux-x64/bin/coffer');

/** A folder that is gone after the test. */
export function folder(t) {
  const made = mkdtempSync(join(tmpdir(), 'coffer-npm-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A shell script to run in place of the program. */
export function script(t, text) {
  const path = join(folder(t), 'coffer');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** The processes whose environment has this folder for temporary files; those that have ended have none. */
export function processesOf(temporary) {
  return readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).filter((id) => {
    try {
      return readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(`TMPDIR=${temporary}`);
    } catch {
      return false;
    }
  });
}

/** Waits until something holds, by looking again when the event loop comes round: up to half a minute. */
export async function until(holds, what) {
  const begun = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - begun < 30_000, what);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

/** Neither a process nor a file is left. */
export async function nothingIsLeft(temporary) {
  await until(() => processesOf(temporary).length === 0, `processes: ${processesOf(temporary)}`);
  assert.deepEqual(readdirSync(temporary), []);
}
