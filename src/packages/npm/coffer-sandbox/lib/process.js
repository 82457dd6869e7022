// The sandbox's process: its start, log and end.
//
// Invariant: the sandbox's standard input is a pipe that only this process holds, and the sandbox ends when the pipe
// closes. It therefore ends with this process in every case, and keeps no idle event loop running.

'use strict';

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { readdirSync, readlinkSync, rmSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { findBinary } = require('./binary.js');
const { SandboxError } = require('./error.js');
const { within } = require('./timers.js');

/** Characters of the log to keep. Of a longer log the end is kept. */
const LOG_CHARACTERS_MAX = 256 * 1024;
/** Time limit for the end of a sandbox, in milliseconds. One that did not become ready has less time. */
const END_MS_MAX = 10_000;
const FAILED_END_MS_MAX = 1000;

/** File name of a sandbox. The names of files beside it, such as snapshots, have the same start. */
const FILE = /^coffer-sandbox-[0-9a-f]{16}\.db$/;

/** @typedef {import('./api').StartOptions} StartOptions */
/** @typedef {import('./api').Ready} Ready */

/**
 * Returns the arguments, with the defaults that the caller did not set.
 *
 * @param {string[]} asked
 * @param {string} level
 */
function argumentsOf(asked, level) {
  const has = (/** @type {string} */ flag) => asked.some((each) => each === flag || each.startsWith(`${flag}=`));
  return [
    'sandbox',
    ...(has('--listen') ? [] : ['--listen', '127.0.0.1:0']),
    ...(has('--log') ? [] : ['--log', level]),
    ...['--json', '--exit-with-parent'].filter((flag) => !has(flag)),
    ...asked,
  ];
}

/**
 * Returns the environment, without the variables of another Coffer.
 *
 * @param {Record<string, string | undefined>} asked
 */
function environmentOf(asked) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('COFFER_'));
  return { ...Object.fromEntries(own), ...asked };
}

/** @param {string} line @returns {Ready | undefined} */
function readyOf(line) {
  try {
    const ready = JSON.parse(line);
    return typeof ready?.listen === 'string' && ready.keys ? ready : undefined;
  } catch {
    return undefined;
  }
}

class Process {
  #child;
  #log = '';
  #written = 0;
  #keepsFile;
  /** @type {Promise<void> | undefined} */
  #stopped;
  /** @type {string | undefined} how it ended */
  #end;

  /** @param {StartOptions} options */
  constructor({ binary, args = [], env = {}, log = 'info', onLog = () => {} }) {
    this.#keepsFile = args.some((each) => each === '--file' || each.startsWith('--file='));
    this.program = findBinary(binary);
    this.#child = spawn(this.program, argumentsOf(args, log), { stdio: 'pipe', env: environmentOf(env) });
    const { stderr, stdin, stdout } = this.#child;
    // The pipe closed before it was read. The exit is reported elsewhere.
    stdin.on('error', () => {});
    /** @type {Promise<Ready>} resolves with the ready line; other lines are added to the log. */
    this.ready = new Promise((resolve) => {
      lines(stdout, (line) => {
        const ready = readyOf(line);
        if (ready) resolve(ready);
        else this.#keep(line, onLog);
      });
    });
    lines(stderr, (line) => this.#keep(line, onLog));
    /** Resolves when the process has ended. */
    this.ended = this.#awaitEnd();
  }

  get pid() {
    return this.#child.pid;
  }

  /** The text that it wrote to standard error. */
  get log() {
    return this.#log;
  }

  /** The number of characters that it has logged. */
  get written() {
    return this.#written;
  }

  /** Returns what it has logged since `written` had a value, or the end of it. @param {number} mark */
  logSince(mark) {
    const more = this.#written - mark;
    return more > 0 ? this.#log.slice(-more) : '';
  }

  /** Description of its end, or undefined while it runs. */
  get end() {
    return this.#end;
  }

  /** @param {string} line @param {(line: string) => void} onLog */
  #keep(line, onLog) {
    this.#log = `${this.#log}${line}\n`.slice(-LOG_CHARACTERS_MAX);
    this.#written += line.length + 1;
    onLog(line);
  }

  async #awaitEnd() {
    const child = this.#child;
    const closed = once(child, 'close').catch(() => {});
    try {
      const [code, signal] = await once(child, 'exit');
      this.#end = signal === null ? `exit code ${code}` : signal;
      // All output is read by then. Another process could hold the output open forever.
      await within(closed, 1000, () => new Error()).catch(() => {});
    } catch (error) {
      const { code } = /** @type {{code?: string}} */ (error);
      const why = code === 'ENOENT' && this.program.includes('/')
        ? 'what it needs to run, or the folder to run it in, is not there; it needs glibc'
        : /** @type {Error} */ (error).message;
      this.#end = `it could not be started: ${why}`;
    }
  }

  /** Lets this process exit while the sandbox runs. */
  unref() {
    this.#child.unref();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (pipe)).unref();
    }
  }

  /**
   * Stops it and waits for its end.
   *
   * @param {string} [file] its file, which is removed if the process could not remove it
   * @param {number} [endMsMax] time limit in milliseconds, after which it is killed
   * @returns {Promise<void>}
   */
  stop(file, endMsMax = END_MS_MAX) {
    this.#stopped ??= this.#stop(file, endMsMax);
    return this.#stopped;
  }

  /** @param {string | undefined} file @param {number} endMsMax */
  async #stop(file, endMsMax) {
    this.#child.ref();
    this.#child.stdin.end();
    let left = file;
    let wait = `did not end within ${endMsMax} ms and was killed`;
    try {
      await within(this.ended, endMsMax, () => new Error());
      wait = '';
    } catch {
      // A process that did not become ready has not reported its file.
      left ??= openFile(this.pid);
      this.#child.kill('SIGKILL');
      await this.ended;
    }
    if (this.#end === 'exit code 0') return;
    if (left !== undefined && !this.#keepsFile) remove(left);
    throw new SandboxError(`The sandbox ${wait || `ended by itself (${this.#end})`}.`, this.#log);
  }
}

/**
 * Returns the database that a sandbox process has open, from /proc.
 *
 * @param {number | undefined} pid
 * @returns {string | undefined}
 */
function openFile(pid) {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name))).find((path) => FILE.test(basename(path)));
  } catch {
    return undefined;
  }
}

/**
 * Removes a sandbox's file and the files beside it.
 *
 * @param {string} file
 */
function remove(file) {
  if (!FILE.test(basename(file))) return;
  const folder = dirname(file);
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(basename(file))) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // The directory is gone with its files, or it belongs to another user.
  }
}

/**
 * @param {import('node:stream').Readable} stream
 * @param {(line: string) => void} take
 */
function lines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (/** @type {string} */ text) => {
    const parts = (rest + text).split('\n');
    rest = /** @type {string} */ (parts.pop());
    parts.forEach(take);
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => {});
}

/**
 * Starts a sandbox and waits until it is ready.
 *
 * @param {StartOptions} options
 * @returns {Promise<{process: Process, ready: Ready}>}
 */
async function start(options) {
  const { timeout = 30 } = options;
  const begun = new Process(options);
  const failed = begun.ended.then(() => {
    throw new SandboxError(`${begun.program} did not get ready: ${begun.end}.`, begun.log);
  });
  const late = () => new SandboxError(`${begun.program} was not ready after ${timeout} s.`, begun.log);
  try {
    const ready = await within(Promise.race([begun.ready, failed]), timeout * 1000, late);
    failed.catch(() => {});
    begun.unref();
    return { process: begun, ready };
  } catch (error) {
    failed.catch(() => {});
    await begun.stop(undefined, FAILED_END_MS_MAX).catch(() => {});
    throw error;
  }
}

module.exports = { Process, start };
