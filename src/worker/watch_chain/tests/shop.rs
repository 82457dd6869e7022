//! The shop of a random history: a file with a wallet of public keys, its invoices and its customer, and older copies
//! of the file.
//!
//! Invariant: `ours` contains every assigned address, even after a restore from a copy that lacks some of them.

use super::{XPUB, ZPUB};
use crate::domain::address::{can_sign, simulated_address};
use crate::domain::asset::Chain;
use crate::domain::{Asset, CoinFigure, Currency, FigureSource, Mode, RateFigure, Time};
use crate::service::backup::{RestoreRequest, backup, restore};
use crate::service::pools::import;
use crate::service::tests::{
    NOW, TempFile, block_on, create_customer_address, create_invoice_address, live_balances,
    live_caller, production_service, seeded_service, write,
};
use crate::service::wallets::{WalletToAdd, add};
use crate::service::{Caller, Service};
use serde_json::json;
use std::sync::Arc;

/// Number of addresses in an imported pool.
const POOL_SIZE: usize = 100;

/// A shop that accepts one coin.
pub(in crate::worker::watch_chain) struct Shop {
    pub(in crate::worker::watch_chain) service: Arc<Service>,
    pub(in crate::worker::watch_chain) asset: &'static Asset,
    /// Assigned addresses, including those that a restored file lacks.
    pub(super) ours: Vec<String>,
    pub(super) merchant: Arc<Caller>,
    /// Price of one coin in euros.
    pub(super) rate: &'static str,
    file: TempFile,
}

/// A copy of the file, with the number of addresses that were assigned when the copy was taken.
pub(super) struct FileCopy {
    file: TempFile,
    knows: usize,
}

impl Shop {
    /// Creates a shop for this coin without assigned addresses.
    pub(in crate::worker::watch_chain) fn new(asset: &str) -> Shop {
        let asset = Asset::find(asset).unwrap();
        let file = TempFile::new();
        // The caller is authenticated in a sandbox, because a production service refuses the published keys of the
        // sandbox.
        let merchant = live_caller(&seeded_service().0);
        let service = production_service(&file, &[asset.chain]);
        if asset.chain.row().imported {
            import_pool(&service, asset.chain);
        } else {
            let key = if asset.chain.has_outputs() { ZPUB } else { XPUB };
            let body = json!({ "chain": asset.chain.address_pool(), "key": key });
            let wanted = WalletToAdd::from_body(body.as_object().unwrap()).unwrap();
            write(&service, NOW, move |step| add(step.tx, "test", &wanted, NOW).map(drop));
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
                "USDC-BASE" => "1",
                _ => "2000",
            },
            file,
        }
    }

    /// Sets the rate, and assigns the first address to a customer.
    pub(super) fn assign_first_address(&mut self) {
        self.set_rate(NOW);
        let address = create_customer_address(&self.service, self.asset.chain);
        self.ours.push(address);
    }

    /// Creates an invoice of sixty euros. Returns its address, or `None` if the coin is not on offer.
    pub(in crate::worker::watch_chain) fn create_invoice(&mut self, now: Time) -> Option<String> {
        self.set_rate(now);
        let address = create_invoice_address(&self.service, &self.merchant, now, self.asset.id)?;
        self.ours.push(address.clone());
        Some(address)
    }

    /// Returns the merchant's balances.
    pub(super) fn merchant_balances(&self) -> Vec<String> {
        live_balances(&self.service, &self.merchant)
    }

    /// Returns the value of sixty euros, in base units.
    pub(super) fn units_for_sixty_euros(&self) -> u128 {
        match self.asset.id {
            "BTC" => 100_000,
            "TRX" => 500_000_000,
            "SOL" => 600_000_000,
            _ => 30_000_000_000_000_000,
        }
    }

    /// Sets the current rate of the coin.
    fn set_rate(&self, now: Time) {
        let figure = RateFigure {
            source: FigureSource::File,
            rate: self.rate.parse().unwrap(),
            via: String::new(),
            at: now,
        };
        let told = CoinFigure { coin: self.asset.symbol, currency: Currency::Eur, figure };
        block_on(self.service.store_figures(now, FigureSource::File, now, vec![told])).unwrap();
    }

    /// Copies the file as `coffer backup` does.
    pub(super) fn copy_file(&self) -> FileCopy {
        let file = TempFile::new();
        backup(self.file.path(), file.path(), false, &mut |_| {}).unwrap();
        let knows = self.ours.len();
        FileCopy { file, knows }
    }

    /// Restores a copy as `coffer restore` does. Returns the shop on the restored file, and the assigned addresses
    /// that the file lacks.
    #[track_caller]
    pub(super) fn restore_copy(&self, copy: &FileCopy) -> (Shop, Vec<String>) {
        let file = TempFile::new();
        let mut findings = Vec::new();
        let mut report = |finding| findings.push(format!("{finding:?}"));
        let (from, to) = (copy.file.path(), file.path());
        let wanted = RestoreRequest {
            from,
            opened: None,
            to,
            replace: false,
            dry_run: false,
            public_url: None,
            next: &[],
            now: Time(0),
        };
        restore(&wanted, &mut |_| {}, &mut report).unwrap();
        assert_eq!(findings, Vec::<String>::new());
        let shop = Shop {
            service: production_service(&file, &[self.asset.chain]),
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
fn import_pool(service: &Arc<Service>, chain: Chain) {
    let addresses = (0..).map(|index| simulated_address(Mode::Live, chain, index));
    let keys = addresses.filter(|address| can_sign(address)).take(POOL_SIZE);
    let keys: Vec<String> = keys.collect();
    write(service, NOW, move |step| {
        import(step.tx, NOW, "test", chain, &keys, |at| at.to_string()).map(drop)
    });
}
