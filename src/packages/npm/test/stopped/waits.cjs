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
    await inbox.next('invoice.confirmed', { about: invoice });
    await coffer.pay(await coffer.createInvoice(ORDER), { case: 'late' });
    await inbox.next('invoice.paid_late');
    await coffer.faults.delay('GET /v1/invoices', 60_000);
    const vain = [
      receiver.next('invoice.failed', { timeout: 0.02 }),
      inbox.next('invoice.failed', { timeout: 0.02 }),
      inbox.next('invoice.confirmed', { about: 'another', timeout: 0.02 }),
      coffer.request('GET', '/v1/invoices', { timeout: 0.02 }),
    ];
    return (await Promise.allSettled(vain)).map(({ reason }) => reason.message);
  } finally {
    await coffer.stop();
  }
};

module.exports.SAID = [/^No invoice\.failed came within 0\.02 s/, /got no invoice\.failed within 0\.02 s/,
  /got no invoice\.confirmed within 0\.02 s/, /no answer: none within 0\.02 s/];
