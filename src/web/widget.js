// Opens Coffer's checkout from a shop's page. It needs a public key and the id of an invoice that the shop's own
// server has made, never a secret key:
//
//   <script src="https://pay.example.com/widget.js"></script>
//   <button data-coffer-key="pk_live_…" data-coffer-invoice="…">Pay</button>
//
// or CofferWidget.open({ publicKey, invoiceId, newWindow }), which promises the checkout session.
(function () {
  "use strict";

  // Where this script comes from is where the service is.
  var service = document.currentScript.src.replace(/\/widget\.js(?:[?#].*)?$/, "");

  function session(options) {
    return fetch(service + "/v1/public/checkout-sessions", {
      method: "POST",
      headers: { "X-API-Key": options.publicKey, "Content-Type": "application/json" },
      body: JSON.stringify({ invoiceId: options.invoiceId }),
    }).then(function (answer) {
      return answer.json().then(function (body) {
        if (answer.ok) return body;
        var error = new Error(body.message);
        error.code = body.error;
        error.requestId = body.requestId;
        throw error;
      });
    });
  }

  function open(options) {
    // A window can be opened only while the click is being handled, so it is opened before it is known where it goes.
    var target = options.newWindow ? window.open("", "_blank") : null;
    return session(options).then(
      function (found) {
        (target || window).location.assign(found.checkoutUrl);
        return found;
      },
      function (error) {
        if (target) target.close();
        throw error;
      }
    );
  }

  document.addEventListener("click", function (event) {
    var button = event.target instanceof Element && event.target.closest("[data-coffer-key][data-coffer-invoice]");
    if (!button) return;
    event.preventDefault();
    open({
      publicKey: button.dataset.cofferKey,
      invoiceId: button.dataset.cofferInvoice,
      newWindow: button.dataset.cofferWindow === "new",
    }).catch(function (error) {
      button.dispatchEvent(new CustomEvent("coffer-error", { bubbles: true, detail: error }));
      console.error("Coffer: " + error.message);
    });
  });

  window.CofferWidget = { open: open };
})();
