//! Requests payouts. `transfers` and `sending` perform the later steps.
//!
//! Invariant: the checks run in the documented order. An account has at most one open payout. The schema also
//! enforces this limit.

use super::idempotency::{IdempotentRequest, IdempotentResponse};
use super::transfers::request_transfer;
use super::{Error, Requester, Scope, Service, Step};
use crate::domain::time::DAY_MS;
use crate::domain::transfer::inputs::CreatePayout;
use crate::domain::{
    Account, Cents, Currency, Mode, PayoutAmount, Refusal, RefusalCode, SendingProgress, Time,
    Transfer, TransferKind, TransferStatus, id,
};
use crate::render;
use crate::store::{Reader, Tx, accounts, balances, file, payout_addresses, transfers};
use std::sync::Arc;

/// Time after a change of the payout address before payouts to the new address are allowed, in milliseconds.
pub const COOLING_MS: i64 = DAY_MS;

impl Service {
    /// Requests a payout, or returns the payout that was already requested with this Idempotency-Key.
    ///
    /// # Errors
    ///
    /// As documented for `POST /v1/payouts`.
    pub async fn create_payout(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        requester: Requester<'_>,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let scope = *scope;
        let (account, mode) = (scope.account(), scope.mode());
        let actor = match requester {
            Requester::Person(email) => email.to_owned(),
            Requester::Key(key) => format!("key {key}"),
        };
        let is_person = matches!(requester, Requester::Person(_));
        let input = CreatePayout::read(&request.body);
        let check = |db: &Reader<'_>| check_account_and_body(db, account, mode, &input).map(drop);
        if let Some(kept) = self.check_before_write(now, scope, &request, check)? {
            return Ok(kept);
        }
        self.derive_upcoming_addresses()?;
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            request.run_once(step, scope, || {
                let payout = check_payout(service, tx, now, account, mode, &input)?;
                let payout = request_transfer(step, &actor, payout)?;
                let json = if is_person {
                    service.render_for_operator(tx, now, &payout)?
                } else {
                    render::transfer(&payout)?
                };
                Ok(IdempotentResponse::created(json))
            })
        })
        .await
    }
}

/// Runs the checks in their documented order. Returns the payout before it is stored.
fn check_payout(
    service: &Service,
    tx: &Tx<'_>,
    now: Time,
    account: i64,
    mode: Mode,
    input: &Result<CreatePayout, Refusal>,
) -> Result<Transfer, Error> {
    let (account, input) = check_account_and_body(tx, account, mode, input)?;
    let currency = input.currency;
    if transfers::has_open_payout(tx, account.seq)? {
        let message = "a payout is in progress; request the next one when it has ended";
        return Err(Refusal::new(RefusalCode::PayoutOpen, message).into());
    }
    let to_address = payout_address(service, tx, now, &account)?;
    let amount = check_amount(tx, &account, currency, input.amount)?;
    check_daily_limit(tx, now, &account, currency, amount)?;
    Ok(Transfer {
        seq: 0,
        id: id::new(now).to_string(),
        kind: TransferKind::Payout,
        account: account.seq,
        account_id: account.id,
        mode,
        invoice: None,
        status: TransferStatus::Requested,
        currency,
        amount,
        asset: account.payout_asset,
        to_address,
        destination: 0,
        terms: None,
        terms_source: None,
        sent_by: None,
        signer_share: None,
        txid: None,
        reason: None,
        failure_reason: None,
        sending: None,
        sending_progress: SendingProgress::default(),
        has_exact_proposal: false,
        released_at: None,
        is_frozen: false,
        requested_at: now,
        requested_height: None,
        approved_at: None,
        finalized_at: None,
    })
}

/// Returns the account and the parsed body. Refusals about the account come before those about the body.
fn check_account_and_body<'a>(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    input: &'a Result<CreatePayout, Refusal>,
) -> Result<(Account, &'a CreatePayout), Error> {
    if !mode.is_live() {
        let message = "payouts exist in live mode only; test money is not paid out";
        return Err(Refusal::new(RefusalCode::TestMode, message).into());
    }
    let account = accounts::by_seq(db, account)?;
    account.status.check_can_request_payouts()?;
    if file::read_file_row(db)?.is_some_and(|file| file.maintenance) {
        let message = "payouts are paused for maintenance";
        return Err(Refusal::new(RefusalCode::Maintenance, message).into());
    }
    Ok((account, input.as_ref().map_err(Refusal::clone)?))
}

/// Returns the payout address of the account for its payout coin. Checks again that the address is valid on the
/// followed network.
fn payout_address(
    service: &Service,
    db: &Reader<'_>,
    now: Time,
    account: &Account,
) -> Result<String, Error> {
    let asset = account.payout_asset;
    let found = payout_addresses::get(db, account.seq, asset.chain)?;
    let no_address = |message| Refusal::new(RefusalCode::NoAddress, message);
    let (address, changed_at) = found.ok_or_else(|| {
        no_address(format!(
            "there is no payout address on {}, the chain of {}",
            asset.chain, asset.id
        ))
    })?;
    let until = changed_at.plus_ms(COOLING_MS);
    if now < until {
        let message = format!(
            "the payout address was changed recently; payouts to it are possible from {until}"
        );
        return Err(no_address(message).into());
    }
    let still = service.external_destination(db, Mode::Live, asset.chain, &address)?;
    Ok(still.map_err(|problem| no_address(format!("the payout address {problem}")))?)
}

/// Returns the amount if it is at least the minimum and at most the balance.
fn check_amount(
    db: &Reader<'_>,
    account: &Account,
    currency: Currency,
    wanted: PayoutAmount,
) -> Result<Cents, Error> {
    let balances = balances::of_account(db, account.seq, Mode::Live)?;
    let balance = balances.iter().find(|balance| balance.currency == currency);
    let available = balance.map_or(Cents::ZERO, |balance| balance.available);
    let amount = match wanted {
        PayoutAmount::All => available,
        PayoutAmount::Exactly(amount) => amount,
    };
    let refuse = |code, message| Err(Refusal::for_param(code, "amount", message).into());
    if amount < account.payout_min {
        let min = account.payout_min;
        let message = format!("{amount} {currency} is below the minimum of {min}");
        return refuse(RefusalCode::BelowMinimum, message);
    }
    if amount > available || amount <= Cents::ZERO {
        let message =
            format!("{amount} {currency} is requested, and only {available} is available");
        return refuse(RefusalCode::InsufficientBalance, message);
    }
    Ok(amount)
}

/// Refuses a payout that exceeds the account's limit for 24 hours.
fn check_daily_limit(
    db: &Reader<'_>,
    now: Time,
    account: &Account,
    currency: Currency,
    amount: Cents,
) -> Result<(), Error> {
    let before = transfers::sum_of_payouts(db, account.seq, currency, now.plus_ms(-DAY_MS))?;
    let limit = account.payout_daily_max;
    if before.plus(amount)? > limit {
        let message = format!(
            "payouts of the last 24 hours are {before} {currency}; {amount} more would exceed the limit of {limit}"
        );
        return Err(Refusal::for_param(RefusalCode::DailyLimit, "amount", message).into());
    }
    Ok(())
}
