//! A sandbox with its initial data and without HTTP, for tests of use cases and workers.
//!
//! Invariant: each sandbox has its own file, which is removed at the end of the test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::audit::audit;
use super::followed::{LiveChain, LiveMode};
use super::idempotency::IdempotentRequest;
use super::mail::MailIdentity;
use super::pools::claim_address;
use super::{Caches, Caller, Error, Faults, Requester, Service, Step, init_file, sandbox};
use crate::domain::asset::Chain;
use crate::domain::progress::ignore_progress;
use crate::domain::{
    Asset, Currency, Mode, RateQuote, Refusal, ServerLimits, StoredObservation, Time, Transfer, id,
};
use crate::render::LinkBuilder;
use crate::store::addresses::AddressOwner;
use crate::store::paths::with_suffix;
use crate::store::{
    Durability, FileKind, OnCommit, PageBounds, Store, StoreOptions, accounts, audit_log,
    chain_blocks, chain_cursors, customers, destinations, invoices, observations, own_transfers,
    quotes, transfers, unmatched_payments,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
/// Current time of the tests, late enough that the initial data has valid times.
pub(crate) const NOW: Time = Time(1_795_253_400_000);

/// Path of a file that is removed on drop.
pub(crate) struct TempFile(PathBuf);

impl TempFile {
    /// Returns a path at which no file exists.
    pub(crate) fn new() -> TempFile {
        let name = format!("coffer-seeded-{}.db", id::new(NOW));
        TempFile(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            // If a file does not exist, there is nothing to remove.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Runs a use case and returns its result.
pub(crate) fn block_on<T>(use_case: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(use_case)
}

/// Returns a sandbox with its initial data and no HTTP server, and its file.
pub(crate) fn seeded_service() -> (Arc<Service>, TempFile) {
    sandbox_with_commit_callback(Box::new(|_| {}))
}

/// Opens the file of a [`seeded_service`] that was dropped, as the next process does.
pub(crate) fn service_on_seeded_file(file: &TempFile) -> Arc<Service> {
    let kind = FileKind::Sandbox;
    open_service(file, kind, kind, LiveMode::default(), Box::new(|_| {}))
}

/// Same as [`seeded_service`], with a callback for each commit.
fn sandbox_with_commit_callback(on_commit: OnCommit) -> (Arc<Service>, TempFile) {
    let file = TempFile::new();
    let kind = FileKind::Sandbox;
    let service = open_service(&file, kind, kind, LiveMode::default(), on_commit);
    (service, file)
}

/// Same as [`seeded_service`], with a callback that runs for each chain on which the service starts to expect money.
pub(crate) fn sandbox_with_expected_money_callback(
    tell: impl Fn(Chain) + Send + Sync + 'static,
) -> (Arc<Service>, TempFile) {
    sandbox_with_commit_callback(Box::new(move |changes| {
        changes.expected.iter().for_each(|chain| tell(*chain));
    }))
}

/// Returns a second service on a sandbox's file. The live mode of this service is not simulated.
pub(crate) fn live_service(file: &TempFile) -> Arc<Service> {
    service_with_nodes(file, &[])
}

/// Same as [`live_service`], with nodes of these chains in the settings.
pub(crate) fn service_with_nodes(file: &TempFile, chains: &[Chain]) -> Arc<Service> {
    let (of_file, kind) = (FileKind::Sandbox, FileKind::Production);
    open_service(file, of_file, kind, live_mode_with_nodes(chains), Box::new(|_| {}))
}

/// Returns a service with nodes of these chains, on a production file with the sandbox's account.
pub(crate) fn production_service(file: &TempFile, chains: &[Chain]) -> Arc<Service> {
    let kind = FileKind::Production;
    open_service(file, kind, kind, live_mode_with_nodes(chains), Box::new(|_| {}))
}

fn live_mode_with_nodes(chains: &[Chain]) -> LiveMode {
    let chains = chains.iter().map(|chain| LiveChain {
        chain: *chain,
        node: "http://node".to_owned(),
        tokens: Vec::new(),
    });
    LiveMode::new(chains.collect(), false)
}

/// Opens a service on a file. The kind of the service may differ from the kind of the file.
fn open_service(
    file: &TempFile,
    of_file: FileKind,
    kind: FileKind,
    live: LiveMode,
    on_commit: OnCommit,
) -> Arc<Service> {
    let opening = StoreOptions {
        path: file.0.clone(),
        durability: Durability::Process,
        create: true,
        kind: None,
        exclusive: false,
        tell: ignore_progress,
    };
    let store = Store::open(&opening, on_commit).unwrap();
    let row = init_file(&store, of_file, |tx, _| sandbox::seed_if_empty(tx, NOW)).unwrap();
    let row = row().unwrap();
    let links = LinkBuilder {
        public_url: "http://127.0.0.1".to_owned(),
        checkout_secret: row.checkout_secret,
    };
    let caches = Arc::new(Caches::default());
    let check = Box::new(|_: &str| Ok(()));
    let service = Service::new(store, links, kind, check, ServerLimits::default(), caches, live);
    Arc::new(service.with_mail(Some(MailIdentity { domain: "shop.example".to_owned() })))
}

/// Faults that make the rates stale.
pub(crate) const STALE: Faults =
    Faults { pool_empty: false, rates_stale: true, deliveries_shuffled: false };

#[track_caller]
pub(crate) fn bitcoin() -> &'static Asset {
    Asset::find("BTC").unwrap()
}

/// Returns the rate from the table of fixed rates, with this time.
pub(crate) fn fixed_rate(asset: &Asset, currency: Currency, at: Time) -> RateQuote {
    RateQuote::fixed(asset.fixed_rate(currency).unwrap(), at)
}

/// Runs a write, and panics if the write fails.
#[track_caller]
pub(crate) fn write<T: Send + 'static>(
    service: &Arc<Service>,
    now: Time,
    work: impl FnOnce(&Step<'_>) -> Result<T, Error> + Send + 'static,
) -> T {
    service.write_and_wait(now, work).unwrap()
}

/// Runs a write that may be refused.
#[track_caller]
pub(crate) fn try_write<T: Send + 'static>(
    service: &Arc<Service>,
    now: Time,
    work: impl FnOnce(&Step<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Refusal> {
    match service.write_and_wait(now, work) {
        Ok(done) => Ok(done),
        failed => Err(unwrap_refusal(failed)),
    }
}

/// Returns the refusal in a result. Panics if the result is not a refusal.
#[track_caller]
pub(crate) fn unwrap_refusal<T>(outcome: Result<T, Error>) -> Refusal {
    match outcome {
        Err(Error::Refused(refusal)) => refusal,
        Err(Error::Failed(failed)) => unreachable!("{failed}"),
        Ok(_) => unreachable!("it was not refused"),
    }
}

/// Returns a caller of live mode.
#[track_caller]
pub(crate) fn live_caller(service: &Arc<Service>) -> Arc<Caller> {
    service.authenticate(NOW, sandbox::SECRET_LIVE).unwrap()
}

/// Returns a request with this body and without an Idempotency-Key.
pub(crate) fn request_without_key(body: &Value) -> IdempotentRequest {
    let body = body.as_object().unwrap().clone();
    IdempotentRequest { operation: "", path_ids: String::new(), client_key: None, body }
}

/// Creates a live invoice of 60.00. Returns the id of the invoice.
#[track_caller]
pub(crate) fn create_live_invoice(service: &Arc<Service>) -> String {
    create_live_invoice_at(service, &live_caller(service), NOW)
}

#[track_caller]
fn create_live_invoice_at(service: &Arc<Service>, caller: &Caller, now: Time) -> String {
    let request = request_without_key(&json!({ "amount": "60.00", "currency": "EUR" }));
    let requester = Requester::Key(caller.key_id());
    let made = block_on(service.create_invoice(now, caller, requester, request));
    let made: Value = serde_json::from_str(&made.unwrap().body).unwrap();
    made.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Creates a live customer, and returns the customer's address on a chain.
#[track_caller]
pub(crate) fn create_customer_address(service: &Arc<Service>, chain: Chain) -> String {
    write(service, NOW, move |step| {
        let Step { tx, .. } = *step;
        let account = accounts::all(tx)?.remove(0).seq;
        let customer = customers::insert(tx, account, Mode::Live, "ada", NOW)?;
        let owner = AddressOwner::Customer(customer.seq);
        let address = claim_address(step, account, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    })
}

/// Creates a live invoice with a selected coin, and returns its address. `None` if the coin is not offered.
#[track_caller]
pub(crate) fn create_invoice_address(
    service: &Arc<Service>,
    caller: &Caller,
    now: Time,
    asset: &str,
) -> Option<String> {
    let id = create_live_invoice_at(service, caller, now);
    block_on(service.select_coin(now, caller, &id, asset.to_owned())).ok()?;
    let quote = write(service, NOW, move |step| {
        let Step { tx, .. } = *step;
        let invoice = invoices::by_id(tx, &id)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    Some(quote.address)
}

/// Requests a refund of the invoice that was created first. Returns the id of the refund.
#[track_caller]
pub(crate) fn request_refund(
    service: &Arc<Service>,
    caller: &Caller,
    now: Time,
    amount: &str,
    to: &str,
) -> String {
    let invoice = write(service, NOW, |step| Ok(invoices::by_seq(step.tx, 1)?.id));
    let body = json!({ "invoice": invoice, "amount": amount, "toAddress": to });
    let request = request_without_key(&body);
    let made = block_on(service.create_refund(now, caller, "o@sandbox.test", request));
    let made: Value = serde_json::from_str(&made.unwrap().body).unwrap();
    made.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Changes a transfer directly, to a state that otherwise only a signer or a restore produces.
#[track_caller]
pub(crate) fn change_transfer(
    service: &Arc<Service>,
    id: &str,
    change: impl FnOnce(&mut Transfer) + Send + 'static,
) {
    let id = id.to_owned();
    write(service, NOW, move |step| {
        let Step { tx, .. } = *step;
        let mut transfer = transfers::by_id(tx, &id)?.unwrap();
        let before = transfer.status;
        change(&mut transfer);
        Ok(transfers::update(tx, &transfer, before)?)
    });
}

/// Returns `true` if the observation is an unmatched payment or a transfer of the operator's own.
#[track_caller]
pub(crate) fn is_unmatched_or_own_transfer(service: &Arc<Service>, observation: i64) -> bool {
    let owner = service.read(|db| {
        let unmatched = unmatched_payments::of_observation(db, observation)?;
        let own = own_transfers::of_observation(db, observation)?;
        Ok::<_, Error>(unmatched.is_some() || own.is_some())
    });
    owner.unwrap()
}

/// Returns the number of stored outputs to destinations that are not frozen.
#[track_caller]
pub(crate) fn destination_output_count(service: &Arc<Service>) -> usize {
    let counted = service.read(|db| {
        let mut outputs = Vec::new();
        for destination in destinations::list_after(db, 0, 1000)? {
            outputs.extend(destinations::outputs(db, destination.seq)?);
        }
        Ok::<_, Error>(outputs.len())
    });
    counted.unwrap()
}

/// Audits the file and returns the findings.
#[track_caller]
pub(crate) fn audit_findings(service: &Arc<Service>) -> Vec<String> {
    let mut found = Vec::new();
    let audited = service.read(|db| {
        audit(db, &[], &mut |finding| found.push(format!("{finding:?}")), &mut ignore_progress)
    });
    audited.unwrap();
    found
}

/// Returns the object id and the detail of each audit log entry with this action, newest first.
#[track_caller]
pub(crate) fn audit_log_entries(
    service: &Arc<Service>,
    action: &str,
) -> Vec<(Option<String>, Value)> {
    let page = PageBounds::with_one_more_row(None, 1000);
    let entries = service.read(|db| Ok(audit_log::page(db, None, page)?));
    let of_action = entries.unwrap().into_iter().filter(|of| of.action == action);
    let told =
        |of: audit_log::AuditEntry| (of.object_id, serde_json::from_str(&of.detail).unwrap());
    of_action.map(told).collect()
}

/// Replaces the hash of the chain's last final block in the file.
#[track_caller]
pub(crate) fn set_final_hash(service: &Arc<Service>, chain: Chain, hash: &'static str) {
    write(service, NOW, move |step| {
        let Step { tx, .. } = *step;
        let mut cursor = chain_cursors::of_chain(tx, chain)?.unwrap();
        hash.clone_into(&mut cursor.complete.hash);
        chain_blocks::put(tx, chain, &cursor.complete)?;
        Ok(chain_cursors::put(tx, &cursor)?)
    });
}

/// Returns the observations of live mode on a chain.
#[track_caller]
pub(crate) fn live_observations(service: &Arc<Service>, chain: Chain) -> Vec<StoredObservation> {
    let mut seen = Vec::new();
    for seq in 1.. {
        match service.read(|db| Ok(observations::by_seq(db, seq)?)) {
            Ok(observed) => seen.push(observed),
            Err(_) => break,
        }
    }
    let of_chain =
        |one: &StoredObservation| one.seen.asset.chain == chain && one.seen.mode == Mode::Live;
    seen.into_iter().filter(of_chain).collect()
}

/// Returns the balances of live mode as JSON.
#[track_caller]
pub(crate) fn live_balances(service: &Arc<Service>, caller: &Caller) -> Vec<String> {
    let balances = service.balances(caller).unwrap();
    balances.iter().map(|one| one.get().to_owned()).collect()
}
