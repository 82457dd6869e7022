//! First steps of an account: computes from the file which steps to a real payment are done.

use crate::domain::{Cents, Currency, KeyClass, Mode, Time};
use crate::render::first_steps::{FirstStep, FirstStepView, FirstStepsView};
use crate::service::{Error, Json, Scope, Service};
use crate::store::{Reader, balances, endpoints, keys};
use serde_json::value::to_raw_value;

impl Service {
    /// Returns the first steps of an account, each with its state. Problems of the service are for operators only.
    pub fn first_steps(&self, now: Time, scope: &Scope, is_operator: bool) -> Result<Json, Error> {
        let account = scope.account();
        self.read_snapshot(|db| {
            let mut steps = Vec::new();
            for step in FirstStep::ALL {
                let (done, problem) = self.step_state(db, now, account, *step)?;
                let problem = problem.filter(|_| is_operator);
                steps.push(FirstStepView { step: *step, done, problem });
            }
            let done = steps.iter().all(|step| step.done);
            Ok(to_raw_value(&FirstStepsView { done, steps })?)
        })
    }

    /// Returns `true` if the step is done, otherwise the reason if one is known.
    fn step_state(
        &self,
        db: &Reader<'_>,
        now: Time,
        account: i64,
        step: FirstStep,
    ) -> Result<(bool, Option<String>), Error> {
        let of_problem = |problem: Option<String>| (problem.is_none(), problem);
        Ok(match step {
            FirstStep::Chain => of_problem(self.no_read_chain_reasons(db, now)?),
            FirstStep::Wallet => of_problem(self.no_address_source_reasons(db)?),
            FirstStep::Coins => {
                of_problem(self.no_payable_coin_reasons(db, Mode::Live, now, Currency::ALL)?)
            }
            FirstStep::Key => (has_live_key(db, account, now)?, None),
            FirstStep::Endpoint => (has_live_endpoint(db, account)?, None),
            FirstStep::TestPayment => (has_sales(db, account, Mode::Test)?, None),
            FirstStep::RealPayment => (has_sales(db, account, Mode::Live)?, None),
        })
    }
}

/// Returns `true` if the account has a live key for a shop's server.
fn has_live_key(db: &Reader<'_>, account: i64, now: Time) -> Result<bool, Error> {
    let keys = keys::of_account(db, account)?;
    Ok(keys.iter().any(|key| {
        key.mode.is_live()
            && key.class != KeyClass::Public
            && key.revoked_at.is_none()
            && key.expires_at.is_none_or(|end| now < end)
    }))
}

fn has_live_endpoint(db: &Reader<'_>, account: i64) -> Result<bool, Error> {
    let endpoints = endpoints::of_account(db, account)?;
    Ok(endpoints.iter().any(|one| one.enabled && one.mode.is_none_or(Mode::is_live)))
}

/// Returns `true` if the account has booked a sale in this mode that was not reversed.
fn has_sales(db: &Reader<'_>, account: i64, mode: Mode) -> Result<bool, Error> {
    let balances = balances::of_account(db, account, mode)?;
    Ok(balances.iter().any(|balance| balance.sales > Cents(0)))
}
