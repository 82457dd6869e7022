// Helpers for tests that a sandbox cannot run: a production server, a private chain, and days that pass.
//
// The server is the real program on a new file. A day passes while it is stopped: its next start uses a wall clock that
// is ahead (`served/clock.c`).

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Environment variables that the tested program needs. */
const { PATH, COFFER_BINARY = 'coffer' } = process.env;

/** Path of the node program: in COFFER_NODE_MODULES, otherwise found in PATH. */
export const ANVIL = (() => {
  const modules = resolve(process.env.COFFER_NODE_MODULES ?? 'node_modules');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const own = join(modules, `@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
  return existsSync(own) ? own : 'anvil';
})();

/** Creates a folder that is removed after the test. */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-browser-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a reason to skip the test if a program is missing, otherwise `false`. Throws if COFFER_NEED_TOOLS is set. */
export function missing(...programs) {
  const gone = programs.find((program) => {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  if (!gone) return false;
  assert.ok(!process.env.COFFER_NEED_TOOLS, `${gone} is not on this machine and is needed`);
  return `${gone} is not on this machine`;
}

/** Starts a program. `line(found)` returns the first group of the first output line that matches. */
function started(t, program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  const ended = new Promise((resolve) => { child.once('close', resolve); });
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said = [];
  const waiting = new Set();
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => {
      said.push(line);
      for (const look of waiting) look();
    });
  }
  const line = (pattern) => new Promise((resolve, reject) => {
    const look = () => {
      const found = said.map((one) => pattern.exec(one)).find(Boolean);
      if (!found) return;
      waiting.delete(look);
      resolve(found[1]);
    };
    waiting.add(look);
    ended.then(() => reject(new Error(`${program} has ended:\n${said.join('\n')}`)));
    look();
  });
  /** Stops the program and returns its exit code. */
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { line, stop };
}

/**
 * Starts `coffer serve` on this file. `ahead` is the number of seconds by which its wall clock, loaded from `library`,
 * is ahead.
 */
export async function serve(t, file, settings, { ahead, library } = {}) {
  const env = ahead ? { PATH, LD_PRELOAD: library, COFFER_CLOCK_AHEAD: String(ahead) } : { PATH };
  const args = ['serve', '--listen', '127.0.0.1:0', '--log', 'off', '--exit-with-parent', '--file', file, ...settings];
  const coffer = started(t, COFFER_BINARY, args, { env });
  const url = await coffer.line(/^coffer ready url=(\S+)/);
  return { ...coffer, url, setUpLink: () => coffer.line(/^make the first operator within the hour: (\S+)$/) };
}

/** Returns the output of a command of the program. */
export function coffer(...args) {
  return execFileSync(COFFER_BINARY, args, { env: { PATH }, encoding: 'utf8' });
}

/** Compiles the library with the changed wall clock into this folder. */
export function clockIn(folder) {
  const source = fileURLToPath(new URL('served/clock.c', import.meta.url));
  const library = join(folder, 'clock.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source]);
  return library;
}

/** Chain id of a network whose coins have no value. */
const NETWORK = 11155111;

/** Starts a private chain, where a block is final once eight newer blocks exist. */
export async function startChain(t) {
  const node = started(t, ANVIL, ['--host', '127.0.0.1', '--port', '0', '--slots-in-an-epoch', '4',
    '--chain-id', String(NETWORK)]);
  const url = `http://${await node.line(/^Listening on (\S+)$/)}`;
  const ask = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { result, error } = await answer.json();
    assert.equal(error, undefined, method);
    return result;
  };
  const [wallet, ...others] = await ask('eth_accounts');
  /** Pays a payment URI as a wallet does. Returns the transaction id when it is in a block. */
  const send = async (link) => {
    const asked = /^ethereum:(0x[0-9a-fA-F]{40})@(\d+)\?value=(\d+)$/.exec(link);
    const [, to, network, value] = asked ?? assert.fail(link);
    assert.equal(Number(network), NETWORK);
    const paid = { from: wallet, to, value: `0x${BigInt(value).toString(16)}` };
    const txid = await ask('eth_sendTransaction', paid);
    // The node may respond before a block contains the transaction, so one more block is mined.
    await ask('anvil_mine');
    return { txid, to, value: BigInt(value) };
  };
  /** Makes all existing blocks final. */
  const settle = () => ask('anvil_mine', '0x20');
  return {
    url, wallet, others,
    /** Returns the balance of an address, in wei. */
    balance: async (address) => BigInt(await ask('eth_getBalance', address, 'latest')),
    send,
    settle,
    /** Pays a payment URI and makes the payment final. Returns the transaction id. */
    pay: async (link) => {
      const paid = await send(link);
      await settle();
      return paid;
    },
    /** Lets this many seconds pass between two blocks. */
    pass: async (seconds) => {
      await ask('evm_increaseTime', seconds);
      await ask('anvil_mine', '0x20');
    },
  };
}
