// Correct use in the strictest TypeScript settings: everything has a type.

import { Coffer, CofferError, SandboxError, startCoffer, verifySignature } from 'coffer-sandbox';

export async function use(): Promise<string[]> {
  await using disposed: Coffer = await startCoffer({ log: 'warn', timeoutMs: 5000, onLog: (line) => line.trim() });
  const invoice = await disposed.createInvoice({
    amount: '20.00', currency: 'EUR', orderId: 'order-1', metadata: { cart: ['c-77'] },
  });
  const warnings: string[] | undefined = invoice.warnings;
  const paid: boolean = (await disposed.pay(invoice, { case: 'under', asset: 'LTC' })).paid;
  const late: Date = await disposed.clock.advance('20m');
  const receiver = await disposed.receiver({ types: ['payout.paid', 'invoice.confirmed'] });
  const confirmed = await receiver.next('invoice.confirmed', { about: invoice });
  const order: string | null = confirmed.data.object.orderId;
  const sent: string | null = (await receiver.next('payout.paid')).data.object.txid;
  const inbox = await disposed.inbox('shop', { mode: 'live' });
  const address: string = (await inbox.wait('refund.paid')).event.data.object.toAddress;
  const old = await disposed.receiver({ format: 'legacy', endpoint: false });
  const legacy: boolean | undefined = (await old.next('invoice.confirmed')).invoice?.overpaid;
  const price: string | undefined = old.received[0]?.event.invoice?.priceAmount;
  const kept: string = (await (await disposed.inbox('old', { format: 'legacy' })).wait('refund.paid')).event.event;
  const read = await disposed.request('GET', '/v1/invoices/{id}', { params: { id: invoice.id }, mode: 'live' });
  const status: 'confirmed' | 'overpaid' | null = read.status === 'confirmed' ? read.status : null;
  const listed: string[] = (await disposed.request('GET', '/v1/invoices', { query: { limit: 3 } })).data.map(({ id }) => id);
  const nothing: null = await disposed.request('DELETE', '/sandbox/faults');
  const payment = await disposed.payments.exact(invoice, { confirm: false });
  const needed: number | string | null = (await disposed.payments.setConfirmations(payment, 1)).confirmationsNeeded;
  await disposed.payments.replace(payment, { amount: '0.1' });
  await disposed.account({ maxInvoiceAmount: '10.00', endpoints: [{ url: receiver.url, format: 'legacy' }] });
  const fits: boolean = verifySignature(new Uint8Array(), undefined, disposed.webhookSecret, { toleranceSeconds: 60 });
  try {
    await disposed.stop();
  } catch (error) {
    if (error instanceof CofferError) return [error.code, error.field ?? '', String(error.status)];
    if (error instanceof SandboxError) return [error.log];
  }
  return [String([warnings, paid, late, order, sent, address, status, listed, nothing, fits, legacy, price, kept, needed])];
}
