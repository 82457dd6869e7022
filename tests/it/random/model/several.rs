//! Transactions with several outputs, and transfers between own addresses, compared with the model.

use super::paper::Coin;
use super::{ModelHistory, assert_outcome};
use serde_json::{Value, json};

impl ModelHistory {
    /// Pays two outputs of one transaction in a quoted coin. Each output becomes a payment.
    pub(super) fn pay_several_outputs(&mut self, at: usize) {
        let Some(coin) = self.choose_quoted_coin(at) else {
            return;
        };
        let invoice = &self.world.invoices[at];
        let price = coin.units_for_price(invoice.amount, invoice.currency);
        let share = self.dice.pick(&[3, 4, 10]);
        let amounts = [
            (price * share / 10).max(price.min(coin.units_for_price(1, "EUR"))),
            self.choose_amount(coin, at).max(1),
        ];
        let output = |units: &i128| json!({ "invoice": self.world.invoices[at].id, "asset": coin.id, "amount": coin.format_amount(*units) });
        let outputs: Vec<Value> = amounts.iter().map(output).collect();
        self.record_step(format!("pay several {at} {outputs:?}"));
        let body = json!({ "outputs": outputs });
        let answer = self.shop.post("/sandbox/payments", None, body).expect(201);
        let answer = answer.json();
        let txids = answer["data"].as_array().unwrap().iter();
        let txids: Vec<_> = txids.map(|one| one["txid"].clone()).collect();
        assert_eq!(txids.len(), 2, "{answer}");
        assert_eq!(txids[0], txids[1]);
        for (output, units) in amounts.into_iter().enumerate() {
            let seen = self.world.add_payment(at, coin, units, self.world.now);
            let told = &answer["data"][output];
            let is_payment = seen.unwrap();
            assert_eq!(told["state"] == "unmatched", !is_payment, "{told}");
            if is_payment {
                let text = |name: &str| told[name].as_str().unwrap().to_owned();
                self.world.set_ids_of_last_payment(at, text("id"), text("txid"));
            }
        }
    }

    /// Spends a received payment with an output to the same invoice. Such a transfer between own addresses has no
    /// effect.
    pub(super) fn move_between_own_addresses(&mut self, at: usize) {
        let invoice = &self.world.invoices[at];
        if invoice.payments.is_empty() {
            return;
        }
        let spent = &invoice.payments[self.dice.roll(invoice.payments.len())];
        let output = json!({ "invoice": invoice.id, "asset": spent.coin.id, "amount": "1" });
        let body = json!({ "spends": [spent.id], "outputs": [output] });
        self.record_step(format!("move own {at} {body}"));
        let answer = self.shop.post("/sandbox/payments", None, body);
        assert_outcome(&answer, 201, Ok(()));
        assert_eq!(answer.json()["data"][0]["state"], "own");
    }

    /// Chooses a random coin among the quotes of the invoice.
    fn choose_quoted_coin(&mut self, at: usize) -> Option<&'static Coin> {
        let quotes = &self.world.invoices[at].quotes;
        (!quotes.is_empty()).then(|| self.dice.pick(quotes))
    }
}
