// Fifty parallel tests with vitest, each with its own sandbox, beside other files like this one. They must not affect
// each other. The cost of start and end of each sandbox is written to the file that COSTS names.

import { appendFileSync } from 'node:fs';
import { startCoffer } from 'coffer-sandbox';
import { describe, expect, test } from 'vitest';

const ORDER = { amount: '20.00', currency: 'EUR', asset: 'LTC' };

describe.concurrent('each has a sandbox of its own', () => {
  test.each(Array.from({ length: 50 }, (_, number) => number))('%i', async (number) => {
    const begun = performance.now();
    const coffer = await startCoffer({ env: { TMPDIR: process.env.SANDBOXES } });
    const startMs = performance.now() - begun;
    try {
      const receiver = await coffer.receiver();
      const frozen = await coffer.clock.freeze();
      // In a shared service these would be one order.
      const count = 1 + (number % 3);
      const made = [];
      for (let each = 0; each < count; each += 1) {
        made.push(await coffer.createInvoice({ ...ORDER, orderId: `order-${each}` }));
      }
      expect((await coffer.pay(made[0])).paid).toBe(true);
      expect(await coffer.clock.advance(`${number + 1}h`) - frozen).toBe((number + 1) * 3_600_000);
      await receiver.next('invoice.confirmed', { about: made[0] });
      await coffer.delivered();
      expect((await coffer.state()).counts).toMatchObject({ invoices: count, payments: 1, deliveriesPending: 0 });
      const own = new Set(made.map(({ id }) => id));
      const received = await receiver.list();
      expect(received.every(({ event }) => own.has(event.data.object.id))).toBe(true);
      // All invoices are created. The paid one is also detected and confirmed, and the others expire.
      expect(received.length).toBe(count + 2 + count - 1);
    } finally {
      const ending = performance.now();
      await coffer.stop();
      appendFileSync(process.env.COSTS, `${startMs + performance.now() - ending}\n`);
    }
  }, 60_000);
});
