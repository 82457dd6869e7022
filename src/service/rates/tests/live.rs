//! Tests of rates in live mode. Deposits and late payments have the rate of their time, less the account's spread,
//! with its source and age. Live mode never uses the table of fixed rates.

use crate::domain::time::{HOUR_MS, MINUTE_MS};
use crate::domain::{
    Asset, Block, Bps, CoinFigure, Currency, FigureSource, Mode, Observation, ObservationOwner,
    RateFigure, RateQuote, RateSource, Time, Units,
};
use crate::service::observations::record_observation;
use crate::service::pools::claim_address;
use crate::service::rates::NoRate;
use crate::service::tests::{
    NOW, bitcoin, block_on, create_live_invoice, live_caller, live_service, seeded_service, write,
};
use crate::service::{Service, Step};
use crate::store::addresses::AddressOwner;
use crate::store::{accounts, customers, invoices, payments, quotes};
use serde_json::Value;
use std::sync::Arc;

/// Stores rates of bitcoin in EUR from two public sources.
fn store_rates(service: &Arc<Service>, at: Time, rates: [&str; 2]) {
    for (source, rate) in PUBLIC.into_iter().zip(rates) {
        store_rate(service, at, source, rate);
    }
}

const PUBLIC: [FigureSource; 2] = [FigureSource::Kraken, FigureSource::Coinbase];

/// Stores a rate of bitcoin in EUR from one source.
fn store_rate(service: &Arc<Service>, at: Time, source: FigureSource, rate: &str) {
    let figure = RateFigure { source, rate: rate.parse().unwrap(), via: "BTC/EUR".to_owned(), at };
    let told = CoinFigure { coin: "BTC", currency: Currency::Eur, figure };
    block_on(service.store_figures(at, source, at, vec![told])).unwrap();
}

#[track_caller]
fn observe_bitcoin(
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
        block: height.map(|height| Block { height, hash: format!("hash{height}") }),
        spends: Vec::new(),
    };
    let outcome = write(service, now, move |step| record_observation(step, &seen, None));
    outcome.unwrap().owned
}

/// Returns the rate, source, age in minutes, spread and number of source prices as one text.
fn describe_quote(quoted: &RateQuote, now: Time) -> String {
    let figures: Value = serde_json::from_str(quoted.evidence.as_str()).unwrap();
    let age = now.since_ms(quoted.at) / MINUTE_MS;
    let figures = figures.as_array().unwrap().len();
    format!("{} {} {age} {} {figures}", quoted.rate, quoted.source, quoted.spread.0)
}

#[test]
fn live_rate_needs_two_agreeing_sources() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let ask = |now: Time, asset: &'static Asset| {
        let both = |service: &Arc<Service>| {
            service.read(|db| {
                let rate = service.fresh_rate(db, Mode::Live, asset, Currency::Eur, now)?;
                let newest = service.newest_rate(db, Mode::Live, asset, Currency::Eur, now)?;
                Ok((rate, newest))
            })
        };
        both(&real).unwrap()
    };
    assert_eq!(ask(NOW, bitcoin()), (Err(NoRate), Err(NoRate)));
    store_rates(&real, NOW, ["50000", "50100"]);
    let (rate, newest) = ask(NOW, bitcoin());
    assert_eq!(describe_quote(&rate.clone().unwrap(), NOW), "50050 median 0 0 2");
    assert_eq!(rate, newest);
    // The newest known rate is the last one on which sources agreed.
    let later = NOW.plus_ms(MINUTE_MS);
    store_rates(&real, later, ["50000", "60000"]);
    let (rate, newest) = ask(later, bitcoin());
    assert_eq!(rate, Err(NoRate));
    assert_eq!(describe_quote(&newest.unwrap(), later), "50050 median 1 0 2");
    let much_later = NOW.plus_ms(HOUR_MS);
    assert_eq!(
        describe_quote(&ask(much_later, bitcoin()).1.unwrap(), much_later),
        "50050 median 60 0 2"
    );
    // Simulated modes still use the table of fixed rates.
    let test = real.read(|db| real.fresh_rate(db, Mode::Test, bitcoin(), Currency::Eur, NOW));
    assert_eq!(test.unwrap().unwrap().source, RateSource::Fixed);
    let sandbox =
        simulated.read(|db| simulated.fresh_rate(db, Mode::Live, bitcoin(), Currency::Eur, NOW));
    assert_eq!(sandbox.unwrap().unwrap().source, RateSource::Fixed);
}

#[test]
fn file_rates_end_when_the_file_is_no_longer_configured() {
    let (_simulated, file) = seeded_service();
    let real = live_service(&file);
    let only =
        |sources: &[FigureSource]| block_on(real.delete_sources_except(sources.to_vec())).unwrap();
    let newest = |now: Time| {
        let newest =
            real.read(|db| real.newest_rate(db, Mode::Live, bitcoin(), Currency::Eur, now));
        newest.unwrap().map(|quoted| describe_quote(&quoted, now))
    };
    let known = |rate: &str| Ok(rate.to_owned());
    let later = NOW.plus_ms(HOUR_MS);
    // After the file is gone, no rate is known, because no other source ever provided one.
    only(&[FigureSource::File]);
    store_rate(&real, NOW, FigureSource::File, "1");
    assert_eq!(newest(NOW), known("1 file 0 0 1"));
    assert_eq!(newest(later), known("1 file 60 0 1"));
    only(&PUBLIC);
    assert_eq!(newest(NOW), Err(NoRate));
    // An earlier rate from public sources remains known.
    store_rates(&real, NOW, ["50000", "50100"]);
    only(&[FigureSource::File]);
    assert_eq!(newest(later), known("50050 median 60 0 2"));
    store_rate(&real, later, FigureSource::File, "1");
    assert_eq!(newest(later), known("1 file 0 0 1"));
    only(&PUBLIC);
    assert_eq!(newest(later), known("50050 median 60 0 2"));
    store_rate(&real, later, FigureSource::Kraken, "60000");
    assert_eq!(newest(later), known("50050 median 60 0 2"));
}

#[test]
fn deposit_is_booked_at_the_rate_in_its_block_less_spread() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let address = write(&simulated, NOW, |step| {
        let Step { tx, .. } = *step;
        let mut account = accounts::all(tx)?.remove(0);
        account.spread = Bps(100);
        accounts::update(tx, &account)?;
        let customer = customers::insert(tx, account.seq, Mode::Live, "ada", NOW)?;
        let (owner, chain) = (AddressOwner::Customer(customer.seq), bitcoin().chain);
        let address = claim_address(step, account.seq, Mode::Live, chain, owner)?;
        Ok(address.unwrap())
    });
    store_rates(&real, NOW, ["50000", "50000"]);
    let ObservationOwner::Deposit(seen) = observe_bitcoin(&real, NOW, &address, "a", None) else {
        unreachable!("it is no deposit");
    };
    assert_eq!(describe_quote(&seen.quoted, NOW), "49500 median 0 100 2");
    assert_eq!(seen.gross.to_string(), "49.50");
    let in_block = NOW.plus_ms(10 * MINUTE_MS);
    store_rates(&real, in_block, ["60000", "60200"]);
    let ObservationOwner::Deposit(fixed) = observe_bitcoin(&real, in_block, &address, "a", Some(7))
    else {
        unreachable!("it is no deposit");
    };
    assert_eq!(describe_quote(&fixed.quoted, in_block), "59499 median 0 100 2");
    assert_eq!(fixed.gross.to_string(), "59.50");
    // Without a fresh rate, the deposit is priced at the newest known one.
    let later = NOW.plus_ms(HOUR_MS);
    let ObservationOwner::Deposit(late) = observe_bitcoin(&real, later, &address, "b", Some(8))
    else {
        unreachable!("it is no deposit");
    };
    assert_eq!(describe_quote(&late.quoted, later), "59499 median 50 100 2");
}

#[test]
fn late_payment_uses_the_newest_rate_less_spread() {
    let (simulated, file) = seeded_service();
    let real = live_service(&file);
    let id = create_live_invoice(&simulated);
    block_on(simulated.select_coin(NOW, &live_caller(&simulated), &id, "BTC".to_owned())).unwrap();
    let of = id.clone();
    let quote = write(&simulated, NOW, move |step| {
        let Step { tx, .. } = *step;
        let mut account = accounts::all(tx)?.remove(0);
        account.spread = Bps(50);
        accounts::update(tx, &account)?;
        let invoice = invoices::by_id(tx, &of)?.unwrap();
        Ok(quotes::of_invoice(tx, invoice.seq)?.remove(0))
    });
    let in_time = observe_bitcoin(&real, NOW, &quote.address, "a", None);
    let late_at = NOW.plus_ms(HOUR_MS);
    store_rates(&real, late_at.plus_ms(-20 * MINUTE_MS), ["40000", "40000"]);
    let late = observe_bitcoin(&real, late_at, &quote.address, "b", None);
    let (ObservationOwner::Payment(in_time), ObservationOwner::Payment(late)) = (in_time, late)
    else {
        unreachable!("they are no payments");
    };
    assert_eq!(in_time.1.quoted, quote.quoted);
    assert!(!late.1.on_time);
    assert_eq!(describe_quote(&late.1.quoted, late_at), "39800 median 20 50 2");
    assert_eq!(late.1.value.to_string(), "39.80");
    // The payments that are read back from the file have the rates that they were stored with.
    let kept = real.read(|db| {
        let invoice = invoices::by_id(db, &id)?.unwrap();
        Ok(payments::of_invoice(db, invoice.seq)?)
    });
    let quoted: Vec<RateQuote> = kept.unwrap().into_iter().map(|one| one.quoted).collect();
    assert_eq!(quoted, [in_time.1.quoted.clone(), late.1.quoted.clone()]);
}
