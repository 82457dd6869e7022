//! Tests of the QR codes on the page that asks for a live payment.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::super::CustomerLanguage;
use super::view::CheckoutView;
use crate::domain::Asset;
use crate::domain::asset::ASSETS;
use crate::domain::payment_uri::payment_uri;
use crate::domain::qr::Qr;
use crate::service::checkout::Checkout;
use crate::service::tests::{NOW, block_on, create_live_invoice, live_caller, seeded_service};
use askama::Template;
use serde_json::Value;

/// Summary of the part of the page with the code of the address alone.
const SUMMARY: &str = "<summary>QR code of the address alone</summary>";

/// Returns the checkout of a live invoice in this coin, on a network that is followed.
#[track_caller]
fn checkout_in(asset: &'static Asset, network: &str, is_simulated: bool) -> Checkout {
    let (service, _file) = seeded_service();
    let (caller, id) = (live_caller(&service), create_live_invoice(&service));
    block_on(service.select_coin(NOW, &caller, &id, asset.id.to_owned())).unwrap();
    let session = service.checkout_session(&caller, &id).unwrap();
    let session: Value = serde_json::from_str(session.get()).unwrap();
    let token = session.get("token").and_then(Value::as_str).unwrap();
    let checkout = service.checkout(NOW, &id, token).unwrap();
    Checkout { is_simulated, network: Some(network.to_owned()), ..checkout }
}

/// Returns the page that asks for the payment.
#[track_caller]
fn payment_page(checkout: &Checkout) -> String {
    let speech = CustomerLanguage::choose(None, "en", "");
    let view = CheckoutView::new(checkout, "token", speech, NOW, false);
    let coin = checkout.invoice.coin.as_ref().unwrap();
    view.page_before_payment(coin).render().unwrap()
}

/// Returns the dark modules of the code that encodes exactly this text, as the page draws them.
#[track_caller]
fn code_of(text: &str) -> String {
    format!("<path d=\"{}\"", Qr::encode(text).unwrap().lines())
}

#[test]
fn every_coin_has_a_qr_code_of_the_address_alone() {
    for asset in &ASSETS {
        let network = asset.chain.row().networks.0;
        let checkout = checkout_in(asset, network, false);
        let page = payment_page(&checkout);
        let coin = checkout.invoice.coin.as_ref().unwrap();
        let (figure, rest) = page.split_once("</figure>").unwrap();
        let alone = code_of(&coin.address);
        match payment_uri(asset, network, &coin.address, coin.amount_expected) {
            Some(uri) => {
                assert!(figure.contains(&code_of(&uri)), "{}: {page}", asset.id);
                let (_, part) = rest.split_once(SUMMARY).unwrap();
                let (part, _) = part.split_once("</details>").unwrap();
                assert!(part.contains(&alone), "{}: {part}", asset.id);
                assert_eq!(part.matches("<svg").count(), 1, "{}", asset.id);
            }
            // The first code contains only the address already.
            None => {
                assert!(figure.contains(&alone), "{}: {page}", asset.id);
                assert!(!page.contains(SUMMARY), "{}: {page}", asset.id);
            }
        }
    }
}

#[test]
fn simulated_address_has_no_qr_code() {
    for asset in &ASSETS {
        let checkout = checkout_in(asset, asset.chain.row().networks.0, true);
        let page = payment_page(&checkout);
        assert!(page.contains(&code_of(&checkout.url)) && !page.contains(SUMMARY), "{}", asset.id);
        let coin = checkout.invoice.coin.as_ref().unwrap();
        assert!(!page.contains(&code_of(&coin.address)), "{}", asset.id);
    }
}
