// Each line in this function is a mistake that the type checker must report.

import { Client, Sandbox, startCoffer, verify } from 'coffer-sandbox';

export async function misuse(coffer: Sandbox): Promise<unknown> {
  await coffer.createInvoice({ amount: 20, currency: 'EUR' });
  await coffer.createInvoice({ amount: '20.00', currency: 'GBP' });
  await coffer.createInvoice({ amount: '20.00', currency: 'EUR', oderId: 'order-1' });
  await coffer.createInvoice({ currency: 'EUR' });
  await coffer.pay('id', { case: 'twice' });
  await coffer.payments.amount('id', 0.1);
  await coffer.request('GET', '/v1/invoice');
  await new Client('https://pay.example.com', 'sk_test_x').request('GET', '/sandbox');
  new Client('https://pay.example.com');
  await coffer.selectCoin('id', { coin: 'LTC' });
  coffer.listInvoices({ statuus: 'confirmed' });
  await coffer.live.createPayout({ amount: 10 });
  await coffer.request('DELETE', '/v1/invoices');
  await coffer.request('GET', '/v1/invoices/{id}');
  await coffer.request('GET', '/v1/invoices', { query: { limt: 3 } });
  await coffer.request('PATCH', '/sandbox/account', { body: { feeBps: '100' } });
  const total: number = (await coffer.getInvoice('id')).amount;
  await (await coffer.receiver()).next('invoice.payed');
  const txid = (await (await coffer.receiver()).next('invoice.confirmed')).event.data.object.txid;
  await coffer.receiver({ format: 'old' });
  const old = (await (await coffer.receiver({ format: 'legacy' })).next('invoice.confirmed')).event.data;
  await startCoffer({ timeoutMs: 5 });
  await coffer.delivered({ chek: true });
  await startCoffer({ test: {} });
  await coffer.createInvoice({ amount: '20.00', currency: 'EUR' }, { mode: 'live' });
  return verify({ id: 'evt_1' }, {}, '') || total || txid || old;
}
