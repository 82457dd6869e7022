// Each line in this function is a mistake that the type checker must report.

import { Coffer, startCoffer, verifySignature } from 'coffer-sandbox';

export async function misuse(coffer: Coffer): Promise<unknown> {
  await coffer.createInvoice({ amount: 20, currency: 'EUR' });
  await coffer.createInvoice({ amount: '20.00', currency: 'GBP' });
  await coffer.createInvoice({ amount: '20.00', currency: 'EUR', oderId: 'order-1' });
  await coffer.createInvoice({ currency: 'EUR' });
  await coffer.pay('id', { case: 'twice' });
  await coffer.payments.amount('id', 0.1);
  await coffer.request('GET', '/v1/invoice');
  await coffer.request('DELETE', '/v1/invoices');
  await coffer.request('GET', '/v1/invoices/{id}');
  await coffer.request('GET', '/v1/invoices', { query: { limt: 3 } });
  await coffer.request('PATCH', '/sandbox/account', { body: { feeBps: '100' } });
  const total: number = (await coffer.getInvoice('id')).amount;
  await (await coffer.receiver()).next('invoice.payed');
  const txid = (await (await coffer.receiver()).next('invoice.confirmed')).data.object.txid;
  await coffer.receiver({ format: 'old' });
  const old = (await (await coffer.receiver({ format: 'legacy' })).next('invoice.confirmed')).data;
  await startCoffer({ timeout: 5 });
  return verifySignature({ id: 'evt_1' }, '', '') || total || txid || old;
}
