// Tests of webhooks: a receiver in the process, an inbox in the sandbox, signatures.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { startCoffer, verifySignature } from 'coffer-sandbox';

const ORDER = { amount: '20.00', currency: 'EUR', asset: 'LTC' };

let coffer;
beforeEach(async () => { coffer = await startCoffer(); });
afterEach(() => coffer.stop());

test('a receiver hands out each event once, in any order that is asked for', async () => {
  const receiver = await coffer.receiver();
  const [one, two] = [await coffer.createInvoice(ORDER), await coffer.createInvoice(ORDER)];
  await coffer.pay(two);
  await coffer.pay(one);
  const confirmed = await receiver.next('invoice.confirmed', { about: one });
  assert.equal(confirmed.data.object.paid, true);
  assert.equal((await receiver.next('invoice.confirmed')).data.object.id, two.id);
  await coffer.delivered();
  const waiting = receiver.next('invoice.confirmed', { timeoutMs: 20 });
  await assert.rejects(waiting, /^SandboxError: No invoice\.confirmed came within 20 ms\. What came so far: invoice\./);
  assert.equal(receiver.received.length, 6);
  assert.ok(receiver.received.every(({ headers }) => headers['webhook-id'].startsWith('evt_')));
});

test('several wait at once, before anything comes', async () => {
  const receiver = await coffer.receiver();
  const waiting = [receiver.next('invoice.detected'), receiver.next('invoice.confirmed'), receiver.next()];
  await coffer.pay(await coffer.createInvoice(ORDER));
  const types = (await Promise.all(waiting)).map(({ type }) => type);
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
  assert.deepEqual([all, some, own, alone].map(({ received }) => received.length), [3, 1, 3, 3]);
  assert.deepEqual([all, some, own, alone].map(({ refused }) => refused), [[], [], [], []]);
  assert.equal((await inbox.list()).length, 3);
  assert.equal((await other.wait('invoice.confirmed', { about: invoice })).event.data.object.id, invoice.id);
});

test('what is refused is sent again when the clock is moved', async () => {
  const receiver = await coffer.receiver({ types: ['invoice.created'] });
  receiver.respond(500, 2);
  await coffer.createInvoice(ORDER);
  await coffer.delivered();
  await assert.rejects(receiver.next('invoice.created', { timeoutMs: 1 }));
  await coffer.clock.advance('1m');
  await receiver.next('invoice.created');
  assert.equal(receiver.received.length, 3);
  const [delivery] = await coffer.deliveries();
  assert.deepEqual(delivery.attempts.map(({ status }) => status), [500, 500, 200]);
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
  await assert.rejects(receiver.next(undefined, { timeoutMs: 1 }), /Refused were: a signature that does not fit; a request/);
});

test('the legacy format is taken too', async () => {
  const options = { format: 'legacy', secret: 'of the old shop' };
  const [receiver, inbox] = [await coffer.receiver(options), await coffer.inbox('old', options)];
  const [other, invoice] = [await coffer.createInvoice(ORDER), await coffer.createInvoice(ORDER)];
  await coffer.pay(invoice, { case: 'over' });
  // The legacy format has this name for an overpaid invoice.
  const paid = await receiver.next('invoice.confirmed', { about: invoice });
  assert.deepEqual([paid.event, paid.invoice.overpaid, paid.invoice.priceAmount], ['invoice.confirmed', true, '20.00']);
  let refund = await coffer.refund(invoice);
  for (const step of ['approve', 'process', 'pay']) refund = await coffer.moveRefund(refund, step);
  const refunded = await receiver.next('refund.paid', { about: refund });
  assert.deepEqual([refunded.object.id, refunded.invoice.id], [refund.id, invoice.id]);
  await coffer.delivered();
  await assert.rejects(receiver.next('payout.paid', { timeoutMs: 1 }), /What came so far: (invoice|refund)\./);
  assert.deepEqual(receiver.refused, []);
  assert.equal((await inbox.wait('invoice.created', { about: other })).event.invoice.id, other.id);
  assert.equal((await inbox.wait('refund.paid', { about: refund })).event.object.id, refund.id);
  await assert.rejects(inbox.wait('payout.paid', { timeoutMs: 1 }), /it got: (invoice|refund)\./);
});

test('an inbox waits, answers what it is told to, and is emptied', async () => {
  const inbox = await coffer.inbox();
  const waiting = inbox.wait('invoice.expired');
  const invoice = await coffer.createInvoice(ORDER);
  await coffer.clock.advance('20m');
  const { event } = await waiting;
  assert.deepEqual([event.type, event.data.object.id], ['invoice.expired', invoice.id]);
  await inbox.clear();
  await inbox.respond({ status: 500, times: 1 });
  const wrong = inbox.wait('invoice.confirmed', { timeoutMs: 900 });
  await assert.rejects(wrong, /The inbox inbox got no invoice\.confirmed within 900 ms; it got: nothing/);
});

test('an inbox waits for longer than one call may, and asks no more often than it must', async () => {
  const patient = await startCoffer({ log: 'debug' });
  try {
    const inbox = await patient.inbox();
    const waiting = inbox.wait('invoice.expired', { timeoutMs: 300_000 });
    const [one, two] = [await patient.createInvoice(ORDER), await patient.createInvoice(ORDER)];
    await patient.clock.advance('20m');
    assert.equal((await waiting).event.type, 'invoice.expired');
    const about = (await waiting).event.data.object.id === one.id ? two : one;
    assert.equal((await inbox.wait('invoice.expired', { about, timeoutMs: Infinity })).event.data.object.id, about.id);
    const never = inbox.wait('invoice.created', { about: 'another', timeoutMs: 500 });
    await assert.rejects(never, /got no invoice\.created within 500 ms/);
    const reads = patient.log.split('GET /sandbox/inbox').length - 1;
    assert.ok(reads < 30, `${reads} reads`);
  } finally {
    await patient.stop();
  }
});

test('a signature is verified', () => {
  const [body, secret, at] = ['{"id":"evt_1"}', 'whsec_c2VjcmV0', 1_800_000_000];
  const v1 = (time, text = body) => createHmac('sha256', secret).update(`${time}.${text}`).digest('hex');
  const fits = (header, options = { now: at }, text = body) => verifySignature(text, header, secret, options);
  const good = `t=${at},v1=${v1(at)}`;
  assert.ok(fits(good));
  assert.ok(fits(good, { now: at }, Buffer.from(body)));
  assert.ok(fits(good, { now: at }, new TextEncoder().encode(body)));
  assert.ok(fits(`t=${at},v1=${'0'.repeat(64)},v1=${v1(at)},v0=x`), 'while a secret is rolled');
  assert.ok(fits([good]) && fits(`t=${at}, v1=${v1(at)}`));
  assert.ok(fits(good, { now: at + 300 }) && fits(good, { now: at - 300 }));
  assert.ok(fits(good, { now: at + 900, toleranceSeconds: 900 }));
  const wrong = [
    undefined, null, '', 'x', `v1=${v1(at)}`, `t=${at}`, `t=${at},v1=`, `t=${at},v1=${v1(at).slice(2)}`,
    `t=${at},v1=${v1(at).toUpperCase()}`, `t=${at},v1=${v1(at, `${body} `)}`, `t=${at + 1},v1=${v1(at)}`,
    `t=${at},t=${at},v1=${v1(at)}`, `t=NaN,v1=${v1('NaN')}`, `t=1e9,v1=${v1('1e9')}`, `t=,v1=${v1('')}`,
    `t=-${at},v1=${v1(-at)}`, `t=${at},v1=${v1(at)}0`, [], {},
  ];
  for (const header of wrong) assert.equal(fits(header), false, String(header));
  assert.equal(fits(good, { now: at + 300.5 }), false);
  assert.equal(fits(good, { now: at - 301 }), false);
  assert.equal(fits(good, { now: NaN }), false);
  assert.equal(fits(good), true);
  assert.throws(() => verifySignature({ id: 'evt_1' }, good, secret), /it was parsed before it came here/);
  assert.throws(() => verifySignature(body, good, ''), /secret must be a text/);
  assert.throws(() => verifySignature(body, good, undefined), /secret must be a text/);
  // Standard Webhooks libraries would sign with an empty key.
  assert.throws(() => verifySignature(body, good, 'whsec_'), /secret must be a text/);
});
