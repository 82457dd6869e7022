// Tests of the controls: payments, clock, faults, transfers, state and errors.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { ApiError, CofferError, NoAnswerError, startCoffer } from 'coffer-sandbox';

const ORDER = { amount: '20.00', currency: 'EUR' };

let coffer;
beforeEach(async () => { coffer = await startCoffer(); });
afterEach(() => coffer.stop());

test('an invoice is paid in every way, in both modes', async () => {
  for (const client of [coffer, coffer.live]) {
    const pay = async (options, asset) => {
      const invoice = await client.createInvoice({ ...ORDER, asset });
      const { amountExpected, amountReceived, status } = await coffer.pay(invoice, options);
      return [status, amountExpected, amountReceived];
    };
    assert.deepEqual(await pay(undefined, 'LTC'), ['confirmed', '0.25', '0.25']);
    assert.deepEqual(await pay({ case: 'under' }, 'LTC'), ['underpaid', '0.25', '0.125']);
    assert.deepEqual(await pay({ case: 'over', asset: 'LTC' }), ['overpaid', '0.25', '0.375']);
    assert.deepEqual(await pay({ case: 'over' }), ['overpaid', '0.00033334', '0.00050001']);
    assert.deepEqual(await pay({ case: 'late', asset: 'LTC' }), ['paid_late', '0.25', '0.25']);
    assert.equal((await pay({ confirm: false }))[0], 'detected');
  }
  const invoice = await coffer.createInvoice({ ...ORDER, asset: 'ETH' });
  await coffer.payments.under(invoice);
  await coffer.payments.amount(invoice, '0.000000000000000001');
  // The payment covers the amount due at that time, to the last of eighteen decimals.
  assert.equal((await coffer.pay(invoice)).status, 'confirmed');
});

test('a payment is lost, comes back, is replaced and reorganised away', async () => {
  const invoice = await coffer.createInvoice({ ...ORDER, asset: 'LTC' });
  const status = async () => (await coffer.getInvoice(invoice)).status;
  const payment = await coffer.payments.exact(invoice, { confirm: false });
  assert.equal(payment.state, 'seen');
  await coffer.payments.drop(payment);
  assert.equal(await status(), 'awaiting_payment');
  await coffer.payments.reappear(payment);
  await coffer.payments.confirm(payment.id);
  assert.equal(await status(), 'confirmed');
  await coffer.payments.reorganise(payment);
  assert.equal(await status(), 'detected');
  const other = await coffer.payments.replace(payment, { amount: '0.1' });
  assert.notEqual(other.id, payment.id);
  await coffer.payments.confirm(other);
  assert.equal(await status(), 'underpaid');
});

test('a payment gets its confirmations one after the other', async () => {
  const invoice = await coffer.createInvoice({ ...ORDER, asset: 'LTC' });
  const payment = await coffer.payments.exact(invoice, { confirm: false });
  assert.deepEqual([payment.confirmations, payment.confirmationsNeeded], [0, 3]);
  assert.equal((await coffer.payments.setConfirmations(payment, 2)).confirmations, 2);
  assert.equal((await coffer.payments.setConfirmations(payment, 3)).state, 'confirmed');
  assert.equal((await coffer.getInvoice(invoice)).status, 'confirmed');
});

test('the clock is read, moved, stopped and let go', async () => {
  const frozen = await coffer.clock.freeze();
  assert.deepEqual(await coffer.clock.get(), frozen);
  const later = await coffer.clock.advance('1h30m');
  assert.equal(later - frozen, 90 * 60_000);
  assert.equal((await coffer.clock.set('2040-01-01T00:00:00.000Z')).getUTCFullYear(), 2040);
  await assert.rejects(coffer.clock.set(new Date(0)), { code: 'invalid_request', field: 'set' });
  await coffer.clock.unfreeze();
});

test('faults come and go', async () => {
  const create = () => coffer.live.createInvoice(ORDER);
  await coffer.faults.refuse('POST /v1/invoices', 429);
  await assert.rejects(create(), { code: 'rate_limited', retryAfter: 1 });
  await coffer.faults.dropAnswer('POST /v1/invoices');
  await assert.rejects(coffer.createInvoice({ ...ORDER, orderId: 'a' }), (error) => error instanceof NoAnswerError
    && /^POST \/v1\/invoices: no answer: ./.test(error.message));
  assert.equal((await coffer.request('GET', '/v1/invoices', { query: { orderId: 'a' } })).data.length, 1);
  await coffer.faults.staleRates();
  await coffer.faults.emptyPool();
  await coffer.faults.shuffleDeliveries();
  const { pool, rates, deliveries } = (await coffer.state()).faults;
  assert.deepEqual([pool, rates, deliveries], ['empty', 'stale', 'shuffled']);
  await coffer.faults.clear();
  await coffer.faults.delay('POST /v1/invoices', 60_000);
  await assert.rejects(coffer.createInvoice(ORDER, { timeout: 0.05 }), /no answer: none within 0\.05 s/);
});

test('money goes back and out', async () => {
  const invoice = await coffer.live.createInvoice(ORDER);
  await coffer.pay(invoice);
  const refund = await coffer.refund(invoice, { amount: '5.00' });
  assert.equal((await coffer.moveRefund(refund, 'approve')).status, 'approved');
  assert.equal((await coffer.moveRefund(refund, 'cancel', { reason: 'changed their mind' })).status, 'cancelled');
  await coffer.clock.advance('2d');
  await coffer.account({ payoutMinimum: '1.00' });
  const payout = await coffer.live.createPayout({ amount: '10.00' });
  for (const action of ['approve', 'process']) await coffer.movePayout(payout, action);
  assert.equal((await coffer.movePayout(payout, 'pay')).status, 'paid');
});

test('the state is kept, gone back to and reset', async () => {
  const { id } = await coffer.createInvoice(ORDER);
  await coffer.snapshot('one');
  assert.equal((await coffer.cancelInvoice(id)).status, 'cancelled');
  await coffer.restore('one');
  assert.equal((await coffer.getInvoice(id)).status, 'created');
  await coffer.reset();
  await assert.rejects(coffer.getInvoice(id), { code: 'not_found', status: 404 });
});

test('what is wrong is said with the call, the code, the field and the reason', async () => {
  const error = await coffer.createInvoice({ ...ORDER, amount: '20.001' }).catch((each) => each);
  assert.ok(error instanceof ApiError && error instanceof CofferError && error instanceof Error);
  assert.deepEqual([error.status, error.code, error.field], [400, 'invalid_request', 'amount']);
  assert.match(`${error}`, /^ApiError: POST \/v1\/invoices: 400 invalid_request: amount must be /);
  assert.match(error.requestId, /^req_/);
  await assert.rejects(coffer.request('GET', '/v1/invoices/{id}', { params: { id: '../../metrics' } }), { status: 404 });
  await assert.rejects(coffer.request('GET', '/v1/invoices/{id}'), /params\.id is needed/);
});

test('unknown names of options are refused, with those that exist', async () => {
  const invoice = await coffer.createInvoice(ORDER);
  const before = await coffer.state();
  const [inbox, receiver] = [await coffer.inbox('shop', { endpoint: false }), await coffer.receiver({ endpoint: false })];
  const pay = 'It takes case, asset, txid, confirm';
  const wrong = [
    [() => startCoffer({ timeoutMs: 5 }), 'startCoffer: unknown name "timeoutMs". It takes binary, args, env, log, onLog, timeout, test'],
    [() => coffer.pay(invoice, { asett: 'LTC' }), `pay: unknown name "asett". ${pay}`],
    [() => coffer.payments.under(invoice, { case: 'under' }), 'payments: unknown name "case". It takes asset, txid, confirm'],
    [() => coffer.payments.late(invoice, { confrm: false }), /^payments: unknown name "confrm". It takes/],
    [() => coffer.inbox('shop', { handler() {} }), 'inbox: unknown name "handler". It takes endpoint, format, types, mode, secret'],
    [() => coffer.receiver({ type: [] }), /^receiver: unknown name "type". It takes endpoint, .*, handler$/],
    [() => inbox.next('invoice.created', { timeoutMs: 5 }), 'next: unknown name "timeoutMs". It takes timeout, about'],
    [() => receiver.next('invoice.created', { abuot: invoice }), 'next: unknown name "abuot". It takes timeout, about'],
    [() => receiver.respond({ statuus: 500 }), 'respond: unknown name "statuus". It takes status, delayMs, times'],
    [() => coffer.delivered({ chek: true }), 'delivered: unknown name "chek". It takes check'],
  ];
  for (const [call, message] of wrong) await assert.rejects(call(), { name: 'TypeError', message });
  const bodies = [
    () => coffer.refund(invoice, { amout: '1.00' }), () => coffer.faults.add({ rout: 'GET /v1/merchant' }),
    () => coffer.account({ feebps: 1 }), () => coffer.payments.see({ invoice: invoice.id, amout: '1' }),
    () => inbox.respond({ delay: 5 }),
  ];
  for (const call of bodies) await assert.rejects(call(), { name: 'ApiError', code: 'invalid_request' });
  assert.deepEqual((await coffer.state()).counts, before.counts);
});

test('money is never a number', async () => {
  const invoice = await coffer.createInvoice(ORDER);
  const wrong = [
    () => coffer.payments.amount(invoice, 0.1),
    () => coffer.payments.see({ invoice: invoice.id, amount: 0.1 }),
    () => coffer.refund(invoice, { amount: 5 }),
  ];
  for (const call of wrong) await assert.rejects(call(), { name: 'TypeError', message: /^amount must be a string/ });
  await assert.rejects(coffer.pay(invoice, { case: 'twice' }), /case must be "exact", "under", "over" or "late"/);
  await assert.rejects(coffer.pay({}), /an object with an id is needed/);
});
