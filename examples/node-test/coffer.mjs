// A Coffer sandbox for node:test: copy this file beside your tests. It needs nothing but Node 18 or newer.
//
// The program is `coffer` of your PATH, or the one that the variable COFFER_BINARY names.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts a sandbox of its own on a free port, and answers once it is ready. */
export async function startCoffer() {
  const binary = process.env.COFFER_BINARY ?? 'coffer';
  const args = ['sandbox', '--listen', '127.0.0.1:0', '--json', '--exit-with-parent', '--log', 'warn'];
  // It ends when its standard input is closed: with stop(), and with this process, however that ends.
  const child = spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  // Waited for below, where it is of interest.
  ended.catch(() => {});
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([once(lines, 'line'), ended.then(([code]) => {
    throw new Error(`${binary} ended with exit code ${code}; standard error says why`);
  })]);
  const { url, keys, webhookSecret } = JSON.parse(ready[0]);

  /** The status and the JSON of an answer; with a key for everything outside /sandbox. */
  async function call(method, path, body, key) {
    const answer = await fetch(url + path, {
      method,
      headers: key ? { 'X-API-Key': key } : {},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? null : JSON.parse(text) };
  }

  /** The JSON of an answer; an error is an exception. */
  async function expect(method, path, body, key) {
    const { status, json } = await call(method, path, body, key);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  return {
    url,
    keys,
    webhookSecret,
    call,
    /** The JSON of an answer in test mode. */
    test: (method, path, body) => expect(method, path, body, keys.secretTest),
    /** The JSON of an answer of the sandbox's controls. */
    control: (method, path, body) => expect(method, `/sandbox${path}`, body),
    /** Ends it and waits for its end. */
    async stop() {
      child.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`coffer ended with exit code ${code}`);
    },
  };
}
