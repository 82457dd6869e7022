// Opens Coffer's checkout from a shop's page. It needs a public key and the id of an invoice that the shop's own
// server has made, never a secret key:
//
//   <script src="https://pay.example.com/widget.js"></script>
//   <button data-coffer-key="pk_live_…" data-coffer-invoice="…">Pay</button>
//
// or CofferWidget.open({ publicKey, invoiceId, newWindow }), which promises the checkout session.
(function () {
  "use strict";

  /** @typedef {import("openapi").components["schemas"]["CheckoutSession"]} CheckoutSession */
  /** @typedef {{ publicKey: string, invoiceId: string, newWindow?: boolean }} Options */

  // Where this script comes from is where the service is.
  const own = /** @type {HTMLScriptElement} */ (document.currentScript);
  const service = own.src.replace(/\/widget\.js(?:[?#].*)?$/, "");

  /** @param {Options} options @returns {Promise<CheckoutSession>} */
  async function session(options) {
    const answer = await fetch(service + "/v1/public/checkout-sessions", {
      method: "POST",
      headers: { "X-API-Key": options.publicKey, "Content-Type": "application/json" },
      body: JSON.stringify({ invoiceId: options.invoiceId }),
    });
    const body = await answer.json();
    if (answer.ok) return body;
    throw Object.assign(new Error(body.message), { code: body.error, requestId: body.requestId });
  }

  /** @param {Options} options */
  async function open(options) {
    // A window can be opened only while the click is being handled, so it is opened before it is known where it goes.
    const target = options.newWindow ? window.open("", "_blank") : null;
    try {
      const found = await session(options);
      (target ?? window).location.assign(found.checkoutUrl);
      return found;
    } catch (error) {
      target?.close();
      throw error;
    }
  }

  document.addEventListener("click", (event) => {
    const element = event.target instanceof Element ? event.target : null;
    const button = element?.closest("[data-coffer-key][data-coffer-invoice]");
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    const { cofferKey, cofferInvoice, cofferWindow } = button.dataset;
    open({ publicKey: cofferKey ?? "", invoiceId: cofferInvoice ?? "", newWindow: cofferWindow === "new" }).catch((error) => {
      button.dispatchEvent(new CustomEvent("coffer-error", { bubbles: true, detail: error }));
      console.error("Coffer: " + error.message);
    });
  });

  Object.assign(window, { CofferWidget: { open } });
})();
