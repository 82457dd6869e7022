// A test with stopped timers and clock: all waits of the package still end in real time.

'use strict';

const ORDER = { amount: '5.00', currency: 'EUR' };

/** Checks the errors of waits without success. */
module.exports = async function waits(startCoffer) {
  const coffer = await startCoffer();
  try {
    const [inbox, receiver] = [await coffer.inbox(), await coffer.receiver()];
    const invoice = await coffer.createInvoice(ORDER);
    await coffer.pay(invoice);
    await receiver.next('invoice.confirmed', { about: invoice });
    await inbox.wait('invoice.confirmed', { about: invoice });
    await coffer.pay(await coffer.createInvoice(ORDER), { case: 'late' });
    await inbox.wait('invoice.paid_late');
    await coffer.faults.delay('GET /v1/invoices', 60_000);
    const vain = [
      receiver.next('invoice.failed', { timeoutMs: 20 }),
      inbox.wait('invoice.failed', { timeoutMs: 20 }),
      inbox.wait('invoice.confirmed', { about: 'another', timeoutMs: 20 }),
      coffer.request('GET', '/v1/invoices', { timeoutMs: 20 }),
    ];
    return (await Promise.allSettled(vain)).map(({ reason }) => reason.message);
  } finally {
    await coffer.stop();
  }
};

module.exports.SAID = [/^No invoice\.failed came within 20 ms/, /got no invoice\.failed within 20 ms/,
  /got no invoice\.confirmed within 20 ms/, /no answer after 20 ms/];
