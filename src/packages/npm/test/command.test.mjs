// Tests of `npx --no coffer-sandbox`, and of a missing or unusable program.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { BINARY, folder, nothingIsLeft, processesOf } from './places.mjs';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('coffer-sandbox/package.json'));
const COMMAND = join(PACKAGE, 'bin/coffer-sandbox.js');
const ENV = { ...process.env, COFFER_BINARY: BINARY };

function run(args, options = {}) {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8', env: ENV, ...options });
}

/** Starts the command and returns it when it is ready. */
async function ready(t, TMPDIR, args = [], stdin = 'ignore') {
  const command = spawn(process.execPath, [COMMAND, '--listen', '127.0.0.1:0', '--json', ...args], {
    env: { ...ENV, TMPDIR }, stdio: [stdin, 'pipe', 'ignore'],
  });
  t.after(() => command.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: command.stdout }), 'line');
  assert.equal((await fetch(`${JSON.parse(line).url}/livez`)).status, 200);
  return command;
}

test('it is `coffer sandbox`, with its arguments and its exit code', () => {
  const help = run(['--help']);
  assert.deepEqual([help.status, /Usage: coffer sandbox/.test(help.stdout)], [0, true]);
  assert.match(run(['--version']).stdout, /^coffer [0-9]+\.[0-9]+\.[0-9]+/);
  const wrong = run(['--no-such-flag']);
  assert.deepEqual([wrong.status, /--no-such-flag/.test(wrong.stderr)], [2, true]);
});

test('the command of the README runs a sandbox', async (t) => {
  const TMPDIR = folder(t);
  const [, found] = /`(npx [^`]*coffer-sandbox[^`]*)`/.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8'));
  // Only its port is another, as it may be in use.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  const command = spawn('sh', ['-c', found.replace('8080', port)], {
    env: { ...ENV, TMPDIR }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
  });
  const ended = once(command, 'close');
  let said = '';
  const listens = new Promise((resolve) => {
    for (const stream of [command.stdout, command.stderr]) {
      stream.on('data', (text) => {
        said += text;
        if (said.includes(`listen=127.0.0.1:${port} `)) resolve();
      });
    }
  });
  await Promise.race([listens, ended]);
  assert.match(said, /^coffer ready url=/m, `${found}: ${said}`);
  process.kill(-command.pid, 'SIGTERM');
  await ended;
  await nothingIsLeft(TMPDIR);
});

test('each signal ends it, once or twice, and nothing is left', async (t) => {
  const TMPDIR = folder(t);
  for (const [signal, times] of [['SIGINT', 1], ['SIGINT', 2], ['SIGTERM', 1], ['SIGTERM', 2], ['SIGHUP', 1]]) {
    const command = await ready(t, TMPDIR);
    assert.equal(processesOf(TMPDIR).length, 2);
    // Ctrl-C arrives twice: from the terminal and from npx.
    const exit = once(command, 'exit');
    for (let time = 0; time < times; time += 1) command.kill(signal);
    const ended = await exit;
    // The second signal may arrive at the very end, when the handler is gone.
    if (times === 1 || ended[1] !== signal) assert.deepEqual(ended, [0, null], signal);
    await nothingIsLeft(TMPDIR);
  }
});

test('nothing is left of it when it is killed, or when its standard input closes where that is asked for', async (t) => {
  const TMPDIR = folder(t);
  const killed = await ready(t, TMPDIR);
  killed.kill('SIGKILL');
  await nothingIsLeft(TMPDIR);
  const command = await ready(t, TMPDIR, ['--exit-with-parent'], 'pipe');
  command.stdin.end();
  assert.deepEqual(await once(command, 'exit'), [0, null]);
  await nothingIsLeft(TMPDIR);
});

test('a sandbox that crashes is told by the exit code', async (t) => {
  const TMPDIR = folder(t);
  const command = await ready(t, TMPDIR);
  const [sandbox] = processesOf(TMPDIR).filter((id) => Number(id) !== command.pid);
  process.kill(Number(sandbox), 'SIGKILL');
  assert.deepEqual(await once(command, 'exit'), [128 + 9, null]);
});

test('a platform without its package is told what to do', (t) => {
  const alone = join(folder(t), 'node_modules');
  mkdirSync(alone);
  for (const name of ['coffer-client', 'coffer-sandbox']) {
    cpSync(join(PACKAGE, '..', name), join(alone, name), { recursive: true });
  }
  const said = (prelude, env = {}) => {
    const source = `${prelude}; require('${alone}/coffer-sandbox').startCoffer().catch((e) => console.log(e.message));`;
    const { stdout } = spawnSync(process.execPath, ['-e', source], {
      encoding: 'utf8', env: { ...process.env, COFFER_BINARY: '', PATH: alone, ...env }, cwd: alone,
    });
    return stdout;
  };
  const on = (platform, arch) => (
    `Object.defineProperties(process, { platform: { value: '${platform}' }, arch: { value: '${arch}' } })`);
  assert.match(said(''), /^The package @coffer-sandbox\/linux-x64, .* is not installed/);
  const both = '\\./coffer-client-[0-9A-Z.]+\\.tgz \\./coffer-sandbox-[0-9A-Z.]+\\.tgz';
  assert.match(said(''), new RegExp(`: npm install --save-dev ${both} && npm install --save-optional \\./coffer`));
  assert.match(said(on('darwin', 'arm64')), /^coffer-sandbox has no program for darwin-arm64 .*COFFER_BINARY/);
  assert.match(said(on('linux', 'riscv64')), /^coffer-sandbox has no program for linux-riscv64 /);
  assert.match(said(on('linux', 'arm64')), /^The package @coffer-sandbox\/linux-arm64, .* is not installed/);
  const musl = 'process.report.getReport = () => ({ header: {} })';
  assert.match(said(musl), /^coffer-sandbox has no program for linux-x64 with musl/);
  assert.match(said('', { COFFER_BINARY: '/no/coffer' }), /^COFFER_BINARY names \/no\/coffer, which is not a file/);
  // A program built from source, found in PATH.
  const started = "process.once('exit', () => console.log(process.exitCode ?? 0))";
  assert.equal(said(`process.env.PATH = ${JSON.stringify(dirname(BINARY))}; ${started}`), '0\n');
  const command = spawnSync(process.execPath, [join(alone, 'coffer-sandbox/bin/coffer-sandbox.js')], {
    encoding: 'utf8', env: { ...process.env, COFFER_BINARY: '', PATH: alone }, cwd: alone,
  });
  assert.deepEqual([command.status, /^coffer-sandbox: The package /.test(command.stderr)], [1, true]);
  // A file that cannot be run is skipped in PATH.
  writeFileSync(join(alone, 'coffer'), 'no program', { mode: 0o644 });
  assert.equal(said(`process.env.PATH = ${JSON.stringify(`${alone}:${dirname(BINARY)}`)}; ${started}`), '0\n');
  // Both packages must be of the same release.
  const platform = join(alone, '@coffer-sandbox/linux-x64');
  mkdirSync(join(platform, 'bin'), { recursive: true });
  cpSync(BINARY, join(platform, 'bin/coffer'));
  const own = JSON.parse(readFileSync(join(PACKAGE, 'package.json')));
  const write = (folder, told) => writeFileSync(join(folder, 'package.json'), JSON.stringify(told));
  write(join(alone, 'coffer-sandbox'), { ...own, version: '0.0.2' });
  write(join(alone, 'coffer-client'), { main: 'index.js', version: '0.0.2' });
  write(platform, { version: '0.0.1' });
  assert.match(said(''), /^The package .* is of version 0\.0\.1, and coffer-sandbox of 0\.0\.2\. Install the files/);
  write(platform, { version: '0.0.2' });
  assert.equal(said(started), '0\n');
  // The project's packages are found even if they are not beside this package.
  const store = folder(t);
  renameSync(join(alone, 'coffer-sandbox'), join(store, 'coffer-sandbox'));
  symlinkSync(join(store, 'coffer-sandbox'), join(alone, 'coffer-sandbox'));
  assert.equal(said(started), '0\n');
  // The client is told to be missing, or to be of another release.
  write(join(alone, 'coffer-client'), { main: 'index.js', version: '0.0.1' });
  const load = ['-e', `require('${alone}/coffer-sandbox')`];
  const failed = () => spawnSync(process.execPath, load, { encoding: 'utf8', cwd: alone }).stderr;
  assert.match(failed(), /coffer-client is of version 0\.0\.1, and coffer-sandbox of 0\.0\.2\. Install both files/);
  renameSync(join(alone, 'coffer-client'), join(alone, 'elsewhere'));
  assert.match(failed(), new RegExp(`The package coffer-client is not installed .*: npm install --save-dev ${both}`));
});
