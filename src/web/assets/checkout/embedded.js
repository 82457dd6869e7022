// Sends checkout messages to the page that embeds the checkout.
//
// Invariant: only the origin that the server wrote into this page receives messages.

const parentOrigin = document.querySelector('meta[name="coffer-parent"]')?.getAttribute('content') ?? '';
const content = document.getElementById('checkout');
const invoiceId = location.pathname.split('/').at(-1);

/**
 * Sends a message. A frame that was removed from its page is its own parent.
 * @param {string} type
 * @param {object} [more]
 */
function sendMessage(type, more) {
  if (window.parent !== window) window.parent.postMessage({ type, invoiceId, ...more }, parentOrigin);
}

/** Sends the status of the invoice. An underpaid invoice with time left has its own page, but the same status. */
function sendStatus() {
  const state = content?.dataset.state;
  const status = state === 'more' ? 'underpaid' : state;
  sendMessage('coffer-status', { status, paid: status === 'confirmed' || status === 'overpaid' });
}

/** Makes the exit link open in the embedding page instead of this frame. */
function openExitOutside() {
  for (const link of document.querySelectorAll('a.go, a.back')) link.setAttribute('target', '_top');
}

if (window.parent !== window && parentOrigin) {
  sendStatus();
  openExitOutside();
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) sendMessage('coffer-close');
  });
  if (content) {
    new MutationObserver(openExitOutside).observe(content, { childList: true });
    new MutationObserver(sendStatus).observe(content, { attributeFilter: ['data-state'] });
  }
}
