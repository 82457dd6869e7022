//! The shop of a random history: a file with a wallet of public keys, its invoices and its customer, and older copies
//! of the file.
//!
//! Invariant: `ours` has every assigned address, also after a restore from a copy that does not know it.

use super::{XPUB, ZPUB};
use crate::domain::address::{can_sign, simulated};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::money::Currency;
use crate::domain::rate::{CoinFigure, Figure, FigureSource};
use crate::domain::time::Time;
use crate::service::backup::{Restoring, backup, restore};
use crate::service::operator::wallets::{Wanted, add};
use crate::service::pools::import;
use crate::service::tests::{
    File, NOW, customer_address, done, in_production, invoice_address, live, real_books, seeded,
    write,
};
use crate::service::{Caller, Service};
use serde_json::json;
use std::sync::Arc;

/// Addresses in an imported pool.
const POOL: usize = 100;

/// A shop that accepts one coin.
pub(in crate::worker::watch_chain) struct Shop {
    pub(in crate::worker::watch_chain) service: Arc<Service>,
    pub(in crate::worker::watch_chain) asset: &'static Asset,
    /// Assigned addresses, including those that a restored file does not know.
    pub(super) ours: Vec<String>,
    pub(super) merchant: Arc<Caller>,
    /// Price of one coin in euros.
    pub(super) rate: &'static str,
    file: File,
}

/// A copy of the file, with the number of assigned addresses that the copy knows.
pub(super) struct Copied {
    file: File,
    knows: usize,
}

impl Shop {
    /// Creates a shop for this coin without assigned addresses.
    pub(in crate::worker::watch_chain) fn new(asset: &str) -> Shop {
        let asset = Asset::find(asset).unwrap();
        let file = File::new();
        // A live account must not use the published keys of a sandbox.
        let merchant = live(&seeded().0);
        let service = in_production(&file, &[asset.chain]);
        if asset.chain.row().imported {
            imports(&service, asset.chain);
        } else {
            let key = if asset.chain.has_outputs() {
                ZPUB
            } else {
                XPUB
            };
            let body = json!({ "chain": asset.chain.address_pool(), "key": key });
            let wanted = Wanted::of(body.as_object().unwrap()).unwrap();
            write(&service, move |_, tx| {
                add(tx, "test", &wanted, NOW).map(drop)
            });
        }
        Shop {
            service,
            asset,
            ours: Vec::new(),
            merchant,
            rate: match asset.id {
                "BTC" => "60000",
                "TRX" => "0.12",
                "SOL" => "100",
                _ => "2000",
            },
            file,
        }
    }

    /// Sets the rate, and assigns the first address to a customer.
    pub(super) fn open(&mut self) {
        self.price(NOW);
        let address = customer_address(&self.service, self.asset.chain);
        self.ours.push(address);
    }

    /// Creates an invoice of sixty euros. Returns its address, or `None` if the coin is not on offer.
    pub(in crate::worker::watch_chain) fn sell(&mut self, now: Time) -> Option<String> {
        self.price(now);
        let address = invoice_address(&self.service, &self.merchant, now, self.asset.id)?;
        self.ours.push(address.clone());
        Some(address)
    }

    /// Returns the merchant's balances.
    pub(super) fn books(&self) -> Vec<String> {
        real_books(&self.service, &self.merchant)
    }

    /// Returns the value of sixty euros, in base units.
    pub(super) fn sixty(&self) -> u128 {
        match self.asset.id {
            "BTC" => 100_000,
            "TRX" => 500_000_000,
            "SOL" => 600_000_000,
            _ => 30_000_000_000_000_000,
        }
    }

    /// Sets the current rate of the coin.
    fn price(&self, now: Time) {
        let figure = Figure {
            source: FigureSource::File,
            rate: self.rate.parse().unwrap(),
            via: String::new(),
            at: now,
        };
        let told = CoinFigure {
            coin: self.asset.symbol,
            currency: Currency::Eur,
            figure,
        };
        done(
            self.service
                .keep_told(now, FigureSource::File, now, vec![told]),
        )
        .unwrap();
    }

    /// Copies the file as `coffer backup` does.
    pub(super) fn copied(&self) -> Copied {
        let file = File::new();
        backup(self.file.path(), file.path(), false, &mut |_| {}).unwrap();
        let knows = self.ours.len();
        Copied { file, knows }
    }

    /// Restores a copy as `coffer restore` does. Returns the shop on the restored file, and the addresses that the
    /// file does not know.
    #[track_caller]
    pub(super) fn restored(&self, copy: &Copied) -> (Shop, Vec<String>) {
        let file = File::new();
        let mut findings = Vec::new();
        let mut report = |finding| findings.push(format!("{finding:?}"));
        let (from, to) = (copy.file.path(), file.path());
        let wanted = Restoring {
            from,
            to,
            replace: false,
            dry_run: false,
            next: &[],
            now: Time(0),
        };
        restore(&wanted, &mut |_| {}, &mut report).unwrap();
        assert_eq!(findings, Vec::<String>::new());
        let shop = Shop {
            service: in_production(&file, &[self.asset.chain]),
            asset: self.asset,
            ours: self.ours.clone(),
            merchant: Arc::clone(&self.merchant),
            rate: self.rate,
            file,
        };
        (shop, self.ours[copy.knows..].to_vec())
    }
}

/// Imports a pool of addresses.
fn imports(service: &Arc<Service>, chain: Chain) {
    let addresses = (0..).map(|index| simulated(Mode::Live, chain, index));
    let keys = addresses.filter(|address| can_sign(address)).take(POOL);
    let keys: Vec<String> = keys.collect();
    write(service, move |_, tx| {
        import(tx, NOW, "test", (chain, &keys, &|at| at.to_string())).map(drop)
    });
}
