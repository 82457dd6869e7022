// Page script of the shop: requests an order from its server, opens the checkout over the page, and shows the result.

const said = document.getElementById('order');
let order = '';
let timer = 0;

/** Shows what the shop's own server knows: the widget's events say only when it is worth asking. */
async function show() {
  if (!order) return;
  const { name, status } = await (await fetch(`orders/${order}`)).json();
  said.textContent = status === 'paid' ? `${name}: paid. We ship it today.` : `${name}: ${status}.`;
  // The webhook may arrive shortly after the page is notified.
  clearTimeout(timer);
  if (!['paid', 'expired', 'cancelled'].includes(status)) timer = setTimeout(show, 500);
}

for (const button of document.querySelectorAll('[data-product]')) {
  button.addEventListener('click', async () => {
    const answer = await fetch('orders', { method: 'POST', body: JSON.stringify({ product: button.dataset.product }) });
    const { order: number, invoice, publicKey } = await answer.json();
    order = number;
    const options = { publicKey, invoiceId: invoice, dialog: true, title: 'Payment' };
    CofferWidget.open(options).catch((error) => { said.textContent = `The payment could not begin: ${error.message}`; });
  });
}
document.addEventListener('coffer-status', show);
document.addEventListener('coffer-close', show);
