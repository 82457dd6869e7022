//! A sandbox with its initial data and without HTTP, for tests of use cases and workers.
//!
//! Invariant: each sandbox has its own file, which is removed at the end of the test.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::audit::audit;
use super::chains::live::{Live, LiveChain};
use super::{Caches, Caller, Error, Faults, Service, begin_file, sandbox};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::id;
use crate::domain::money::Currency;
use crate::domain::observation::StoredObservation;
use crate::domain::progress::ignore_progress;
use crate::domain::rate::RateQuote;
use crate::domain::refusal::Refusal;
use crate::domain::render::Links;
use crate::domain::server::order::ServerLimits;
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
use crate::store::addresses::Owner;
use crate::store::paths::with_suffix;
use crate::store::{
    Durability, Kind, OnCommit, Opening, PageBounds, Store, Tx, accounts, audit_log, chain_blocks,
    chain_cursors, customers, invoices, observations, own_transfers, quotes, transfers,
    unmatched_payments,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
/// Current time of the tests, late enough that the initial data has valid times.
pub(crate) const NOW: Time = Time(1_795_253_400_000);

/// Path of a file that is removed on drop.
pub(crate) struct File(PathBuf);

impl File {
    /// Returns a path at which no file exists.
    pub(crate) fn new() -> File {
        let name = format!("coffer-seeded-{}.db", id::new(NOW));
        File(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            // The file may not exist.
            let _ = std::fs::remove_file(with_suffix(&self.0, suffix));
        }
    }
}

/// Runs a use case to its end.
pub(crate) fn done<T>(use_case: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(use_case)
}

/// Returns a sandbox with its initial data and no HTTP server, and its file.
pub(crate) fn seeded() -> (Arc<Service>, File) {
    heard(Box::new(|_| {}))
}

/// Returns [`seeded`] with a callback for each commit.
fn heard(on_commit: OnCommit) -> (Arc<Service>, File) {
    let file = File::new();
    let kinds = (Kind::Sandbox, Kind::Sandbox);
    let service = opened(&file, kinds, Live::default(), on_commit);
    (service, file)
}

/// Returns [`seeded`] with a callback for each chain on which money becomes expected.
pub(crate) fn expecting(tell: impl Fn(Chain) + Send + Sync + 'static) -> (Arc<Service>, File) {
    heard(Box::new(move |changes| {
        changes.expected.iter().for_each(|chain| tell(*chain));
    }))
}

/// Returns a second service on a sandbox's file. Its live mode is not simulated.
pub(crate) fn real(file: &File) -> Arc<Service> {
    with_nodes(file, &[])
}

/// Returns [`real`] with nodes of these chains in its settings.
pub(crate) fn with_nodes(file: &File, chains: &[Chain]) -> Arc<Service> {
    let kinds = (Kind::Sandbox, Kind::Production);
    opened(file, kinds, nodes(chains), Box::new(|_| {}))
}

/// Returns a service with nodes of these chains, on a production file with the sandbox's account.
pub(crate) fn in_production(file: &File, chains: &[Chain]) -> Arc<Service> {
    let kinds = (Kind::Production, Kind::Production);
    opened(file, kinds, nodes(chains), Box::new(|_| {}))
}

fn nodes(chains: &[Chain]) -> Live {
    let chains = chains.iter().map(|chain| LiveChain {
        chain: *chain,
        node: "http://node".to_owned(),
        tokens: Vec::new(),
    });
    Live::of(chains.collect(), false)
}

/// Opens a service on a file. The file and the service each have their own kind.
fn opened(
    file: &File,
    (of_file, kind): (Kind, Kind),
    live: Live,
    on_commit: OnCommit,
) -> Arc<Service> {
    let opening = Opening {
        path: file.0.clone(),
        durability: Durability::Process,
        create: true,
        kind: None,
        exclusive: false,
        tell: ignore_progress,
    };
    let store = Store::open(&opening, on_commit).unwrap();
    let row = begin_file(&store, of_file, |tx, _| sandbox::fill(tx, NOW)).unwrap();
    let row = row().unwrap();
    let links = Links {
        public_url: "http://127.0.0.1".to_owned(),
        checkout_secret: row.checkout_secret,
    };
    let caches = Arc::new(Caches::default());
    let check = Box::new(|_: &str| Ok(()));
    Arc::new(Service::new(
        store,
        links,
        kind,
        check,
        ServerLimits::default(),
        caches,
        live,
    ))
}

/// Faults that make the rates stale.
pub(crate) const STALE: Faults = Faults {
    pool_empty: false,
    rates_stale: true,
};

/// Returns Bitcoin.
#[track_caller]
pub(crate) fn bitcoin() -> &'static Asset {
    Asset::find("BTC").unwrap()
}

/// Returns the rate of the fixed table, with this time.
pub(crate) fn fixed(asset: &Asset, currency: Currency, at: Time) -> RateQuote {
    RateQuote::fixed(asset.fixed_rate(currency).unwrap(), at)
}

/// Runs a write.
#[track_caller]
pub(crate) fn write<T: Send + 'static>(
    service: &Arc<Service>,
    work: impl FnOnce(&Service, &Tx<'_>) -> Result<T, Error> + Send + 'static,
) -> T {
    service.write_and_wait(work).unwrap()
}

/// Runs a write that may be refused.
#[track_caller]
pub(crate) fn tried<T: Send + 'static>(
    service: &Arc<Service>,
    work: impl FnOnce(&Service, &Tx<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Refusal> {
    match service.write_and_wait(work) {
        Ok(done) => Ok(done),
        failed => Err(refused(failed)),
    }
}

/// Returns the refusal of a result.
#[track_caller]
pub(crate) fn refused<T>(outcome: Result<T, Error>) -> Refusal {
    match outcome {
        Err(Error::Refused(refusal)) => refusal,
        Err(Error::Failed(failed)) => unreachable!("{failed}"),
        Ok(_) => unreachable!("it was not refused"),
    }
}

/// Returns a caller of live mode.
#[track_caller]
pub(crate) fn live(service: &Arc<Service>) -> Arc<Caller> {
    service.authenticate(NOW, sandbox::SECRET_LIVE).unwrap()
}

/// Creates a live invoice of 60.00. Returns the id of the invoice.
#[track_caller]
pub(crate) fn live_invoice(service: &Arc<Service>) -> String {
    live_invoice_at(service, &live(service), NOW)
}

#[track_caller]
fn live_invoice_at(service: &Arc<Service>, caller: &Caller, now: Time) -> String {
    let body = json!({ "amount": "60.00", "currency": "EUR" });
    let body = body.as_object().unwrap().clone();
    let made = done(service.create_invoice(now, caller, body, None));
    let made: Value = serde_json::from_str(&made.unwrap().1).unwrap();
    made.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Creates a live customer, and returns the customer's address on a chain.
#[track_caller]
pub(crate) fn customer_address(service: &Arc<Service>, chain: Chain) -> String {
    write(service, move |service, tx| {
        let account = accounts::all(tx)?.remove(0).seq;
        let customer = customers::insert(tx, account, Mode::Live, "ada", NOW)?;
        let owner = Owner::Customer(customer.seq);
        let address = service.claim(tx, NOW, account, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    })
}

/// Creates a live invoice with a selected coin, and returns its address. `None` if the coin is not offered.
#[track_caller]
pub(crate) fn invoice_address(
    service: &Arc<Service>,
    caller: &Caller,
    now: Time,
    asset: &str,
) -> Option<String> {
    let id = live_invoice_at(service, caller, now);
    done(service.select(now, caller, &id, asset.to_owned())).ok()?;
    let quote = write(service, move |_, tx| {
        let invoice = invoices::by_id(tx, &id)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    Some(quote.address)
}

/// Requests a refund of the first invoice. Returns the id of the refund.
#[track_caller]
pub(crate) fn refund(
    service: &Arc<Service>,
    caller: &Caller,
    now: Time,
    (amount, to): (&str, &str),
) -> String {
    let invoice = write(service, |_, tx| Ok(invoices::by_seq(tx, 1)?.id));
    let body = json!({ "invoice": invoice, "amount": amount, "toAddress": to });
    let body = body.as_object().unwrap().clone();
    let made = done(service.create_refund(now, caller, "o@sandbox.test", body, None));
    let made: Value = serde_json::from_str(&made.unwrap().1).unwrap();
    made.get("id").and_then(Value::as_str).unwrap().to_owned()
}

/// Changes a transfer directly, as only a signer, a restore or an upgrade does.
#[track_caller]
pub(crate) fn change_transfer(
    service: &Arc<Service>,
    id: &str,
    change: impl FnOnce(&mut Transfer) + Send + 'static,
) {
    let id = id.to_owned();
    write(service, move |_, tx| {
        let mut transfer = transfers::by_id(tx, &id)?.unwrap();
        let before = transfer.status;
        change(&mut transfer);
        Ok(transfers::update(tx, &transfer, before)?)
    });
}

/// Returns `true` if the observation is an unmatched payment or a transfer of the operator's own.
#[track_caller]
pub(crate) fn is_nobodys(service: &Arc<Service>, observation: i64) -> bool {
    let owner = service.read(|db| {
        let unmatched = unmatched_payments::of_observation(db, observation)?;
        let own = own_transfers::of_observation(db, observation)?;
        Ok::<_, Error>(unmatched.is_some() || own.is_some())
    });
    owner.unwrap()
}

/// Returns the findings of an audit.
#[track_caller]
pub(crate) fn found_by_audit(service: &Arc<Service>) -> Vec<String> {
    let mut found = Vec::new();
    let audited = service.read(|db| {
        audit(
            db,
            &[],
            &mut |finding| found.push(format!("{finding:?}")),
            &mut ignore_progress,
        )
    });
    audited.unwrap();
    found
}

/// Returns the audit log entries of an action, newest first: object id and detail.
#[track_caller]
pub(crate) fn noted(service: &Arc<Service>, action: &str) -> Vec<(Option<String>, Value)> {
    let page = PageBounds::with_one_more(None, 1000);
    let entries = service.read(|db| Ok(audit_log::page(db, None, page)?));
    let of_action = entries
        .unwrap()
        .into_iter()
        .filter(|of| of.action == action);
    let told = |of: audit_log::Entry| (of.object_id, serde_json::from_str(&of.detail).unwrap());
    of_action.map(told).collect()
}

/// Replaces the hash of the chain's last final block in the file.
#[track_caller]
pub(crate) fn takes_for_final(service: &Arc<Service>, chain: Chain, hash: &'static str) {
    write(service, move |_, tx| {
        let mut cursor = chain_cursors::of_chain(tx, chain)?.unwrap();
        hash.clone_into(&mut cursor.complete.hash);
        chain_blocks::keep(tx, chain, &cursor.complete)?;
        Ok(chain_cursors::put(tx, &cursor)?)
    });
}

/// Returns the observations of live mode on a chain.
#[track_caller]
pub(crate) fn on_chain(service: &Arc<Service>, chain: Chain) -> Vec<StoredObservation> {
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
pub(crate) fn real_books(service: &Arc<Service>, caller: &Caller) -> Vec<String> {
    let balances = service.balances(caller).unwrap();
    balances.iter().map(|one| one.get().to_owned()).collect()
}
