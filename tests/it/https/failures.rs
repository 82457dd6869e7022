//! Attempts that fail: the authority refuses or is away, and the domain does not lead here.

use super::{Site, now};
use crate::support::Shop;
use crate::support::pebble::{Pebble, Ports};
use crate::support::polling::wait_until;
use crate::support::ports::free_port;
use coffer::Server;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn refused_order_is_not_repeated_by_restarts() {
    let ports = Ports::new();
    // Pebble looks names up where no DNS server listens.
    let more = ["-dnsserver", "127.0.0.1:1"];
    let Some(pebble) = Pebble::start_with(ports, &more, "a refused order") else { return };
    let site = Site::new(&pebble, ports);
    let server = site.start();
    let problem = site.wait_for_problem();
    assert!(problem.contains("certificate authority: API error: "), "{problem}");
    assert!(site.certificate_end().is_none());
    drop(server);
    for _ in 0..3 {
        let server = site.start();
        assert!(server.listen().port() == ports.tls);
        drop(server);
    }
    assert_eq!((pebble.order_count(), site.attempts().count), (1, 1));

    // The wait doubles: a minute after the first failure, then two.
    for (ahead_ms, count) in [(61_000, 2), (122_000, 2), (182_000, 3)] {
        let server = site.start_later(ahead_ms);
        let made =
            wait_until(|| site.attempts().count == count || pebble.order_count() > count as usize);
        assert!(made);
        assert!(wait_until(|| pebble.order_count() == count as usize));
        drop(server);
    }
    assert_eq!(pebble.order_count(), 3);
}

#[test]
fn authority_that_never_answers_does_not_delay_the_stop_and_counts_once() {
    let ports = Ports::new();
    let pebble = Pebble::stopped(ports);
    let silent = TcpListener::bind(("127.0.0.1", ports.directory)).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    std::thread::spawn(move || {
        // The connections stay open until the test ends.
        let mut kept = Vec::new();
        for stream in silent.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            kept.push(stream);
        }
    });
    let site = Site::new(&pebble, ports);
    let server = site.start();
    assert!(wait_until(|| calls.load(Ordering::SeqCst) == 1));
    let begun = now();
    drop(server);
    assert!(now().since_ms(begun) < 5_000, "the stop waited for the authority");
    // The attempt was cut off, and still counts.
    let attempts = site.attempts();
    assert_eq!((attempts.count, attempts.problem), (1, None));
    for _ in 0..3 {
        drop(site.start());
    }
    assert_eq!((site.attempts().count, calls.load(Ordering::SeqCst)), (1, 1));
}

#[test]
fn account_that_the_authority_lost_is_created_again() {
    let Some((mut site, pebble)) = Site::with_pebble("a lost account") else { return };
    site.settings.retry_ms_min = 50;
    drop((site.start(), site.wait_for_certificate()));
    drop(pebble);
    let mut pebble = Pebble::stopped(site.ports);
    pebble.launch(&[]);
    // The settings trust the root of the new authority, and name the same directory.
    site.settings.directory_roots = Some(std::fs::read(pebble.ca_file()).unwrap());
    let folder = coffer::acme::folder_path(&site.file());
    std::fs::remove_file(folder.join("certificate.json")).unwrap();
    let _server = site.start();
    site.wait_for_certificate();
}

#[test]
fn domain_that_does_not_lead_here_costs_no_order() {
    let ports = Ports::new();
    let Some(pebble) = Pebble::start(ports, "checks of the domain") else { return };
    let elsewhere = Shop::open();
    let elsewhere: u16 = elsewhere.url().rsplit(':').next().unwrap().parse().unwrap();
    let shop = Shop::open();
    let occupied: u16 = shop.url().rsplit(':').next().unwrap().parse().unwrap();
    assert_ne!(elsewhere, occupied);
    for (domain, port, expected) in [
        ("nowhere.invalid", ports.tls, "nowhere.invalid has no address in DNS ("),
        ("localhost", free_port(), "the connection is refused: open the port"),
        ("localhost", occupied, "another server answers ("),
    ] {
        let mut site = Site::new(&pebble, ports);
        (site.settings.domain, site.settings.https_port) = (domain.to_owned(), port);
        site.settings.retry_ms_min = 50;
        let server = site.start();
        let problem = site.wait_for_problem();
        assert!(problem.contains(expected), "{problem}");
        drop(server);
        assert_eq!(site.attempts().count, 0);
    }
    assert_eq!(pebble.order_count(), 0);
}

#[test]
fn certificate_of_another_domain_or_authority_is_not_used() {
    let Some((site, _pebble)) = Site::with_pebble("a change of the domain") else { return };
    drop((site.start(), site.wait_for_certificate()));
    let mut other = site.config();
    if let Some(settings) = &mut other.acme {
        settings.domain = "nowhere.invalid".to_owned();
    }
    let _server = Server::start(other).unwrap();
    site.connect_tls("localhost", &[]).unwrap_err();
    site.connect_tls("nowhere.invalid", &[]).unwrap_err();
}

#[test]
fn unreadable_state_ends_the_start_with_its_file() {
    let ports = Ports::new();
    let site = Site::new(&Pebble::stopped(ports), ports);
    let folder = coffer::acme::folder_path(&site.file());
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("attempts.json"), "{}").unwrap();
    let error = Server::start(site.config()).err().unwrap().to_string();
    assert!(error.ends_with("attempts.json: not readable at line 1"), "{error}");
}
