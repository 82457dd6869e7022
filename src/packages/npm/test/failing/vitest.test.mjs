// Tests of vitest that fail, and others that pass. failing.test.mjs looks at their output.

import { startCoffer } from 'coffer-sandbox';
import { test as base, describe, beforeAll, afterAll, beforeEach } from 'vitest';

const test = base.extend({
  coffer: async ({ onTestFailed, onTestFinished }, use) => {
    await use(await startCoffer({ test: { onTestFailed, onTestFinished } }));
  },
});

describe.concurrent('each its own', () => {
  test('passes', ({ coffer }) => coffer.request('GET', '/v1/merchant'));
  test('fails', async ({ coffer }) => {
    await coffer.request('GET', '/v1/balances');
    throw new Error('as it must');
  });
  base('fails without a fixture', async (context) => {
    const coffer = await startCoffer({ test: context });
    await coffer.request('GET', '/v1/currencies');
    throw new Error('as it must');
  });
});

describe('a shared one', () => {
  let coffer;
  beforeAll(async () => { coffer = await startCoffer({ log: 'debug' }); });
  afterAll(() => coffer.stop());
  beforeEach((context) => coffer.showLog(context));
  base('passes', async () => {
    await coffer.request('GET', '/v1/ledger');
    // The lines of this test are not those of the next.
    while (!coffer.log.includes('/v1/ledger')) await new Promise((resolve) => { setImmediate(resolve); });
  });
  base('fails', async () => {
    await coffer.request('GET', '/v1/payouts');
    throw new Error('as it must');
  });
});
