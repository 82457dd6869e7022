// Runs the cases of cases.json, which every client passes, with the client for Node.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { ApiError, Client, NoAnswerError, SignatureError, verify } from 'coffer-client';
import { startCoffer } from 'coffer-sandbox';

const { cases } = JSON.parse(readFileSync(process.env.COFFER_CASES ?? new URL('../../cases.json', import.meta.url)));
const TYPES = {
  ApiError: [ApiError], NoAnswerError: [NoAnswerError], SignatureError: [SignatureError], argument: [TypeError, RangeError],
};

let coffer;
before(async () => { coffer = await startCoffer(); });
after(() => coffer.stop());

/** Starts a server that gives one answer after the other, the last one for ever. */
async function scripted(t, answers) {
  let count = 0;
  const server = http.createServer((request, response) => {
    const { status, headers, body } = answers[Math.min(count, answers.length - 1)];
    count += 1;
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, count: () => count };
}

/** Returns the number of requests that each operation outside of the controls has got. */
async function counts() {
  const text = await (await fetch(`${coffer.url}/metrics`)).text();
  const found = {};
  for (const [, operation, count] of text.matchAll(/^coffer_requests_total\{operation="(\w+)".*\} ([0-9]+)$/gm)) {
    if (!/^(sandbox|inbox|metrics)/.test(operation)) found[operation] = (found[operation] ?? 0) + Number(count);
  }
  return found;
}

function difference(now, then) {
  const changed = Object.entries(now).filter(([operation, count]) => count !== (then[operation] ?? 0));
  return Object.fromEntries(changed.map(([operation, count]) => [operation, count - (then[operation] ?? 0)]));
}

/** Calls a method. A list is read to its end. */
async function call(client, { call: name, arguments: given, idempotencyKey }, answers) {
  const values = given.map((value) => {
    const [, at, id] = /^\$([0-9])(\.id)?$/.exec(value) ?? [];
    if (at === undefined) return value;
    return id ? answers[at].id : answers[at];
  });
  if (idempotencyKey !== undefined) values.push({ idempotencyKey });
  if (!name.startsWith('list')) return client[name](...values);
  const items = [];
  for await (const item of client[name](...values)) items.push(item);
  return items;
}

/** Asserts that a value has the expected fields, at any depth. */
function has(value, expected, path = 'result') {
  if (expected === null || typeof expected !== 'object') {
    assert.equal(value, expected, path);
    return;
  }
  assert.equal(Array.isArray(value), Array.isArray(expected), path);
  for (const [name, each] of Object.entries(expected)) has(value?.[name], each, `${path}.${name}`);
}

/** Checks the outcome of a call, and that its error tells nothing that is secret. */
async function check(promise, { result, error, length }, secrets) {
  const outcome = await promise.then((value) => ({ value }), (failure) => ({ failure }));
  if (error === undefined) {
    if ('failure' in outcome) throw outcome.failure;
    if (result !== undefined) has(outcome.value, result);
    if (length !== undefined) assert.equal(outcome.value.length, length);
    return;
  }
  const { failure } = outcome;
  const { type, ...fields } = error;
  const isOfType = TYPES[type].some((each) => failure instanceof each);
  assert.ok(isOfType, `${type}, not ${failure} or ${JSON.stringify(outcome.value)}`);
  const { message, ...others } = fields;
  has(failure, others, 'error');
  if (message !== undefined) assert.ok(failure.message.includes(message), failure.message);
  for (const secret of secrets) assert.ok(!`${failure.stack}`.includes(secret), 'the error tells a secret');
}

async function runCall(t, each) {
  await coffer.reset();
  const own = new Client(coffer.url, coffer.keys.secretTest);
  const answers = [];
  for (const step of each.setup ?? []) {
    for (let time = 1; time < (step.times ?? 1); time += 1) await call(own, step, answers);
    answers.push(await call(own, step, answers));
  }
  for (const fault of each.faults ?? []) await coffer.faults.add(fault);
  const server = each.answers && await scripted(t, each.answers);
  const key = each.key ?? coffer.keys.secretTest;
  const client = new Client(each.url?.replace('$url', coffer.url) ?? server?.url ?? coffer.url, key, each.options);
  const then = await counts();
  const begun = performance.now();
  await check(call(client, each, answers), each, [key]);
  const seconds = (performance.now() - begun) / 1000;
  if (server) assert.equal(server.count(), each.requests);
  else if (each.requests) assert.deepEqual(difference(await counts(), then), each.requests);
  if (each.after) has((await coffer.state()).counts, each.after, 'after');
  const { min = 0, max = Infinity } = each.seconds ?? {};
  assert.ok(seconds >= min && seconds <= max, `it took ${seconds} s`);
}

for (const each of cases) {
  test(each.name, async (t) => {
    if (each.verify === undefined) {
      await runCall(t, each);
      return;
    }
    const { payload, headers, secret, now, tolerance } = each.verify;
    const run = async () => verify(payload, headers, secret, { now, tolerance });
    await check(run(), each, secret.filter((text) => text.length > 6));
    // The same in bytes, and with headers of fetch, which are ASCII.
    const ofFetch = Object.values(headers).every((text) => /^[ -~]*$/.test(text)) ? new Headers(headers) : headers;
    await check((async () => verify(Buffer.from(payload), ofFetch, secret, { now, tolerance }))(), each, []);
  });
}

test('two hundred invoices are created while half of the answers are dropped', async () => {
  await coffer.reset();
  await coffer.faults.dropAnswer('POST /v1/invoices', 200);
  const client = new Client(coffer.url, coffer.keys.secretTest);
  const order = { amount: '20.00', currency: 'EUR' };
  const made = await Promise.all(Array.from({ length: 200 }, () => client.createInvoice(order)));
  const listed = [];
  for await (const { id } of client.listInvoices()) listed.push(id);
  assert.deepEqual([listed.length, new Set(listed)], [200, new Set(made.map(({ id }) => id))]);
});
