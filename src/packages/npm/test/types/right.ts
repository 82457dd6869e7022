// Correct use in the strictest TypeScript settings: everything has a type.

import { ApiError, Client, verify, type Invoice } from 'coffer-client';
import { CofferError, NoAnswerError, Sandbox, SandboxError, startCoffer } from 'coffer-sandbox';

export async function use(): Promise<string[]> {
  await using disposed: Sandbox = await startCoffer({ log: 'warn', timeout: 5, onLog: (line) => line.trim() });
  const shop: Client = new Client(disposed.url, disposed.keys.secretTest, { timeout: 5, attempts: 2 });
  const invoice = await shop.createInvoice({
    amount: '20.00', currency: 'EUR', orderId: 'order-1', metadata: { cart: ['c-77'] },
  }, { idempotencyKey: 'once' });
  const warnings: string[] | undefined = invoice.warnings;
  const paid: boolean = (await disposed.pay(invoice, { case: 'under', asset: 'LTC' })).paid;
  const late: Date = await disposed.clock.advance('20m');
  const receiver = await disposed.receiver({ types: ['payout.paid', 'invoice.confirmed'], handler: ({ event }) => event.type });
  const confirmed = await receiver.next('invoice.confirmed', { about: invoice });
  const order: string | null = confirmed.event.data.object.orderId;
  const sent: string | null = (await receiver.next('payout.paid', { timeout: 1 })).event.data.object.txid;
  const inbox = await disposed.inbox('shop', { mode: 'live' });
  const address: string = (await inbox.next('refund.paid')).event.data.object.toAddress;
  const old = await disposed.receiver({ format: 'legacy', endpoint: false });
  const legacy: boolean | undefined = (await old.next('invoice.confirmed')).event.invoice?.overpaid;
  const price: string | undefined = (await old.list())[0]?.event.invoice?.priceAmount;
  const kept: string = (await (await disposed.inbox('old', { format: 'legacy' })).next('refund.paid')).event.event;
  const read: Invoice = await disposed.live.request('GET', '/v1/invoices/{id}', { params: { id: invoice } });
  const status: 'confirmed' | 'overpaid' | null = read.status === 'confirmed' ? read.status : null;
  const listed: string[] = [];
  for await (const { id } of shop.listInvoices({ limit: 3, status: 'confirmed' })) listed.push(id);
  const nothing: null = await disposed.request('DELETE', '/sandbox/faults');
  const payment = await disposed.payments.exact(invoice, { confirm: false });
  const needed: number | string | null = (await disposed.payments.setConfirmations(payment, 1)).confirmationsNeeded;
  const failed: string | undefined = (await disposed.delivered({ check: true }))[0]?.type;
  await disposed.payments.replace(payment, { amount: '0.1' });
  await disposed.account({ maxInvoiceAmount: '10.00', endpoints: [{ url: receiver.url, format: 'legacy' }] });
  const { livemode: isLive } = verify(new Uint8Array(), { 'webhook-id': 'a' }, ['a', 'b'], { tolerance: 60 });
  try {
    await disposed.stop();
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.field ?? '', String(error.status)];
    if (error instanceof SandboxError) return [error.log];
    if (error instanceof NoAnswerError || error instanceof CofferError) return [error.message];
  }
  return [String([warnings, paid, late, order, sent, address, status, listed, nothing, isLive, legacy, price, kept, needed, failed])];
}
