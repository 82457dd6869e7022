// Tests of webhooks: a receiver in the process, an inbox in the sandbox, signatures.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { SandboxError, startCoffer } from 'coffer-sandbox';

const ORDER = { amount: '20.00', currency: 'EUR', asset: 'LTC' };

let coffer;
beforeEach(async () => { coffer = await startCoffer(); });
afterEach(() => coffer.stop());

test('a receiver hands out each event once, in any order that is asked for', async () => {
  const receiver = await coffer.receiver();
  const [one, two] = [await coffer.createInvoice(ORDER), await coffer.createInvoice(ORDER)];
  await coffer.pay(two);
  await coffer.pay(one);
  const { event } = await receiver.next('invoice.confirmed', { about: one });
  assert.equal(event.data.object.paid, true);
  assert.equal((await receiver.next('invoice.confirmed')).event.data.object.id, two.id);
  await coffer.delivered();
  const waiting = receiver.next('invoice.confirmed', { timeout: 0.02 });
  await assert.rejects(waiting, /^SandboxError: No invoice\.confirmed came within 0\.02 s\. What came so far: invoice\./);
  const received = await receiver.list();
  assert.equal(received.length, 6);
  assert.ok(received.every(({ headers }) => headers['webhook-id'].startsWith('evt_')));
});

for (const isShuffled of [false, true]) {
  test(`webhooks come ${isShuffled ? 'shuffled' : 'in the order of their events'}`, async () => {
    // The first is answered when all others wait.
    let release;
    const areCreated = new Promise((resolve) => { release = resolve; });
    const receiver = await coffer.receiver({ types: ['invoice.created'], handler: () => areCreated });
    if (isShuffled) await coffer.faults.shuffleDeliveries();
    const created = [];
    for (let count = 0; count < 20; count += 1) created.push((await coffer.createInvoice(ORDER)).id);
    release();
    await coffer.delivered();
    const came = (await receiver.list()).map(({ event }) => event.data.object.id);
    assert.deepEqual([...came].sort(), [...created].sort());
    assert.equal(came.join() !== created.join(), isShuffled);
  });
}

test('several wait at once, before anything comes', async () => {
  const receiver = await coffer.receiver();
  const waiting = [receiver.next('invoice.detected'), receiver.next('invoice.confirmed'), receiver.next()];
  await coffer.pay(await coffer.createInvoice(ORDER));
  const types = (await Promise.all(waiting)).map(({ event }) => event.type);
  assert.deepEqual(types, ['invoice.detected', 'invoice.confirmed', 'invoice.created']);
});

test('receivers and inboxes are endpoints beside one another, made at once', async () => {
  const types = ['invoice.confirmed'];
  const made = await Promise.all([
    coffer.receiver(), coffer.receiver({ types, mode: 'test' }), coffer.receiver({ secret: 'whsec_b3duIHNlY3JldA==' }),
    coffer.receiver({ endpoint: false }), coffer.inbox('one'), coffer.inbox('two words/é'),
  ]);
  await coffer.inbox('one');
  assert.equal((await coffer.state()).account.endpoints.length, 5);
  const [all, some, own, alone, inbox, other] = made;
  const invoice = await coffer.createInvoice({ ...ORDER, webhookUrl: alone.url });
  await coffer.pay(invoice);
  await coffer.delivered();
  const received = await Promise.all([all, some, own, alone].map((receiver) => receiver.list()));
  assert.deepEqual(received.map(({ length }) => length), [3, 1, 3, 3]);
  assert.deepEqual([all, some, own, alone].map(({ refused }) => refused), [[], [], [], []]);
  assert.equal((await inbox.list()).length, 3);
  assert.equal((await other.next('invoice.confirmed', { about: invoice })).event.data.object.id, invoice.id);
});

test('what is refused is sent again when the clock is moved', async () => {
  const receiver = await coffer.receiver({ types: ['invoice.created'] });
  await receiver.respond({ status: 500, times: 2 });
  await coffer.createInvoice(ORDER);
  await coffer.delivered();
  await coffer.clock.advance('1m');
  assert.equal((await receiver.list('invoice.created')).length, 3);
  const [delivery] = await coffer.deliveries();
  assert.deepEqual(delivery.attempts.map(({ status }) => status), [500, 500, 200]);
});

test('what failed is returned once all is delivered, and thrown where that is asked for', async () => {
  const receiver = await coffer.receiver({ types: ['invoice.created'] });
  await coffer.createInvoice(ORDER);
  assert.deepEqual([await coffer.delivered(), await coffer.delivered({ check: true })], [[], []]);
  await receiver.respond({ status: 503 });
  const nobody = await coffer.receiver({ types: ['invoice.cancelled'] });
  await nobody.close();
  await coffer.cancelInvoice(await coffer.createInvoice(ORDER));
  const failed = await coffer.delivered();
  assert.deepEqual(failed, (await coffer.deliveries()).slice(1));
  const error = await coffer.delivered({ check: true }).catch((each) => each);
  assert.ok(error instanceof SandboxError);
  assert.deepEqual(error.message.split('\n'), [
    '2 webhooks failed:',
    `invoice.created to ${receiver.url}: status 503, attempt 1, next at ${failed[0].nextAttemptAt}`,
    `invoice.cancelled to ${nobody.url}: ${failed[1].attempts[0].error}, attempt 1, next at ${failed[1].nextAttemptAt}`,
  ]);
  await coffer.clock.advance('30d');
  assert.deepEqual((await coffer.delivered()).map(({ nextAttemptAt }) => nextAttemptAt), [null, null]);
  await assert.rejects(coffer.delivered({ check: true }), /status 503, attempt [0-9]+, the last\n/);
  // One that is answered in the end has not failed.
  await coffer.createInvoice(ORDER);
  assert.equal((await coffer.delivered()).length, 3);
  await receiver.respond();
  await coffer.clock.advance('1h');
  assert.equal((await coffer.delivered()).length, 2);
});

test('what failed is returned, however old it is', async () => {
  const inbox = await coffer.inbox('inbox', { types: ['invoice.created'] });
  await inbox.respond({ status: 500, times: 1 });
  await coffer.clock.freeze();
  const { id } = await coffer.createInvoice(ORDER);
  await coffer.delivered();
  for (let count = 0; count < 500; count += 1) await coffer.createInvoice(ORDER);
  const { data: [{ id: event }] } = await coffer.request('GET', '/v1/events', { query: { object: id } });
  assert.deepEqual((await coffer.delivered()).map((each) => each.event), [event]);
});

test('what is not signed is refused and said', async () => {
  const receiver = await coffer.receiver({ endpoint: false });
  const send = (body, headers = {}) => fetch(receiver.url, { method: 'POST', body, headers });
  assert.equal((await send('{}')).status, 400);
  const at = Math.floor(Date.now() / 1000);
  const sign = (body) => createHmac('sha256', coffer.webhookSecret).update(`${at}.${body}`).digest('hex');
  for (const body of ['no JSON', 'null', '5', '"invoice.created"', '[]', '{}', '{"event":{}}', '{"type":1,"data":null}']) {
    assert.equal((await send(body, { 'X-Service-Signature': `t=${at},v1=${sign(body)}` })).status, 400, body);
  }
  assert.equal((await send('x'.repeat(2 ** 20 + 1))).status, 413);
  await assert.rejects(receiver.next(undefined, { timeout: 0.001 }), /Refused were: no signature fits.*; a request that/);
});

test('the legacy format is taken too', async () => {
  const options = { format: 'legacy', secret: 'of the old shop' };
  const [receiver, inbox] = [await coffer.receiver(options), await coffer.inbox('old', options)];
  const [other, invoice] = [await coffer.createInvoice(ORDER), await coffer.createInvoice(ORDER)];
  await coffer.pay(invoice, { case: 'over' });
  // The legacy format has this name for an overpaid invoice.
  const paid = await receiver.next('invoice.confirmed', { about: invoice });
  const { event, invoice: { overpaid, priceAmount } } = paid.event;
  assert.deepEqual([event, overpaid, priceAmount], ['invoice.confirmed', true, '20.00']);
  let refund = await coffer.refund(invoice);
  for (const step of ['approve', 'process', 'pay']) refund = await coffer.moveRefund(refund, step);
  const { event: refunded } = await receiver.next('refund.paid', { about: refund });
  assert.deepEqual([refunded.object.id, refunded.invoice.id], [refund.id, invoice.id]);
  await coffer.delivered();
  await assert.rejects(receiver.next('payout.paid', { timeout: 0.001 }), /What came so far: (invoice|refund)\./);
  assert.deepEqual(receiver.refused, []);
  assert.equal((await inbox.next('invoice.created', { about: other })).event.invoice.id, other.id);
  assert.equal((await inbox.next('refund.paid', { about: refund })).event.object.id, refund.id);
  await assert.rejects(inbox.next('payout.paid', { timeout: 0.001 }), /it got: (invoice|refund)\./);
});

test('an inbox waits, answers what it is told to, and is emptied', async () => {
  const inbox = await coffer.inbox();
  const waiting = inbox.next('invoice.expired');
  const invoice = await coffer.createInvoice(ORDER);
  await coffer.clock.advance('20m');
  const { event } = await waiting;
  assert.deepEqual([event.type, event.data.object.id], ['invoice.expired', invoice.id]);
  await inbox.clear();
  await inbox.respond({ status: 500, times: 1 });
  const wrong = inbox.next('invoice.confirmed', { timeout: 0.9 });
  await assert.rejects(wrong, /The inbox inbox got no invoice\.confirmed within 0\.9 s; it got: nothing/);
});

test('an inbox waits for longer than one call may, and asks no more often than it must', async () => {
  const patient = await startCoffer({ log: 'debug' });
  try {
    const inbox = await patient.inbox();
    const waiting = inbox.next('invoice.expired', { timeout: 300 });
    const [one, two] = [await patient.createInvoice(ORDER), await patient.createInvoice(ORDER)];
    await patient.clock.advance('20m');
    assert.equal((await waiting).event.type, 'invoice.expired');
    const about = (await waiting).event.data.object.id === one.id ? two : one;
    assert.equal((await inbox.next('invoice.expired', { about, timeout: Infinity })).event.data.object.id, about.id);
    const never = inbox.next('invoice.created', { about: 'another', timeout: 0.5 });
    await assert.rejects(never, /got no invoice\.created within 0\.5 s/);
    const reads = patient.log.split('GET /sandbox/inbox').length - 1;
    assert.ok(reads < 30, `${reads} reads`);
  } finally {
    await patient.stop();
  }
});

test('a handler is called before the answer, and its error is told', async () => {
  const seen = [];
  const receiver = await coffer.receiver({ handler: async ({ event }) => {
    seen.push(event.type);
    if (event.type === 'invoice.detected') throw new RangeError('sold out');
  } });
  const invoice = await coffer.createInvoice(ORDER);
  await coffer.pay(invoice, { confirm: false });
  await coffer.delivered();
  assert.deepEqual(seen, ['invoice.created', 'invoice.detected']);
  await assert.rejects(receiver.next(), { name: 'RangeError', message: 'sold out' });
  assert.equal((await receiver.next('invoice.detected')).event.data.object.id, invoice.id);
  const deliveries = await coffer.deliveries();
  assert.deepEqual(deliveries.flatMap(({ attempts }) => attempts.map(({ status }) => status)).sort(), [200, 500]);
  await receiver.clear();
  assert.deepEqual(await receiver.list(), []);
});

test('an inbox hands out each webhook once, and those behind a reset', async () => {
  const inbox = await coffer.inbox();
  const made = [await coffer.createInvoice(ORDER), await coffer.createInvoice(ORDER)];
  for (const { id } of made) assert.equal((await inbox.next('invoice.created')).event.data.object.id, id);
  await assert.rejects(inbox.next('invoice.created', { timeout: 0.01 }), /it got: invoice\.created, invoice\.created/);
  await coffer.reset();
  const again = await coffer.inbox();
  await coffer.createInvoice(ORDER);
  assert.equal((await again.next()).event.type, 'invoice.created');
});
