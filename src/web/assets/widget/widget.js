// Opens Coffer's checkout from a shop's page. The page needs a public key, never a secret key, and the id of an invoice
// that the shop's server created:
//
//   <script src="https://pay.example.com/widget.js"></script>
//   <coffer-checkout public-key="pk_live_…" invoice="…">Pay</coffer-checkout>
//
// opens a dialog over the page. The element sends events to the page: coffer-open, coffer-status (detail: { invoiceId,
// status, paid }), coffer-close and coffer-error (detail: the error).
//
//   <button data-coffer-key="pk_live_…" data-coffer-invoice="…">Pay</button>
//
// opens the checkout page, a window (data-coffer-window="new") or the dialog ("dialog"). CofferWidget.open({ publicKey,
// invoiceId, newWindow, dialog }) does the same and returns a promise of the checkout session.
//
// Events are hints for the page. Only the webhook and the API tell reliably that an invoice is paid.
(function () {
  'use strict';

  /** @typedef {import("openapi").components["schemas"]["CheckoutSession"]} CheckoutSession */
  /** @typedef {import("openapi").components["schemas"]["CheckoutEvent"]["status"]} Status */
  /**
   * @typedef {{ publicKey: string, invoiceId: string, newWindow?: boolean, dialog?: boolean, title?: string }} Options
   */
  /** @typedef {{ invoiceId: string, status: Status, paid: boolean }} Told */

  /** Time for the frame to report the checkout, in milliseconds. After that the page itself goes to the checkout. */
  const READY_MS = 4000;

  const STYLE = `
    dialog { width: min(32rem, 100vw); height: min(52rem, 100dvh); max-width: none; max-height: none; padding: 0;
      border: 0; border-radius: .75rem; overflow: hidden; box-shadow: 0 1rem 4rem #0006; color-scheme: light dark;
      color: CanvasText; background: Canvas; }
    dialog[open] { display: flex; flex-direction: column; }
    dialog::backdrop { background: #0009; }
    iframe { flex: 1; width: 100%; border: 0; }
    .close { align-self: flex-end; width: 2.75rem; height: 2.75rem; padding: 0; font: 1.5rem/1 system-ui, sans-serif;
      color: inherit; background: none; border: 0; cursor: pointer; }
    .open { min-height: 2.75rem; padding: .6rem 1.25rem; font: 600 1rem/1.4 system-ui, sans-serif; color: #fff;
      background: #1a56db; border: 0; border-radius: .5rem; cursor: pointer; }
    .open[aria-busy] { opacity: .7; cursor: progress; }
    :focus-visible { outline: 3px solid #1a56db; outline-offset: -3px; }
    @media (max-width: 32rem) { dialog { width: 100vw; height: 100dvh; margin: 0; border-radius: 0; } }`;

  // The service has the same address as this script.
  const own = /** @type {HTMLScriptElement} */ (document.currentScript);
  const service = own.src.replace(/\/widget\.js(?:[?#].*)?$/, '');

  /** @param {Options} options @returns {Promise<CheckoutSession>} */
  async function session(options) {
    const answer = await fetch(service + '/v1/public/checkout-sessions', {
      method: 'POST',
      headers: { 'X-API-Key': options.publicKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ invoiceId: options.invoiceId }),
    });
    const body = await answer.json();
    if (answer.ok) return body;
    throw Object.assign(new Error(body.message), { code: body.error, requestId: body.requestId });
  }

  /** The widget's style, created in a way that every content policy allows. Empty in browsers without this method. */
  const sheet = (() => {
    try {
      const made = new CSSStyleSheet();
      made.replaceSync(STYLE);
      return made;
    } catch {
      return null;
    }
  })();
  const hasDialogs = sheet !== null && 'showModal' in (window.HTMLDialogElement?.prototype ?? {});

  /** Attaches content that the page's own style does not affect. @param {HTMLElement} host */
  function shadow(host) {
    const root = host.attachShadow({ mode: 'open', delegatesFocus: true });
    if (sheet) root.adoptedStyleSheets = [sheet];
    return root;
  }

  /** @param {EventTarget} target @param {string} name @param {unknown} [detail] */
  const tell = (target, name, detail) =>
    target.dispatchEvent(new CustomEvent('coffer-' + name, { bubbles: true, composed: true, detail }));

  /**
   * Shows the checkout in a dialog over the page.
   * @param {CheckoutSession} found @param {string} title @param {EventTarget} target
   */
  function showDialog(found, title, target) {
    const opener = document.activeElement;
    const address = new URL(found.checkoutUrl);
    // The checkout sends its messages only to this origin.
    address.searchParams.set('parent', location.origin);
    const host = document.body.appendChild(document.createElement('div'));
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', title);
    const frame = document.createElement('iframe');
    frame.title = title;
    frame.allow = 'clipboard-write';
    frame.src = address.href;
    const close = document.createElement('button');
    close.type = 'button';
    close.className = 'close';
    close.textContent = '×';
    close.setAttribute('aria-label', 'Close');
    close.addEventListener('click', () => dialog.close());
    dialog.append(close, frame);
    shadow(host).append(dialog);

    const refused = setTimeout(() => {
      dialog.close();
      location.assign(found.checkoutUrl);
    }, READY_MS);
    /** @param {MessageEvent} message */
    const hear = ({ origin, source, data }) => {
      if (origin !== address.origin || source !== frame.contentWindow || data?.invoiceId !== found.invoiceId) return;
      clearTimeout(refused);
      if (data.type === 'coffer-close') dialog.close();
      if (data.type !== 'coffer-status') return;
      const { invoiceId, status, paid } = /** @type {Told} */ (data);
      tell(target, 'status', { invoiceId, status, paid });
    };
    window.addEventListener('message', hear);
    dialog.addEventListener('close', () => {
      clearTimeout(refused);
      window.removeEventListener('message', hear);
      host.remove();
      if (opener instanceof HTMLElement) opener.focus();
      tell(target, 'close');
    });
    dialog.showModal();
    tell(target, 'open');
  }

  /**
   * Opens the dialog and returns true, or returns false if the browser cannot open it.
   * @param {CheckoutSession} found @param {string} title @param {EventTarget} target
   */
  function shows(found, title, target) {
    if (!hasDialogs) return false;
    try {
      showDialog(found, title, target);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {Options} options @param {EventTarget} [target] receives the dialog's events */
  async function open(options, target = document) {
    // Browsers open a window only while they handle a click. The window is opened before its address is known.
    const place = options.newWindow ? window.open('', '_blank') : null;
    try {
      const found = await session(options);
      const isShown = options.dialog && !options.newWindow && shows(found, options.title ?? 'Payment', target);
      if (!isShown) (place ?? window).location.assign(found.checkoutUrl);
      return found;
    } catch (error) {
      place?.close();
      throw error;
    }
  }

  /** Opens the checkout and reports errors to the element. @param {Options} options @param {HTMLElement} element */
  const openFrom = (options, element) =>
    open(options, element).catch((error) => {
      tell(element, 'error', error);
      console.error('Coffer: ' + error.message);
    });

  document.addEventListener('click', (event) => {
    const element = event.target instanceof Element ? event.target : null;
    const button = element?.closest('[data-coffer-key][data-coffer-invoice]');
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    const { cofferKey = '', cofferInvoice = '', cofferWindow } = button.dataset;
    const options = { publicKey: cofferKey, invoiceId: cofferInvoice };
    openFrom({ ...options, newWindow: cofferWindow === 'new', dialog: cofferWindow === 'dialog' }, button);
  });

  class CofferCheckout extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'open';
      button.part.add('button');
      const text = button.appendChild(document.createElement('slot'));
      text.textContent = 'Pay';
      let isOpening = false;
      button.addEventListener('click', async () => {
        // A disabled button would lose the focus.
        if (isOpening) return;
        isOpening = true;
        button.setAttribute('aria-busy', 'true');
        await this.open();
        button.removeAttribute('aria-busy');
        isOpening = false;
      });
      shadow(this).append(button);
    }

    /** Opens the checkout, as a click does. */
    open() {
      const value = (/** @type {string} */ name) => this.getAttribute(name) ?? '';
      const options = { publicKey: value('public-key'), invoiceId: value('invoice') };
      return openFrom({ ...options, dialog: true, title: this.getAttribute('dialog-title') ?? undefined }, this);
    }
  }

  if (!customElements.get('coffer-checkout')) customElements.define('coffer-checkout', CofferCheckout);
  Object.assign(window, { CofferWidget: { open } });
})();
