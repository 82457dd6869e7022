//! Tests of rates in live mode. Deposits and late payments have the rate of their time, less the account's spread,
//! with its source and age. The fixed table is never used.

use crate::domain::asset::{Asset, Mode};
use crate::domain::money::coin::Units;
use crate::domain::money::{Bps, Currency};
use crate::domain::observation::{Block, Observation};
use crate::domain::rate::{CoinFigure, Figure, FigureSource, RateQuote, RateSource};
use crate::domain::time::{HOUR_MS, MINUTE_MS, Time};
use crate::service::Service;
use crate::service::intake::ObservationOwner;
use crate::service::rates::NoRate;
use crate::service::tests::{NOW, bitcoin, done, live, live_invoice, real, seeded, write};
use crate::store::addresses::Owner;
use crate::store::{accounts, customers, invoices, payments, quotes};
use serde_json::Value;
use std::sync::Arc;

/// Stores rates of bitcoin in EUR from two public sources.
fn tell(service: &Arc<Service>, at: Time, rates: [&str; 2]) {
    for (source, rate) in PUBLIC.into_iter().zip(rates) {
        tell_one(service, at, source, rate);
    }
}

const PUBLIC: [FigureSource; 2] = [FigureSource::Kraken, FigureSource::Coinbase];

/// Stores a rate of bitcoin in EUR from one source.
fn tell_one(service: &Arc<Service>, at: Time, source: FigureSource, rate: &str) {
    let figure = Figure {
        source,
        rate: rate.parse().unwrap(),
        via: "BTC/EUR".to_owned(),
        at,
    };
    let told = CoinFigure {
        coin: "BTC",
        currency: Currency::Eur,
        figure,
    };
    done(service.keep_told(at, source, at, vec![told])).unwrap();
}

#[track_caller]
fn observe(
    service: &Arc<Service>,
    now: Time,
    address: &str,
    txid: &str,
    height: Option<u32>,
) -> ObservationOwner {
    let seen = Observation {
        mode: Mode::Live,
        asset: bitcoin(),
        txid: txid.to_owned(),
        position: 0,
        address: address.to_owned(),
        amount: Units(100_000),
        seen_at: now,
        block: height.map(|height| Block {
            height,
            hash: format!("hash{height}"),
        }),
        spends: Vec::new(),
    };
    let outcome = write(service, move |service, tx| {
        service.observe(tx, now, &seen, None)
    });
    outcome.unwrap().owned
}

/// Returns the rate, source, age in minutes, spread and number of figures as one text.
fn shown(quoted: &RateQuote, now: Time) -> String {
    let figures: Value = serde_json::from_str(quoted.evidence.as_str()).unwrap();
    let age = now.since_ms(quoted.at) / MINUTE_MS;
    let figures = figures.as_array().unwrap().len();
    format!(
        "{} {} {age} {} {figures}",
        quoted.rate, quoted.source, quoted.spread.0
    )
}

#[test]
fn live_mode_has_what_two_sources_agree_on_and_never_the_fixed_table() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let ask = |now: Time, asset: &'static Asset| {
        let both = |service: &Arc<Service>| {
            service.read(|db| {
                let rate = service.rate(db, Mode::Live, asset, Currency::Eur, now)?;
                let newest = service.newest_rate(db, Mode::Live, asset, Currency::Eur, now)?;
                Ok((rate, newest))
            })
        };
        both(&real).unwrap()
    };
    assert_eq!(ask(NOW, bitcoin()), (Err(NoRate), Err(NoRate)));
    tell(&real, NOW, ["50000", "50100"]);
    let (rate, newest) = ask(NOW, bitcoin());
    assert_eq!(shown(&rate.clone().unwrap(), NOW), "50050 median 0 0 2");
    assert_eq!(rate, newest);
    // The newest known rate is the last one on which sources agreed.
    let later = NOW.plus_ms(MINUTE_MS);
    tell(&real, later, ["50000", "60000"]);
    let (rate, newest) = ask(later, bitcoin());
    assert_eq!(rate, Err(NoRate));
    assert_eq!(shown(&newest.unwrap(), later), "50050 median 1 0 2");
    let much_later = NOW.plus_ms(HOUR_MS);
    assert_eq!(
        shown(&ask(much_later, bitcoin()).1.unwrap(), much_later),
        "50050 median 60 0 2"
    );
    // Simulated modes still use the fixed table.
    let test = real.read(|db| real.rate(db, Mode::Test, bitcoin(), Currency::Eur, NOW));
    assert_eq!(test.unwrap().unwrap().source, RateSource::Fixed);
    let sandbox =
        simulated.read(|db| simulated.rate(db, Mode::Live, bitcoin(), Currency::Eur, NOW));
    assert_eq!(sandbox.unwrap().unwrap().source, RateSource::Fixed);
}

#[test]
fn what_the_operators_file_said_is_known_only_while_it_is_configured() {
    let (_simulated, file) = seeded();
    let real = real(&file);
    let only = |sources: &[FigureSource]| done(real.ask_only(sources.to_vec())).unwrap();
    let newest = |now: Time| {
        let newest =
            real.read(|db| real.newest_rate(db, Mode::Live, bitcoin(), Currency::Eur, now));
        newest.unwrap().map(|quoted| shown(&quoted, now))
    };
    let known = |rate: &str| Ok(rate.to_owned());
    let later = NOW.plus_ms(HOUR_MS);
    // After the file is gone, no rate is known, because no other source ever provided one.
    only(&[FigureSource::File]);
    tell_one(&real, NOW, FigureSource::File, "1");
    assert_eq!(newest(NOW), known("1 file 0 0 1"));
    assert_eq!(newest(later), known("1 file 60 0 1"));
    only(&PUBLIC);
    assert_eq!(newest(NOW), Err(NoRate));
    // An earlier rate from public sources remains known.
    tell(&real, NOW, ["50000", "50100"]);
    only(&[FigureSource::File]);
    assert_eq!(newest(later), known("50050 median 60 0 2"));
    tell_one(&real, later, FigureSource::File, "1");
    assert_eq!(newest(later), known("1 file 0 0 1"));
    only(&PUBLIC);
    assert_eq!(newest(later), known("50050 median 60 0 2"));
    tell_one(&real, later, FigureSource::Kraken, "60000");
    assert_eq!(newest(later), known("50050 median 60 0 2"));
}

#[test]
fn a_deposit_is_booked_at_the_rate_of_its_block_less_the_spread() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let address = write(&simulated, |service, tx| {
        let mut account = accounts::all(tx)?.remove(0);
        account.spread = Bps(100);
        accounts::update(tx, &account)?;
        let customer = customers::insert(tx, account.seq, Mode::Live, "ada", NOW)?;
        let (owner, chain) = (Owner::Customer(customer.seq), bitcoin().chain);
        let address = service.claim(tx, NOW, account.seq, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    });
    tell(&real, NOW, ["50000", "50000"]);
    let ObservationOwner::Deposit(seen) = observe(&real, NOW, &address, "a", None) else {
        unreachable!("it is no deposit");
    };
    assert_eq!(shown(&seen.quoted, NOW), "49500 median 0 100 2");
    assert_eq!(seen.gross.to_string(), "49.50");
    let in_block = NOW.plus_ms(10 * MINUTE_MS);
    tell(&real, in_block, ["60000", "60200"]);
    let ObservationOwner::Deposit(fixed) = observe(&real, in_block, &address, "a", Some(7)) else {
        unreachable!("it is no deposit");
    };
    assert_eq!(shown(&fixed.quoted, in_block), "59499 median 0 100 2");
    assert_eq!(fixed.gross.to_string(), "59.50");
    // Without a fresh rate, the deposit is priced at the newest known one.
    let later = NOW.plus_ms(HOUR_MS);
    let ObservationOwner::Deposit(late) = observe(&real, later, &address, "b", Some(8)) else {
        unreachable!("it is no deposit");
    };
    assert_eq!(shown(&late.quoted, later), "59499 median 50 100 2");
}

#[test]
fn a_late_payment_is_worth_the_newest_rate_less_the_spread() {
    let (simulated, file) = seeded();
    let real = real(&file);
    let id = live_invoice(&simulated);
    done(simulated.select(NOW, &live(&simulated), &id, "BTC".to_owned())).unwrap();
    let of = id.clone();
    let quote = write(&simulated, move |_, tx| {
        let mut account = accounts::all(tx)?.remove(0);
        account.spread = Bps(50);
        accounts::update(tx, &account)?;
        let invoice = invoices::by_id(tx, &of)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    let in_time = observe(&real, NOW, &quote.address, "a", None);
    let late_at = NOW.plus_ms(HOUR_MS);
    tell(&real, late_at.plus_ms(-20 * MINUTE_MS), ["40000", "40000"]);
    let late = observe(&real, late_at, &quote.address, "b", None);
    let (ObservationOwner::Payment(in_time), ObservationOwner::Payment(late)) = (in_time, late)
    else {
        unreachable!("they are no payments");
    };
    assert_eq!(in_time.1.quoted, quote.quoted);
    assert!(!late.1.on_time);
    assert_eq!(shown(&late.1.quoted, late_at), "39800 median 20 50 2");
    assert_eq!(late.1.value.to_string(), "39.80");
    // The stored payments have the same rates.
    let kept = real.read(|db| {
        let invoice = invoices::by_id(db, &id)?.unwrap();
        Ok(payments::of_invoice(db, invoice.seq)?)
    });
    let quoted: Vec<RateQuote> = kept.unwrap().into_iter().map(|one| one.quoted).collect();
    assert_eq!(quoted, [in_time.1.quoted.clone(), late.1.quoted.clone()]);
}
