// Tests of the client that are of Node alone, or that look at what is sent.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Client, NoAnswerError, verify } from 'coffer-client';
import { startCoffer } from 'coffer-sandbox';

const ORDER = { amount: '20.00', currency: 'EUR' };
const KEY = 'sk_test_of_this_test';

/** Starts a server that closes the first connections without an answer. Returns it with all requests. */
async function serve(t, dropped, body = {}) {
  const requests = [];
  const server = http.createServer((request, response) => {
    requests.push(request);
    if (requests.length <= dropped) request.socket.destroy();
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

test('an idempotency key is that of one call and its repetitions', async (t) => {
  const { url, requests } = await serve(t, 2);
  const client = new Client(`${url}/base/v1/`, KEY);
  await client.createInvoice(ORDER);
  await client.createInvoice(ORDER);
  await client.createInvoice(ORDER, { idempotencyKey: 'own' });
  await client.getMerchant();
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0], keys[3], 'own', undefined]);
  assert.notEqual(keys[0], keys[3]);
  assert.deepEqual([requests[0].url, requests[5].url], ['/base/v1/invoices', '/base/v1/merchant']);
  assert.ok(requests.every(({ headers }) => headers['x-api-key'] === KEY));
});

test('a PUT, and a call of a single attempt, are not repeated', async (t) => {
  const { url, requests } = await serve(t, Infinity);
  const client = new Client(url, KEY);
  await assert.rejects(client.request('PUT', '/v1/other', { body: {} }), NoAnswerError);
  await assert.rejects(client.createInvoice(ORDER, { attempts: 1 }), NoAnswerError);
  assert.equal(requests.length, 2);
});

test('a list that is left is not read further', async (t) => {
  const { url, requests } = await serve(t, 0, { data: [{ id: 'a' }], hasMore: true, nextBefore: 'c' });
  for await (const { id } of new Client(url, KEY).listEvents({ type: undefined, object: 'x y' })) {
    assert.equal(id, 'a');
    break;
  }
  assert.deepEqual(requests.map((request) => request.url), ['/v1/events?limit=100&object=x+y']);
  // A service that says the same page again and again does not hold the caller for ever.
  let count = 0;
  for await (const { id } of new Client(url, KEY).listEvents()) count += id.length;
  assert.equal(count, 2);
});

test('the key goes to no other host, and is not shown', async (t) => {
  const { url, requests } = await serve(t, 0);
  const client = new Client(url.replace(/:[0-9]+$/, ''), KEY, { attempts: 1 });
  const { port } = new URL(url);
  for (const path of [`:${port}/x`, `@127.0.0.1:${port}/x`, '.example.com', 'x', '']) {
    await assert.rejects(client.request('GET', path), { name: 'TypeError', message: 'path must begin with /' });
  }
  assert.equal(requests.length, 0);
  assert.ok(!inspect(client, { showHidden: true, depth: 9 }).includes(KEY));
});

test('what cannot be right is refused at once', () => {
  const wrong = [
    ...['', 'pay.example.com', 'ftp://a', 'https://u:p@a', 'https://a?b', 'https://a#b', null].map((url) => [url, KEY]),
    ...['', ' a', 'a\nb', 'é', 'x'.repeat(201), null, undefined, 5].map((key) => ['https://a', key]),
    ...[{ timeout: 0 }, { timeout: NaN }, { timeout: '5' }, { timeout: Infinity }, { attempts: 0 }, { attempts: 11 }]
      .map((options) => ['https://a', KEY, options]),
  ];
  for (const each of wrong) assert.throws(() => new Client(...each), (error) => /^(Type|Range)Error$/.test(error.name));
});

test('unknown names are refused at once, with those that exist', async (t) => {
  const { url, requests } = await serve(t, 0, { data: [] });
  const client = new Client(url, KEY);
  const refused = async (call, message) => {
    // Some calls throw, and others reject.
    await assert.rejects(async () => call(), { name: 'TypeError', message });
  };
  const list = 'GET /v1/invoices: unknown name "statuus". It takes limit, before, status, orderId';
  await refused(() => client.listInvoices({ statuus: undefined }), list);
  await refused(() => client.request('GET', '/v1/invoices', { query: { statuus: 'paid' } }), list);
  await refused(() => client.listDeposits({ before: 'a' }), 'GET /v1/deposits: unknown name "before". It takes limit, customer');
  await refused(() => client.request('GET', '/v1/merchant', { query: { a: 1 } }), 'GET /v1/merchant: unknown name "a". It takes none');
  await refused(() => new Client(url, KEY, { retries: 3 }), 'Client: unknown name "retries". It takes timeout, attempts');
  const post = 'POST /v1/invoices: unknown name "mode". It takes idempotencyKey, timeout, attempts';
  await refused(() => client.createInvoice(ORDER, { mode: 'live' }), post);
  await refused(() => client.createInvoice(ORDER, { body: {} }), post.replace('mode', 'body'));
  await refused(() => client.cancelInvoice('a', { reason: '' }), /^POST \/v1\/invoices\/{id}\/cancel: unknown name "reason"\. It takes/);
  await refused(
    () => client.request('GET', '/v1/invoices', { querry: {} }),
    'request: unknown name "querry". It takes params, query, body, idempotencyKey, timeout, attempts',
  );
  const params = { id: 'a', ref: 'b' };
  await refused(() => client.request('GET', '/v1/events/{id}', { params }), '/v1/events/{id}: unknown name "ref". It takes id');
  await refused(() => verify('', {}, KEY, { tolerence: 5 }), 'verify: unknown name "tolerence". It takes now, tolerance');
  assert.equal(requests.length, 0);
});

test('a call of the client tells what the sandbox tells', async (t) => {
  const coffer = await startCoffer({ test: t });
  const client = new Client(coffer.url, coffer.keys.secretTest);
  await assert.rejects(client.createInvoice({ ...ORDER, amount: '20.001' }), (error) => (
    /^ApiError: POST \/v1\/invoices: 400 invalid_request: amount must be /.test(`${error}`)
    && /^req_[0-9a-f]+$/.test(error.requestId)));
  await assert.rejects(client.createInvoice(ORDER, { idempotencyKey: 'a\r\nX-API-Key: b' }), TypeError);
});
