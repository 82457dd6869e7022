//! JSON of the first steps: what an account still needs before a real payment.

use crate::domain::fields::{Schema, view};
use crate::domain::text_enum::text_enum;

text_enum! {
    /// A step to a real payment.
    pub enum FirstStep {
        /// A chain is read up to now.
        Chain = "chain",
        /// A wallet or a pool hands out addresses.
        Wallet = "wallet",
        /// A coin can be paid.
        Coins = "coins",
        /// The account has a live key.
        Key = "key",
        /// The account has an enabled endpoint for live events.
        Endpoint = "endpoint",
        /// A test invoice was paid.
        TestPayment = "test_payment",
        /// A live invoice was paid.
        RealPayment = "real_payment",
    }
}

view! {
    /// Steps of an account to a real payment, as stored.
    pub FirstStepsView as "FirstSteps", object "first_steps" {
        /// Whether all steps are done.
        done: bool = false;
        /// The steps, in their order.
        steps: Vec<FirstStepView> = [
            { "step": "chain", "done": true, "problem": null },
            { "step": "wallet", "done": false, "problem": "litecoin has no wallet that hands out addresses" }
        ];
    }
}

view! {
    /// A step to a real payment.
    pub FirstStepView as "FirstStep" {
        /// The step.
        step: FirstStep = "wallet";
        /// Whether the step is done.
        done: bool = false;
        /// Reason why a step of the service is open; null if it is done, for the other steps, and for users of a
        /// merchant.
        problem: Option<String> [Schema::OrNull(&Schema::STRING)] = "litecoin has no wallet that hands out addresses";
    }
}
