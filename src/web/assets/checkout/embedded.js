// Tells the page around the checkout what happens, where the shop's account lets that page show it.
//
// What always holds: only the origin that the server has put into this page hears anything.

const parentOrigin = document.querySelector('meta[name="coffer-parent"]')?.getAttribute('content') ?? '';
const content = document.getElementById('checkout');
const invoiceId = location.pathname.split('/').at(-1);

/** A frame that was just taken out of its page is its own parent. @param {string} type @param {object} [more] */
function tell(type, more) {
  if (window.parent !== window) window.parent.postMessage({ type, invoiceId, ...more }, parentOrigin);
}

/** Says how the invoice is. Underpaid with time left is a page of its own, and the same status. */
function tellStatus() {
  const state = content?.dataset.state;
  const status = state === 'more' ? 'underpaid' : state;
  tell('coffer-status', { status, paid: status === 'confirmed' || status === 'overpaid' });
}

/** The way out leads the page around, not this frame. */
function leadOut() {
  for (const link of document.querySelectorAll('a.go, a.back')) link.setAttribute('target', '_top');
}

if (window.parent !== window && parentOrigin) {
  tellStatus();
  leadOut();
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) tell('coffer-close');
  });
  if (content) {
    new MutationObserver(leadOut).observe(content, { childList: true });
    new MutationObserver(tellStatus).observe(content, { attributeFilter: ['data-state'] });
  }
}
