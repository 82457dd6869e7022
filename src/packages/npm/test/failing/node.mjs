// Tests of node:test that fail, and others that pass. failing.test.mjs looks at their output.

import { after, before, beforeEach, describe, test } from 'node:test';
import { startCoffer } from 'coffer-sandbox';

describe('each its own', () => {
  let coffer;
  beforeEach(async (t) => { coffer = await startCoffer({ test: t }); });
  test('passes', () => coffer.request('GET', '/v1/merchant'));
  test('fails', async () => {
    await coffer.request('GET', '/v1/balances');
    throw new Error('as it must');
  });
});

describe('a shared one', () => {
  let coffer;
  before(async () => { coffer = await startCoffer({ log: 'debug' }); });
  after(() => coffer.stop());
  beforeEach((t) => coffer.showLog(t));
  test('passes', async () => {
    await coffer.request('GET', '/v1/ledger');
    // The lines of this test are not those of the next.
    while (!coffer.log.includes('/v1/ledger')) await new Promise((resolve) => { setImmediate(resolve); });
  });
  test('fails', async () => {
    await coffer.request('GET', '/v1/payouts');
    throw new Error('as it must');
  });
});
